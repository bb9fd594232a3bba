#include "room/template.hpp"

#include <algorithm>
#include <array>
#include <stdexcept>

#include "airlock/error.hpp"
#include "room/page_files.hpp"

namespace airlock::server {
namespace {

constexpr std::array<std::string_view, 23> kNames = {
    "lang",       "nonce",     "css_html",    "script_html", "refresh_html", "site",
    "title",      "state",     "headline",    "detail",      "position",     "ahead",
    "wait",       "progress",  "label_place", "label_ahead", "label_wait",   "label_progress",
    "label_next", "next_path", "note",        "stream_path", "status_path"};

bool is_known(std::string_view name) {
  return std::find(kNames.begin(), kNames.end(), name) != kNames.end();
}

// Calls `text` for what stands between names, and `name` for each of them.
template <typename Text, typename Name>
void for_each_part(std::string_view html, Text text, Name name) {
  while (true) {
    const std::size_t begin = html.find("{{");
    const std::size_t end =
        begin == std::string_view::npos ? std::string_view::npos : html.find("}}", begin);
    text(html.substr(0, end == std::string_view::npos ? end : begin));
    if (end == std::string_view::npos) return;
    name(html.substr(begin + 2, end - begin - 2));
    html.remove_prefix(end + 2);
  }
}

}  // namespace

PageTemplate::PageTemplate() : html_(kRoomHtml), css_(kRoomCss) {}

void PageTemplate::set_html(std::string html) {
  bool has_headline = false;
  bool has_script = false;
  for_each_part(
      html, [](std::string_view) {},
      [&](std::string_view name) {
        if (!is_known(name))
          throw InvalidArgument("{{" + std::string(name.substr(0, 40)) + "}} is no name of a page");
        has_headline |= name == "headline";
        has_script |= name == "script_html";
      });
  if (!has_headline || !has_script)
    throw InvalidArgument("{{headline}} and {{script_html}} have to be in the page");
  html_ = std::move(html);
}

std::string PageTemplate::fill(Values values) const {
  const std::string nonce = values["nonce"];
  values["css_html"] = "<style nonce=\"" + nonce + "\">" + css_ + "</style>";
  values["script_html"] =
      "<script nonce=\"" + nonce + "\">" + std::string(kRoomScript) + "</script>";
  std::string out;
  out.reserve(html_.size() + css_.size() + kRoomScript.size());
  for_each_part(
      html_, [&out](std::string_view text) { out += text; },
      [&](std::string_view name) {
        const std::string& value = values[name];
        out += name.ends_with("_html") ? value : html_escaped(value);
      });
  return out;
}

std::string html_escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      case '\'':
        out += "&#39;";
        break;
      default:
        out += c;
    }
  }
  return out;
}

}  // namespace airlock::server
