#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <memory>
#include <string>
#include <thread>

#include "airlock/error.hpp"
#include "airlock/store.hpp"
#include "store/backend.hpp"
#include "store/redis/support/server.hpp"
#include "store/sleeper.hpp"
#include "store/support/temp_dir.hpp"

// A server that speaks TLS: who is believed, and what is said otherwise.

namespace airlock {
namespace {

using ::testing::HasSubstr;
using testing::RedisServer;

int free_port() {
  const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in name{};
  name.sin_family = AF_INET;
  name.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof(name);
  // NOLINTBEGIN(cppcoreguidelines-pro-type-reinterpret-cast): how sockets take addresses
  (void)bind(fd, reinterpret_cast<const sockaddr*>(&name), size);
  (void)getsockname(fd, reinterpret_cast<sockaddr*>(&name), &size);
  // NOLINTEND(cppcoreguidelines-pro-type-reinterpret-cast)
  close(fd);
  return ntohs(name.sin_port);
}

// Authorities and certificates of this program, made by openssl in a folder of their own.
class Certificates {
 public:
  Certificates() {
    make_authority("ca");
    make_authority("other");
    issue("server", "ca", "-days 2");
    issue("elsewhere", "ca", "-days 2", "elsewhere.example");
    issue("client", "ca", "-days 2");
    issue("expired", "ca", "-not_before 20200101000000Z -not_after 20200102000000Z");
  }

  [[nodiscard]] std::string cert(const std::string& name) const {
    return folder_ + "/" + name + ".pem";
  }
  [[nodiscard]] std::string key(const std::string& name) const {
    return folder_ + "/" + name + ".key";
  }

 private:
  static void run(const std::string& command) {
    // NOLINTNEXTLINE(concurrency-mt-unsafe,cert-env33-c): a test's own words
    if (std::system((command + " >/dev/null 2>&1").c_str()) != 0) {
      throw std::runtime_error("failed: " + command);
    }
  }

  void make_authority(const std::string& name) const {
    run("openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj /CN=" +
        name + " -keyout " + key(name) + " -out " + cert(name));
  }

  void issue(const std::string& name, const std::string& authority, const std::string& dates,
             const std::string& host = "localhost") const {
    const std::string request = folder_ + "/" + name + ".csr";
    const std::string config = folder_ + "/" + name + ".cnf";
    std::ofstream(config) << "[ca]\ndefault_ca = d\n[d]\nnew_certs_dir = " << folder_
                          << "\ndatabase = " << folder_ << "/index\nserial = " << folder_
                          << "/serial\npolicy = p\ndefault_md = sha256\nx509_extensions = x\n"
                          << "unique_subject = no\n[p]\ncommonName = supplied\n[x]\n"
                          << "subjectAltName = DNS:" << host << "\n";
    const std::ofstream index(folder_ + "/index");
    run("openssl req -new -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj /CN=" + name +
        " -keyout " + key(name) + " -out " + request);
    std::string flags = dates;
    if (flags.starts_with("-not")) {
      flags.replace(flags.find("-not_before"), 11, "-startdate");
      flags.replace(flags.find("-not_after"), 10, "-enddate");
    }
    run("openssl ca -batch -notext -rand_serial -config " + config + " -cert " + cert(authority) +
        " -keyfile " + key(authority) + " -in " + request + " -out " + cert(name) + " " + flags);
  }

  const TempDir dir_;
  const std::string folder_ = dir_.path();
};

class RedisTls : public ::testing::Test {
 protected:
  static const Certificates& certificates() {
    static const Certificates kMade;
    return kMade;
  }

  // A server that shows the certificate of that name.
  void serve(const std::string& name, bool asks_for_client = false) {
    port_ = free_port();
    server_ = std::make_unique<RedisServer>(std::vector<std::string>{
        "--tls-port", std::to_string(port_), "--tls-cert-file", certificates().cert(name),
        "--tls-key-file", certificates().key(name), "--tls-ca-cert-file", certificates().cert("ca"),
        "--tls-auth-clients", asks_for_client ? "yes" : "no"});
  }

  [[nodiscard]] std::string uri(const std::string& host, const std::string& options) const {
    return "rediss://" + host + ":" + std::to_string(port_) + options;
  }

  // What is said to who opens it so; empty: it works.
  static std::string failure_of(const std::string& uri) {
    try {
      (void)open_store(uri).look("gate");
      return {};
    } catch (const StoreError& error) {
      EXPECT_EQ(error.outcome(), StoreError::Outcome::nothing_happened);
      return error.what();
    }
  }

  int port_ = 0;
  std::unique_ptr<RedisServer> server_;
};

TEST_F(RedisTls, IsSpokenToAServerWhoseAuthorityIsKnown) {
  serve("server");
  const auto store = open_store(uri("localhost", "?ca=" + certificates().cert("ca")));
  for (int i = 0; i < 100; ++i) {
    const Answer answer = store.admit(
        {.gate = "gate", .visitor = VisitorId::random(), .permits = Permits{.limit = 1}});
    ASSERT_TRUE(store.release(std::get<Granted>(answer).token));
  }
  const std::string label(64, 'x');
  for (int i = 0; i < 200; ++i) {  // More than one record of TLS.
    (void)store.admit({.gate = "full",
                       .visitor = VisitorId::random(),
                       .label = label,
                       .permits = Permits{.limit = 200}});
  }
  EXPECT_EQ(store.look("full")->holders.size(), 200U);
}

TEST_F(RedisTls, CarriesTheNewsForWhoWaits) {
  serve("server");
  const auto store = open_store(uri("localhost", "?ca=" + certificates().cert("ca")));
  Request asks{.gate = "gate", .visitor = VisitorId::random(), .permits = Permits{.limit = 1}};
  const auto sleeper = std::make_shared<Sleeper>();
  for (int i = 0; i < 20; ++i) {
    asks.visitor = VisitorId::random();
    asks.line.join = false;
    const Answer inside = store.admit(asks);
    asks.visitor = VisitorId::random();
    asks.line.join = true;
    ASSERT_TRUE(std::holds_alternative<Queued>(store.admit(asks)));
    const std::jthread releases([&] {
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
      EXPECT_TRUE(store.release(std::get<Granted>(inside).token));
    });
    const Instant deadline = internal::backend_of(store)->clock().now() + std::chrono::seconds(10);
    ASSERT_TRUE(internal::backend_of(store)->await("gate", asks.visitor, sleeper, deadline));
    const Answer claimed = store.admit(asks);
    ASSERT_TRUE(store.release(std::get<Granted>(claimed).token));
  }
}

TEST_F(RedisTls, IsRefusedToAnUnknownAuthority) {
  serve("server");
  EXPECT_THAT(failure_of(uri("localhost", "?ca=" + certificates().cert("other"))),
              HasSubstr("self-signed certificate"));
  // The system's authorities are many to read, under a sanitizer.
  EXPECT_THAT(failure_of(uri("localhost", "?timeout=10s")), HasSubstr("certificate"));
}

TEST_F(RedisTls, IsRefusedToAnotherHost) {
  serve("server");
  EXPECT_THAT(failure_of(uri("127.0.0.1", "?ca=" + certificates().cert("ca"))),
              HasSubstr("IP address mismatch"));
  serve("elsewhere");
  EXPECT_THAT(failure_of(uri("localhost", "?ca=" + certificates().cert("ca"))),
              HasSubstr("hostname mismatch"));
}

TEST_F(RedisTls, IsRefusedToACertificateThatHasExpired) {
  serve("expired");
  EXPECT_THAT(failure_of(uri("localhost", "?ca=" + certificates().cert("ca"))),
              HasSubstr("certificate has expired"));
}

TEST_F(RedisTls, ShowsAClientsCertificateWhereItIsAskedFor) {
  serve("server", true);
  const std::string ca = "?ca=" + certificates().cert("ca");
  EXPECT_NE(failure_of(uri("localhost", ca)), "");
  EXPECT_EQ(failure_of(uri("localhost", ca + "&cert=" + certificates().cert("client") +
                                            "&key=" + certificates().key("client"))),
            "");
}

TEST_F(RedisTls, NamesAFileThatCannotBeRead) {
  EXPECT_THAT(failure_of(uri("localhost", "?ca=/nowhere.pem")), HasSubstr("/nowhere.pem"));
}

TEST_F(RedisTls, IsNotSpokenByAServerWithoutIt) {
  RedisServer plain({"--port", std::to_string(port_ = free_port())});
  EXPECT_NE(failure_of(uri("127.0.0.1", "?ca=" + certificates().cert("ca"))), "");
  EXPECT_FALSE(open_store("redis://127.0.0.1:" + std::to_string(port_)).look("gate").has_value());
  EXPECT_FALSE(open_store("redis://localhost:" + std::to_string(port_)).look("gate").has_value());
}

}  // namespace
}  // namespace airlock
