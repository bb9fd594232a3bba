#include "airlock/store.hpp"

int main() {
  auto store = airlock::open_store("memory:");
  return store ? 0 : 1;
}
