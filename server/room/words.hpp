#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

// The words of the page, one set per language.

namespace airlock::server {

struct Words {
  std::string_view language;
  std::string_view title;
  std::string_view waiting, waiting_detail;
  std::string_view next, next_detail;
  std::string_view joining, joining_detail;
  std::string_view admitted, admitted_detail;
  std::string_view paused, paused_detail;
  std::string_view early, early_detail;
  std::string_view ended, ended_detail;
  std::string_view full, full_detail;
  std::string_view cookies, cookies_detail;
  std::string_view outage, outage_detail;
  std::string_view label_place, label_ahead, label_wait, label_opens, label_progress, label_next;
  std::string_view wait_unknown, wait_short, wait_one_minute, wait_minutes, wait_minute_range,
      wait_one_hour, wait_hours, wait_hour_range, wait_one_day, wait_days,
      wait_day_range;        // {low}, {high}
  std::string_view reloads;  // {seconds}
  std::string_view thousands_separator;
};

// Nothing for languages that are not here.
[[nodiscard]] const Words* find_words(std::string_view language);
[[nodiscard]] std::string known_languages();

// The best of `offered`, which is not empty, for the value of Accept-Language.
[[nodiscard]] const Words& choose_words(std::string_view accepted,
                                        const std::vector<std::string>& offered);

// A text with {name} replaced.
[[nodiscard]] std::string with(std::string_view text, std::string_view name,
                               std::string_view value);

// 12345 as people of the language write it.
[[nodiscard]] std::string number_text(const Words& words, std::uint64_t number);

}  // namespace airlock::server
