#include <fcntl.h>
#include <semaphore.h>
#include <sys/file.h>
#include <sys/sem.h>
#include <unistd.h>

#include <cerrno>
#include <semaphore>
#include <system_error>

#include "contestants.hpp"

namespace airlock::bench {
namespace {

void check(int result) {
  if (result < 0) throw std::system_error(errno, std::generic_category());
}

class CountedClient : public Client {
 public:
  [[nodiscard]] std::int64_t calls() const final { return calls_; }

 protected:
  void count() noexcept { ++calls_; }

 private:
  std::int64_t calls_ = 0;
};

using Semaphore = std::counting_semaphore<>;

class StandardClient final : public CountedClient {
 public:
  explicit StandardClient(std::shared_ptr<Semaphore> semaphore)
      : semaphore_(std::move(semaphore)) {}
  void enter() override {
    semaphore_->acquire();
    count();
  }
  void leave() override {
    semaphore_->release();
    count();
  }

 private:
  std::shared_ptr<Semaphore> semaphore_;
};

class PosixClient final : public CountedClient {
 public:
  explicit PosixClient(sem_t* semaphore) : semaphore_(semaphore) {}
  void enter() override {
    check(sem_wait(semaphore_));
    count();
  }
  void leave() override {
    check(sem_post(semaphore_));
    count();
  }

 private:
  sem_t* semaphore_;
};

class SysvClient final : public CountedClient {
 public:
  explicit SysvClient(int id) : id_(id) {}
  void enter() override { change(-1); }
  void leave() override { change(1); }

 private:
  void change(short by) {
    sembuf operation{0, by, SEM_UNDO};
    check(semop(id_, &operation, 1));
    count();
  }

  int id_;
};

class FlockClient final : public CountedClient {
 public:
  explicit FlockClient(const std::string& path)
      : fd_(open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600)) {
    check(fd_);
  }
  ~FlockClient() override { close(fd_); }
  void enter() override {
    check(flock(fd_, LOCK_EX));
    count();
  }
  void leave() override {
    check(flock(fd_, LOCK_UN));
    count();
  }

 private:
  int fd_;
};

}  // namespace

MakeClient standard_clients(const Plan& plan) {
  auto semaphore = std::make_shared<Semaphore>(plan.slots);
  return [semaphore](int) { return std::make_unique<StandardClient>(semaphore); };
}

MakeClient posix_clients(const Plan& plan) {
  const std::string name = "/airlock-crowd-" + std::to_string(getpid());
  sem_t* const semaphore =
      sem_open(name.c_str(), O_CREAT | O_EXCL, 0600, static_cast<unsigned>(plan.slots));
  if (semaphore == SEM_FAILED) check(-1);
  sem_unlink(name.c_str());
  return [semaphore](int) { return std::make_unique<PosixClient>(semaphore); };
}

MakeClient sysv_clients(const Plan& plan) {
  const auto remove = [](int* id) {
    semctl(*id, 0, IPC_RMID);
    delete id;
  };
  const std::shared_ptr<int> id(new int(semget(IPC_PRIVATE, 1, 0600)), remove);
  check(*id);
  check(semctl(*id, 0, SETVAL, plan.slots));
  return [id](int) { return std::make_unique<SysvClient>(*id); };
}

MakeClient flock_clients(const Plan& plan) {
  return [plan](int number) {
    return std::make_unique<FlockClient>(plan.at + "/slot" + std::to_string(number % plan.slots));
  };
}

}  // namespace airlock::bench
