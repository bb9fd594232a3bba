// Events of one conversation are handled one after the other, in order; others in parallel.
// expect: chat 1: hello how are you
// expect: chat 2: order a pizza please
#include <deque>
#include <iostream>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "airlock/event_isolation.hpp"

struct Event {
  std::int64_t chat;
  std::string text;
  airlock::EventIsolation::Turn turn;
};

int main() {
  auto store = airlock::open_store("memory:");
  std::mutex mutex;  // Guards the queue.
  std::deque<Event> queue;
  std::map<std::int64_t, std::string> heard = {{1, ""}, {2, ""}};  // Guarded by the isolation.

  // [poller]
  airlock::EventIsolation isolation{store};
  const auto receive = [&](std::int64_t chat, const std::string& text) {
    auto turn = isolation.join({.chat = chat});  // The order of arrival is fixed here.
    const std::lock_guard lock(mutex);
    queue.push_back({chat, text, std::move(turn)});
  };
  // [/poller]

  for (const char* text : {"hello", "how", "are", "you"}) receive(1, text);
  for (const char* text : {"order", "a", "pizza", "please"}) receive(2, text);

  // [worker]
  const auto work = [&] {
    for (std::unique_lock lock(mutex); !queue.empty(); lock.lock()) {
      Event event = std::move(queue.front());  // A pool must keep the order of arrival.
      queue.pop_front();
      lock.unlock();
      const airlock::Lease lease = event.turn.wait();  // Held while handling.
      heard.at(event.chat) += " " + event.text;
    }
  };
  // [/worker]

  std::vector<std::jthread> pool(3);
  for (std::jthread& worker : pool) worker = std::jthread(work);
  pool.clear();
  for (const auto& [chat, text] : heard) std::cout << "chat " << chat << ":" << text << "\n";
}
