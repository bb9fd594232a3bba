#pragma once

#include <exception>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <type_traits>
#include <unordered_set>
#include <utility>
#include <variant>

#ifdef AIRLOCK_STANDALONE_ASIO
#include <asio/associated_executor.hpp>
#include <asio/async_result.hpp>
#include <asio/execution.hpp>
#include <asio/execution_context.hpp>
#include <asio/executor_work_guard.hpp>
#include <asio/post.hpp>
#include <asio/query.hpp>
#include <asio/system_executor.hpp>
#include <asio/version.hpp>
#define AIRLOCK_ASIO_HAS_CANCELLATION (ASIO_VERSION >= 101900)
#if AIRLOCK_ASIO_HAS_CANCELLATION
#include <asio/associated_cancellation_slot.hpp>
#endif
#else
#include <boost/asio/associated_executor.hpp>
#include <boost/asio/async_result.hpp>
#include <boost/asio/execution.hpp>
#include <boost/asio/execution_context.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/query.hpp>
#include <boost/asio/system_executor.hpp>
#include <boost/asio/version.hpp>
#define AIRLOCK_ASIO_HAS_CANCELLATION (BOOST_ASIO_VERSION >= 101900)
#if AIRLOCK_ASIO_HAS_CANCELLATION
#include <boost/asio/associated_cancellation_slot.hpp>
#endif
#endif

#include "airlock/airlock_gate.hpp"
#include "airlock/ask.hpp"
#include "airlock/coro.hpp"
#include "airlock/duration.hpp"
#include "airlock/lease.hpp"
#include "airlock/outcome.hpp"

// Waiting at a gate as an asynchronous operation of Asio: of Boost.Asio 1.74 or later, or of
// standalone Asio 1.18 or later where AIRLOCK_STANDALONE_ASIO is defined before. The library itself
// needs neither, and the umbrella header does not include this one.
//
//   Outcome<Lease> lease = co_await async_enter(gate, use_awaitable);
//   std::future<Outcome<Lease>> lease = async_enter(gate, ask, use_future);
//   async_enter(gate, ask, [](std::exception_ptr failure, Outcome<Lease> lease) { ... });
//
// The handler runs on its associated executor, never inside async_enter(), and work is tracked
// there while it waits. `failure` is what Airlock::enter() would have thrown; tokens such as
// use_awaitable and use_future throw it. Cancellation, by a cancellation slot (Boost 1.77) or by
// `Ask::stop`, ends the wait: refused as late. When the execution context ends first, the handler is
// destroyed with it, the place is given up and a grant that arrives later is given back.

namespace airlock {

namespace internal {

#ifdef AIRLOCK_STANDALONE_ASIO
namespace net = ::asio;
#else
namespace net = ::boost::asio;
#endif

class AsioOperation {
 public:
  AsioOperation() = default;
  AsioOperation(const AsioOperation&) = delete;
  AsioOperation& operator=(const AsioOperation&) = delete;
  virtual ~AsioOperation() = default;
  virtual void give_up() noexcept = 0;
};

// Everything that waits on behalf of an execution context, and is given up when that ends.
class AsioOperations final : public net::execution_context::service {
 public:
  using key_type = AsioOperations;
  static inline net::execution_context::id id;

  explicit AsioOperations(net::execution_context& context) : service(context) {}

  void add(std::shared_ptr<AsioOperation> operation) {
    const std::lock_guard lock(mutex_);
    operations_.insert(std::move(operation));
  }
  void remove(const std::shared_ptr<AsioOperation>& operation) noexcept {
    const std::lock_guard lock(mutex_);
    operations_.erase(operation);
  }

 private:
  void shutdown() noexcept override {
    std::unordered_set<std::shared_ptr<AsioOperation>> ended;
    {
      const std::lock_guard lock(mutex_);
      ended.swap(operations_);
    }
    for (const auto& operation : ended) operation->give_up();
  }

  std::mutex mutex_;
  std::unordered_set<std::shared_ptr<AsioOperation>> operations_;
};

// Of an executor that does not say: the system's.
template <typename Executor>
[[nodiscard]] net::execution_context& context_of(const Executor& executor) {
  if constexpr (net::can_query<Executor, net::execution::context_t>::value) {
    return net::query(executor, net::execution::context);
  } else if constexpr (requires { executor.context(); }) {
    return executor.context();
  } else {
    return net::query(net::system_executor(), net::execution::context);
  }
}

template <typename Handler>
class AsioEntry final : public AsioOperation,
                        public std::enable_shared_from_this<AsioEntry<Handler>> {
 public:
  explicit AsioEntry(Handler handler)
      : target_(std::move(handler)),
        operations_(net::use_service<AsioOperations>(context_of(target_->executor))) {}

  void begin(const Airlock& gate, std::optional<AnyDuration> max_wait, const Ask& ask) {
    const auto self = this->shared_from_this();
    operations_.add(self);
    listen_to_slot();
    complete_unless_pending([&]() -> std::optional<Outcome<Lease>> {
      auto begun = gate.begin_enter(max_wait, ask, [&]() -> Airlock::Callback {
        return [self](Arrival& arrival) { self->arrive(arrival); };
      });
      if (auto* decided = std::get_if<Outcome<Lease>>(&begun)) return std::move(*decided);
      pending_ = std::get<PendingEntry>(std::move(begun));
      return std::nullopt;
    });
  }

  // The execution context ends.
  void give_up() noexcept override {
    pending_ = {};  // From here on arrive() neither runs nor will run.
    target_.reset();
  }

 private:
  void listen_to_slot() {
#if AIRLOCK_ASIO_HAS_CANCELLATION
    auto slot = net::get_associated_cancellation_slot(target_->handler);
    if (!slot.is_connected()) return;
    slot.assign([weak = this->weak_from_this()](net::cancellation_type /*type*/) {
      if (const auto self = weak.lock()) self->pending_.cancel();
    });
#endif
  }

  void arrive(Arrival& arrival) {
    complete_unless_pending([&]() -> std::optional<Outcome<Lease>> { return arrival.take(); });
  }

  template <typename Decide>
  void complete_unless_pending(Decide decide) {
    std::exception_ptr failure;
    std::optional<Outcome<Lease>> decided;
    try {
      decided = decide();
    } catch (...) {
      failure = std::current_exception();
      decided.emplace(Refused{});
    }
    if (decided) complete(std::move(failure), *std::move(decided));
  }

  // As long as the operation is not removed, the context does not end.
  void complete(std::exception_ptr failure, Outcome<Lease> outcome) {
    {
      Target target = *std::exchange(target_, std::nullopt);
      net::post(target.executor, [handler = std::move(target.handler), failure = std::move(failure),
                                  outcome = std::move(outcome)]() mutable {
        std::move(handler)(std::move(failure), std::move(outcome));
      });
    }
    operations_.remove(this->shared_from_this());
  }

  // What belongs to the execution context.
  struct Target {
    explicit Target(Handler to)
        : handler(std::move(to)),
          executor(net::get_associated_executor(handler)),
          work(net::make_work_guard(executor)) {}

    Handler handler;
    typename net::associated_executor<Handler>::type executor;
    net::executor_work_guard<typename net::associated_executor<Handler>::type> work;
  };

  std::optional<Target> target_;
  AsioOperations& operations_;
  PendingEntry pending_;
};

// Begins the operation, at once or when a token such as use_awaitable says.
struct AsioInitiation {
  template <typename Handler>
  void operator()(Handler&& handler) const {
    Ask asked = ask;
    asked.label = label;
    std::make_shared<AsioEntry<std::decay_t<Handler>>>(std::forward<Handler>(handler))
        ->begin(gate, max_wait, asked);
  }

  Airlock gate;
  std::optional<AnyDuration> max_wait;
  Ask ask;
  std::string label;
};

template <typename Token>
auto asio_enter(const Airlock& gate, std::optional<AnyDuration> max_wait, const Ask& ask,
                Token&& token) {
  return net::async_initiate<Token, void(std::exception_ptr, Outcome<Lease>)>(
      AsioInitiation{gate, max_wait, ask, std::string(ask.label)}, token);
}

template <typename Token>
concept AsioToken = !ResumesCoroutines<Token>;

}  // namespace internal

// Waits for its turn as Airlock::enter() does, for `max_wait` of the options or for the time given.
// Signature of the handler: void(std::exception_ptr, Outcome<Lease>).
template <internal::AsioToken Token>
auto async_enter(const Airlock& gate, Token&& token) {
  return internal::asio_enter(gate, {}, {}, std::forward<Token>(token));
}
template <internal::AsioToken Token>
auto async_enter(const Airlock& gate, const Ask& ask, Token&& token) {
  return internal::asio_enter(gate, {}, ask, std::forward<Token>(token));
}
template <internal::AsioToken Token>
auto async_enter_for(const Airlock& gate, AnyDuration max_wait, Token&& token) {
  return internal::asio_enter(gate, max_wait, {}, std::forward<Token>(token));
}
template <internal::AsioToken Token>
auto async_enter_for(const Airlock& gate, AnyDuration max_wait, const Ask& ask, Token&& token) {
  return internal::asio_enter(gate, max_wait, ask, std::forward<Token>(token));
}

// As in coro.hpp: give the Ask a name.
template <internal::AsioToken Token>
auto async_enter(const Airlock& gate, Ask&& ask, Token&& token) = delete;
template <internal::AsioToken Token>
auto async_enter_for(const Airlock& gate, AnyDuration max_wait, Ask&& ask, Token&& token) = delete;

}  // namespace airlock

#undef AIRLOCK_ASIO_HAS_CANCELLATION
