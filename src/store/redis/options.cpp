#include "store/redis/options.hpp"

#include <utility>

#include "airlock/error.hpp"
#include "airlock/name.hpp"

namespace airlock::redis {
namespace {

void check_prefix(const std::string& prefix) {
  constexpr std::size_t kLongest = 64;
  if (prefix.size() > kLongest) throw InvalidArgument("store URI: prefix: at most 64 bytes");
  (void)GateName(prefix);  // The same characters; none that a pattern or a slot minds.
  if (prefix.find('/') != std::string::npos) {
    throw InvalidArgument("store URI: prefix: no / in it");
  }
}

}  // namespace

Options Options::from(const Uri& uri) {
  Options options;
  if (uri.scheme() == "redis+sentinel" || uri.scheme() == "redis+cluster") {
    Seeds seeds = Seeds::parse(uri);
    options.address = std::move(seeds.server);
    options.seeds = std::move(seeds.servers);
    options.master = std::move(seeds.master);
  } else {
    options.address = Address::parse(uri);
  }
  if (const std::string prefix = uri.text("prefix"); !prefix.empty()) options.prefix = prefix;
  check_prefix(options.prefix);
  options.timeout = uri.duration("timeout");
  if (const std::uint32_t pool = uri.count("pool"); pool != 0) options.pool = pool;
  options.replicas_ack = uri.count("replicas_ack");
  options.handover_delay = uri.duration("handover_delay");
  return options;
}

}  // namespace airlock::redis
