#include "token.hpp"

#include <algorithm>
#include <cerrno>
#include <fstream>
#include <vector>

#include "airlock/error.hpp"
#include "output.hpp"

namespace airlock::cli {
namespace {

constexpr std::size_t kMaxToken = 4096;

std::string first_line(const std::string& file) {
  std::ifstream in(file);
  std::vector<char> bytes(kMaxToken + 2);
  if (!in || in.getline(bytes.data(), static_cast<std::streamsize>(bytes.size())).bad())
    throw InvalidArgument("--token-file " + file + ": " + error_text(errno));
  std::string line(bytes.data());
  while (line.ends_with('\r') || line.ends_with(' ')) line.pop_back();
  if (line.empty()) throw InvalidArgument("--token-file " + file + ": its first line is empty");
  return line;
}

}  // namespace

std::string read_token(const std::string& file, const std::string& otherwise) {
  std::string token = file.empty() ? otherwise : first_line(file);
  // It is written into the head of a request.
  const auto is_plain = [](char byte) { return byte > ' ' && byte <= '~'; };
  if (token.size() > kMaxToken || !std::ranges::all_of(token, is_plain)) {
    throw InvalidArgument((file.empty() ? "AIRLOCK_SERVER_TOKEN" : "--token-file " + file) +
                          ": a token has at most 4096 bytes of printable ASCII, without spaces");
  }
  return token;
}

}  // namespace airlock::cli
