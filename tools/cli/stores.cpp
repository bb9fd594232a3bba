#include <pwd.h>
#include <unistd.h>

#include <array>

#include "airlock/error.hpp"
#include "airlock/shm.hpp"
#include "checked_output.hpp"
#include "command.hpp"
#include "output.hpp"
#include "suggest.hpp"

namespace airlock::cli {
namespace {

struct Stores {
  bool all = false;
  bool json = false;
};

struct Remove {
  std::string name;
  bool force = false;
};

std::string user_name(std::uint32_t uid) {
  std::array<char, 4096> text{};
  passwd entry{};
  passwd* found = nullptr;
  const bool known = getpwuid_r(uid, &entry, text.data(), text.size(), &found) == 0 && found;
  return known ? std::string(entry.pw_name) : std::to_string(uid);
}

std::string size_text(std::uint64_t bytes) {
  constexpr std::uint64_t kKibi = 1024;
  constexpr std::uint64_t kMebi = kKibi * kKibi;
  if (bytes < 10 * kMebi) return std::to_string(bytes / kKibi) + "K";
  return std::to_string(bytes / kMebi) + "M";
}

Json described(const ShmSegment& segment) {
  Json json = {{"name", segment.name},
               {"path", segment.path},
               {"owner", user_name(segment.owner)},
               {"uid", segment.owner},
               {"bytes", segment.bytes}};
  const bool is_known = segment.problem.empty();
  json["processes_living"] = is_known ? Json(segment.living) : Json(nullptr);
  json["processes_dead"] = is_known ? Json(segment.dead) : Json(nullptr);
  json["gate_count"] = is_known ? Json(segment.gates) : Json(nullptr);
  json["holder_count"] = is_known ? Json(segment.holders) : Json(nullptr);
  json["problem"] = is_known ? Json(nullptr) : Json(segment.problem);
  return json;
}

Table::Row row_of(const ShmSegment& segment) {
  const bool is_known = segment.problem.empty();
  const auto number = [is_known](std::uint64_t value) {
    return is_known ? std::to_string(value) : std::string("-");
  };
  return {segment.name,
          user_name(segment.owner),
          size_text(segment.bytes),
          number(segment.living),
          number(segment.dead),
          number(segment.gates),
          number(segment.holders),
          segment.path + (is_known ? "" : " (" + segment.problem + ")")};
}

int stores(const Command& command, Stores& options) {
  const bool is_shm = command.store_uri.starts_with("shm:");
  const std::string uri = is_shm ? command.store_uri : "shm:";
  const std::vector<ShmSegment> found = options.all ? list_all_shm_stores() : list_shm_stores(uri);
  Json json = Json::array();
  Table table({"NAME", "OWNER", "SIZE", "PROCESSES", "DEAD", "GATES", "HOLDERS", "PATH"});
  for (const ShmSegment& segment : found) {
    json.push_back(described(segment));
    table.add(row_of(segment));
  }
  if (options.json) {
    print_json(json);
  } else if (!table.empty()) {
    write_output(table.text());
  }
  return 0;
}

// The name alone means a segment of the folder that --store names.
std::string uri_of(const Command& command, const std::string& name) {
  if (name.starts_with("shm:")) return name;
  const std::size_t options = command.store_uri.find('?');
  const bool has_options = command.store_uri.starts_with("shm:") && options != std::string::npos;
  return "shm:" + name + (has_options ? command.store_uri.substr(options) : "");
}

void require_unused(const std::string& uri, const std::string& name) {
  for (const ShmSegment& segment : list_shm_stores(uri)) {
    if (segment.name != name) continue;
    if (segment.living != 0) {
      throw Exit{1, segment.path + " is in use by " + counted(segment.living, "process", "es") +
                        "; stop them, or use --force: it is removed and all their leases are lost"};
    }
    if (segment.holders != 0) {
      throw Exit{1, segment.path + " has " + counted(segment.holders, "holder") +
                        " whose leases may still count (`airlock ls --store '" + uri +
                        "'`); --force removes them too"};
    }
  }
}

int remove(const Command& command, Remove& options) {
  const std::string uri = uri_of(command, options.name);
  const std::string name = uri.substr(4, uri.find('?') - 4);
  if (!options.force) require_unused(uri, name.empty() ? "default" : name);
  if (remove_shm_store(uri)) return 0;
  std::vector<std::string> known;
  for (const ShmSegment& segment : list_shm_stores(uri)) known.push_back(segment.name);
  throw Exit{1, "store " + uri + " does not exist" + did_you_mean(name, known) +
                    "; `airlock stores` lists those that do"};
}

}  // namespace

void add_stores(CLI::App& app, Command& command) {
  const auto listed = std::make_shared<Stores>();
  CLI::App& stores_app =
      add_subcommand(app, command, "stores",
                     "Lists the segments of shared memory and who uses them", listed, &stores);
  stores_app.add_flag("--all", listed->all, "Of all users, as far as they can be read");
  stores_app.add_flag("--json", listed->json, "For programs");

  CLI::App& store_app = *app.add_subcommand("store", "`store rm NAME` removes a segment");
  store_app.require_subcommand(1);
  const auto removed = std::make_shared<Remove>();
  CLI::App& rm_app =
      add_subcommand(store_app, command, "rm",
                     "Removes a segment of shared memory that nothing uses", removed, &remove);
  rm_app.add_option("NAME", removed->name, "Of the segment, as `stores` lists it, or shm:NAME?...")
      ->required()
      ->type_name("");
  rm_app.add_flag("--force", removed->force, "Also one in use: all leases in it are lost");
}

}  // namespace airlock::cli
