#include <arpa/inet.h>
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <chrono>
#include <cstring>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "airlock/error.hpp"
#include "airlock/store.hpp"
#include "store/redis/dial.hpp"
#include "store/redis/redis_store.hpp"
#include "store/redis/socket.hpp"
#include "store/redis/support/server.hpp"
#include "store/support/asker.hpp"
#include "store/support/child.hpp"
#include "store/support/failures.hpp"
#include "store/support/temp_dir.hpp"

// Opening connections, and what is looked at when they are opened.

namespace airlock::redis {
namespace {

using namespace std::chrono_literals;
using airlock::testing::asks;
using airlock::testing::failure_of;
using airlock::testing::FreePort;
using airlock::testing::RedisServer;
using airlock::testing::since;
using airlock::testing::TimePoint;
using airlock::testing::unused_prefix;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using Kind = StoreError::Kind;

// --- descriptors in forked children ---

// Somebody who accepts connections and says nothing.
class Listener {
 public:
  explicit Listener(const TempDir& dir) : address_{.path = dir.path() + "/listener"} {
    sockaddr_un name{};
    name.sun_family = AF_UNIX;
    address_.path.copy(name.sun_path, sizeof(name.sun_path) - 1);
    fd_ = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    EXPECT_EQ(bind(fd_, reinterpret_cast<const sockaddr*>(&name), sizeof(name)), 0);
    EXPECT_EQ(listen(fd_, 16), 0);
  }
  Listener(const Listener&) = delete;
  Listener& operator=(const Listener&) = delete;
  ~Listener() {
    for (const int fd : accepted_) close(fd);
    close(fd_);
  }

  std::unique_ptr<Socket> connected() {
    auto socket = std::make_unique<Socket>(address_, Deadline(Duration(5s)));
    accepted_.push_back(accept4(fd_, nullptr, nullptr, SOCK_CLOEXEC));
    return socket;
  }

 private:
  Address address_;
  int fd_ = -1;
  std::vector<int> accepted_;
};

// 0: it is closed.
ino_t inode_of(int fd) {
  struct stat status {};
  return fstat(fd, &status) == 0 ? status.st_ino : 0;
}

class ForkedChild : public ::testing::Test {
 protected:
  void connect(std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) sockets_.push_back(listener_.connected());
  }

  const TempDir dir_;
  Listener listener_{dir_};
  std::vector<std::unique_ptr<Socket>> sockets_;
};

TEST_F(ForkedChild, ClosesItsCopiesOfAnyNumberOfConnections) {
  connect(1'500);
  std::vector<ino_t> inodes;
  for (const auto& socket : sockets_) inodes.push_back(inode_of(socket->fd()));
  const auto open = [&] {
    int count = 0;
    for (std::size_t i = 0; i < inodes.size(); ++i) {
      count += inode_of(sockets_[i]->fd()) == inodes[i] ? 1 : 0;
    }
    return count;
  };
  SharedValue<std::atomic<int>> in_child;
  Child child([&] {
    const auto own = listener_.connected();
    *in_child = open();
  });
  EXPECT_TRUE(child.wait());
  EXPECT_EQ(*in_child, 0);
  EXPECT_EQ(open(), 1'500);
}

// As a daemon does: it closes everything, and what it opens gets the same numbers.
TEST_F(ForkedChild, LeavesAloneWhatItHasOpenedInTheirPlace) {
  connect(10);
  SharedValue<std::atomic<int>> closed;
  Child child([&] {
    for (const auto& socket : sockets_) {
      ::close(socket->fd());
      EXPECT_EQ(open("/dev/null", O_RDONLY | O_CLOEXEC), socket->fd());
    }
    const auto own = listener_.connected();
    for (const auto& socket : sockets_) *closed += inode_of(socket->fd()) == 0 ? 1 : 0;
  });
  EXPECT_TRUE(child.wait());
  EXPECT_EQ(*closed, 0);
}

// The child never uses the store, and lives on.
TEST_F(ForkedChild, DoesNotKeepAConnectionThatItsParentEnds) {
  int ends[2];
  ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
  RedisServer server;
  auto store = make_store({.address = server.address()});
  (void)store.admit(asks("gate", VisitorId::random()));
  Child child([&] {
    char byte = 0;
    (void)!read(ends[1], &byte, 1);
  });
  store = {};
  airlock::testing::wait_until("the server sees it end", [&] {
    return airlock::testing::value_of("connected_clients", server.command({"INFO", "clients"})) ==
           "1";
  });
  EXPECT_EQ(write(ends[0], "x", 1), 1);
  EXPECT_TRUE(child.wait());
  close(ends[0]);
  close(ends[1]);
}

// --- several addresses ---

Endpoint endpoint(const char* host, std::uint16_t port) {
  sockaddr_in name{};
  name.sin_family = AF_INET;
  name.sin_port = htons(port);
  inet_pton(AF_INET, host, &name.sin_addr);
  Endpoint endpoint;
  std::memcpy(&endpoint.address, &name, sizeof(name));
  endpoint.size = sizeof(name);
  return endpoint;
}

class Listening {
 public:
  Listening(const char* host, std::uint16_t port, int backlog) {
    const Endpoint at = endpoint(host, port);
    const int yes = 1;
    setsockopt(fd_, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes));
    EXPECT_EQ(bind(fd_, reinterpret_cast<const sockaddr*>(&at.address), at.size), 0);
    EXPECT_EQ(listen(fd_, backlog), 0);
  }
  Listening(const Listening&) = delete;
  Listening& operator=(const Listening&) = delete;
  ~Listening() { close(fd_); }

 private:
  const int fd_ = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
};

// Nothing is heard from an address whose queue of connections is full: the kernel drops what comes.
class BlackHole {
 public:
  BlackHole(const char* host, std::uint16_t port) : listening_(host, port, 0) {
    const Endpoint at = endpoint(host, port);
    for (int& fd : fillers_) {
      fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
      (void)connect(fd, reinterpret_cast<const sockaddr*>(&at.address), at.size);
    }
  }
  BlackHole(const BlackHole&) = delete;
  BlackHole& operator=(const BlackHole&) = delete;
  ~BlackHole() {
    for (const int fd : fillers_) close(fd);
  }

 private:
  Listening listening_;
  int fillers_[4];
};

TEST(Dialling, TriesTheNextAddressWhereOneSaysNothing) {
  const FreePort port;
  const BlackHole silent("127.0.0.2", port.number());
  const Listening there("127.0.0.1", port.number(), 16);
  const TimePoint start = std::chrono::steady_clock::now();
  const SocketDescriptor socket =
      dial_any({endpoint("127.0.0.2", port.number()), endpoint("127.0.0.1", port.number())}, "name",
               Deadline(Duration(10s)));
  EXPECT_GE(socket.get(), 3);
  EXPECT_LT(since(start), 5s);
}

TEST(Dialling, TriesTheNextAddressAtOnceWhereOneRefuses) {
  const FreePort port;
  const Listening there("127.0.0.1", port.number(), 16);
  const std::vector<Endpoint> endpoints = {endpoint("127.0.0.2", port.number()),
                                           endpoint("127.0.0.3", port.number()),
                                           endpoint("127.0.0.1", port.number())};
  EXPECT_GE(dial_any(endpoints, "name", Deadline(Duration(10s))).get(), 3);
}

TEST(Dialling, EndsWithItsDeadlineAndNamesWhatItTried) {
  const FreePort port;
  const BlackHole silent("127.0.0.2", port.number());
  const BlackHole other("127.0.0.3", port.number());
  const testing::Stopwatch watch;
  const auto failure = failure_of([&] {
    (void)dial_any({endpoint("127.0.0.2", port.number()), endpoint("127.0.0.3", port.number())},
                   "example.org:6379", Deadline(Duration(200ms)));
  });
  ASSERT_TRUE(failure);
  EXPECT_GE(since(watch.start()), 199ms);
  EXPECT_LT(watch.own(), 400ms);
  EXPECT_EQ(failure->kind(), Kind::unavailable);
  EXPECT_THAT(failure->what(), HasSubstr("example.org:6379"));
}

// --- what a server says to one who connects ---

Store store_at(const Address& address) {
  return make_store({.address = address, .prefix = unused_prefix()});
}

TEST(Connecting, AServerWithoutRoomForAnotherClientHasNoRoom) {
  const FreePort port;
  RedisServer server({"--maxclients", "1", "--port", port.text(), "--bind", "127.0.0.1"});
  const auto first = store_at(server.address());
  (void)first.admit(asks("gate", VisitorId::random()));
  for (const Address& address :
       {server.address(), Address{.host = "127.0.0.1", .port = port.number()}}) {
    for (int i = 0; i < 20; ++i) {
      const auto failure =
          failure_of([&] { (void)store_at(address).admit(asks("gate", VisitorId::random())); });
      ASSERT_TRUE(failure);
      ASSERT_EQ(failure->kind(), Kind::no_room) << failure->what();
      ASSERT_THAT(failure->what(), AllOf(HasSubstr(address.text()), HasSubstr("maxclients")));
    }
  }
}

TEST(Connecting, AServerThatIsToldToEvictIsNoticedWhileItIsUsed) {
  RedisServer server({"--maxmemory", "100mb"});
  Address address = server.address();
  address.eviction_check = Duration(0);
  const auto store = store_at(address);
  const Token token = std::get<Granted>(store.admit(asks("gate", VisitorId::random()))).token;
  server.command({"CONFIG", "SET", "maxmemory-policy", "allkeys-lru"});
  EXPECT_EQ(store.renew(token, 30s), Renewal::renewed) << "the call that finds out";
  const auto failure = failure_of([&] { (void)store.admit(asks("other", VisitorId::random())); });
  ASSERT_TRUE(failure);
  EXPECT_EQ(failure->kind(), Kind::incompatible);
  EXPECT_THAT(failure->what(), AllOf(HasSubstr("allkeys-lru"), HasSubstr("allow_eviction=1")));
  server.command({"CONFIG", "SET", "maxmemory-policy", "noeviction"});
  EXPECT_TRUE(store.release(token));
}

TEST(Connecting, APasswordFileIsReadAgainWhenThePasswordIsRefused) {
  RedisServer server;
  server.command({"ACL", "SETUSER", "ann", "on", ">first", "~*", "&*", "+@all"});
  const TempDir dir;
  const std::string file = dir.path() + "/password";
  const auto write = [&](const char* password) { std::ofstream(file) << password << "\n"; };
  write("first");
  const auto store = open_store(server.uri() + "?user=ann&password_file=" + file);
  (void)store.admit(asks("gate", VisitorId::random()));
  const auto change = [&](const char* password) {
    server.command({"ACL", "SETUSER", "ann", "resetpass", std::string(">") + password});
    server.command({"CLIENT", "KILL", "USER", "ann"});
  };
  change("second");
  const auto failure = failure_of([&] { (void)store.admit(asks("a", VisitorId::random())); });
  ASSERT_TRUE(failure);
  EXPECT_EQ(failure->kind(), Kind::incompatible);
  EXPECT_THAT(failure->what(), AllOf(HasSubstr("password"), Not(HasSubstr("first"))));
  write("second");
  (void)store.admit(asks("b", VisitorId::random()));
  // The one that is refused is not tried again first.
  const auto refused = [&] {
    return airlock::testing::lines_of(server.command({"ACL", "LOG"})).size();
  };
  const auto before = refused();
  server.command({"CLIENT", "KILL", "USER", "ann"});
  (void)store.admit(asks("c", VisitorId::random()));
  EXPECT_EQ(refused(), before);
  // A file that is being written is no reason to forget what is known.
  write("");
  server.command({"CLIENT", "KILL", "USER", "ann"});
  (void)store.admit(asks("d", VisitorId::random()));
}

TEST(Connecting, SaysWhichServerAndWhatToDo) {
  RedisServer server;
  const auto message_of = [](const Address& address) {
    return std::string(failure_of([&] {
                         (void)store_at(address).admit(asks("gate", VisitorId::random()));
                       })->what());
  };
  Address wrong = server.address();
  wrong.password = "s3cret";
  EXPECT_THAT(message_of(wrong), AllOf(HasSubstr(server.socket()), HasSubstr("leave it out"),
                                       Not(HasSubstr("s3cret"))));
  server.command({"ACL", "SETUSER", "ann", "on", ">right", "~*", "&*", "+@all"});
  wrong.user = "ann";
  EXPECT_THAT(message_of(wrong),
              AllOf(HasSubstr(server.socket()), HasSubstr("wrong user"), Not(HasSubstr("s3cret"))));
  const FreePort nobody;
  const Address nowhere{.host = "127.0.0.1", .port = nobody.number()};
  EXPECT_EQ(message_of(nowhere),
            "redis: no connection to 127.0.0.1:" + nobody.text() + ": Connection refused");
}

TEST(Connecting, NeverShowsWhatAServerRepeats) {
  RedisServer server({"--rename-command", "AUTH", ""});
  Address address = server.address();
  address.password = "s3cret";
  const auto failure =
      failure_of([&] { (void)store_at(address).admit(asks("gate", VisitorId::random())); });
  ASSERT_TRUE(failure);
  EXPECT_THAT(failure->what(), AllOf(HasSubstr("unknown command"), Not(HasSubstr("s3cret"))));
}

}  // namespace
}  // namespace airlock::redis
