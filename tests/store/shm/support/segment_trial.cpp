#include "store/shm/support/segment_trial.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <string>

#include "airlock/error.hpp"
#include "store/shm/shm_store.hpp"

namespace airlock {
namespace {

using namespace std::chrono_literals;

constexpr std::array kRates = {Rate{.count = 5, .period = 1s},
                               Rate{5, 2s, 0, Rate::Algorithm::sliding_window},
                               Rate{5, 3s, 0, Rate::Algorithm::fixed_window}};

Request request(int visitor, const char* gate, Order order) {
  Request request{.gate = gate,
                  .visitor = VisitorId::named("v" + std::to_string(visitor)),
                  .label = "label",
                  .permits = Permits{.limit = 3, .ttl = 1min}};
  request.line.join = true;
  request.line.order = order;
  request.hold = visitor % 2 == 0 ? Hold::bound : Hold::detached;
  if (visitor % 3 == 0) request.rates = kRates;
  return request;
}

Order order_of(const std::string& gate) {
  if (gate == "lottery") return Order::lottery;
  return gate == "aging" ? Order::aging_lottery : Order::fifo;
}

}  // namespace

SegmentTrial::SegmentTrial() {
  fill();
  fd_ = open((dir_.path() + "/default").c_str(), O_RDWR | O_CLOEXEC);
  save();
}

SegmentTrial::~SegmentTrial() { close(fd_); }

void SegmentTrial::attach() {
  store_ = shm::make_store({.dir = dir_.path(), .size = 16U << 20, .timeout = 20ms}, *clock_);
}

void SegmentTrial::detach() { store_ = {}; }

std::uint64_t SegmentTrial::size() const {
  std::uint64_t size = 0;
  for (const Part& part : parts_) size += part.bytes.size();
  return size;
}

SegmentTrial::Place SegmentTrial::find(std::uint64_t at) const {
  for (const Part& part : parts_) {
    if (at < part.bytes.size()) return {&part, at};
    at -= part.bytes.size();
  }
  return {};
}

char SegmentTrial::byte(std::uint64_t at) const {
  const Place place = find(at);
  return place.part->bytes[place.at];
}

void SegmentTrial::write(std::uint64_t at, std::string_view bytes) {
  const Place place = find(at);
  (void)!pwrite(fd_, bytes.data(), bytes.size(), static_cast<off_t>(place.part->begin + place.at));
}

std::uint64_t SegmentTrial::use() {
  std::uint64_t errors = 0;
  const auto try_to = [&errors](auto step) {
    try {
      step();
    } catch (const Error&) {
      ++errors;
    }
  };
  for (int i = 0; i < 3; ++i) {
    for (const char* gate : {"fifo", "lottery", "aging", "large"}) {
      try_to([&] { (void)store_.look(gate); });
      try_to([&] { (void)store_.admit(request(i, gate, order_of(gate))); });
      try_to([&] { (void)store_.admit(request(100 + i, gate, order_of(gate))); });
      try_to([&] { store_.leave(gate, VisitorId::named("v5")); });
      try_to([&] { (void)store_.revoke(gate, VisitorId::named("v1"), Revoke::now); });
    }
    try_to([&] { (void)store_.release(token_); });
    try_to([&] { (void)store_.renew(token_, 1min); });
    try_to([&] { (void)store_.list(); });
    try_to([&] { store_.pause("fifo", 1s); });
    try_to([&] { (void)store_.purge("lottery"); });
    clock_->advance(20s);
    try_to([&] { store_.collect(); });
  }
  return errors;
}

void SegmentTrial::restore() {
  detach();
  clock_.emplace();
  const off_t size = lseek(fd_, 0, SEEK_END);
  (void)!ftruncate(fd_, 0);
  (void)!ftruncate(fd_, size);
  for (const Part& part : parts_) {
    (void)!pwrite(fd_, part.bytes.data(), part.bytes.size(), static_cast<off_t>(part.begin));
  }
  attach();
}

void SegmentTrial::fill() {
  attach();
  for (const char* gate : {"fifo", "lottery", "aging"}) {
    for (int i = 0; i < 12; ++i) {
      const Answer answer = store_.admit(request(i, gate, order_of(gate)));
      if (const auto* granted = std::get_if<Granted>(&answer)) token_ = granted->token;
    }
  }
  for (int i = 0; i < 100; ++i) {
    Request many = request(i, "large", Order::fifo);
    many.permits->limit = 1000;
    many.rates = {};
    (void)store_.admit(many);
  }
  store_.pause("fifo", 1h, "reporter");
  store_.set_limit("aging", 2);
  detach();
  attach();
}

void SegmentTrial::save() {
  const off_t size = lseek(fd_, 0, SEEK_END);
  off_t at = lseek(fd_, 0, SEEK_DATA);
  while (at >= 0 && at < size) {
    const off_t end = lseek(fd_, at, SEEK_HOLE);
    Part& part = parts_.emplace_back();
    part.begin = static_cast<std::uint64_t>(at);
    part.bytes.resize(static_cast<std::size_t>(end - at));
    (void)!pread(fd_, part.bytes.data(), part.bytes.size(), at);
    at = lseek(fd_, end, SEEK_DATA);
  }
}

}  // namespace airlock
