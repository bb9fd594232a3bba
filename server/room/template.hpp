#pragma once

#include <map>
#include <string>
#include <string_view>

namespace airlock::server {

// The page of a waiting room: HTML with names in double braces.
class PageTemplate {
 public:
  // The page that comes with the server, with its CSS.
  PageTemplate();

  // InvalidArgument for a name that no page has, or without {{headline}} and {{script}}.
  void set_html(std::string html);
  void set_css(std::string css) { css_ = std::move(css); }

  // Values are html_escaped, but for those whose name ends with _html.
  using Values = std::map<std::string_view, std::string>;
  [[nodiscard]] std::string fill(Values values) const;

 private:
  std::string html_;
  std::string css_;
};

[[nodiscard]] std::string html_escaped(std::string_view text);

}  // namespace airlock::server
