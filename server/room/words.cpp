#include "room/words.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdlib>
#include <string>

namespace airlock::server {
namespace {

constexpr std::array<Words, 3> kWords = {{
    {.language = "en",
     .title = "Waiting room",
     .waiting = "You are in line",
     .waiting_detail = "Keep this page open. It lets you in by itself when it is your turn.",
     .next = "You are next",
     .next_detail = "Stay here. You are let in as soon as there is room.",
     .joining = "Finding your place",
     .joining_detail = "You are about to join the line.",
     .admitted = "It is your turn",
     .admitted_detail = "You are being let in now.",
     .paused = "Paused for a moment",
     .paused_detail = "Nobody is let in right now. You keep your place.",
     .early = "We open soon",
     .early_detail = "Everybody who is here before we open gets a random place in line.",
     .ended = "This is over",
     .ended_detail = "The waiting room is closed. Thank you for your interest.",
     .full = "The line is full",
     .full_detail = "Too many people are waiting. Please come back in a few minutes.",
     .cookies = "Please allow cookies",
     .cookies_detail = "Your place in line is kept in a cookie. Allow cookies for this site, then "
                       "reload this page.",
     .outage = "One moment, please",
     .outage_detail = "The line cannot be reached right now. Your place is kept, and this page "
                      "tries again by itself.",
     .label_place = "Your place in line",
     .label_ahead = "People ahead of you",
     .label_wait = "Expected wait",
     .label_opens = "Opens in",
     .label_progress = "Part of the wait that is over",
     .label_next = "Continue",
     .wait_unknown = "Not known yet",
     .wait_short = "Less than a minute",
     .wait_one_minute = "About 1 minute",
     .wait_minutes = "About {low} minutes",
     .wait_minute_range = "About {low} to {high} minutes",
     .wait_one_hour = "About 1 hour",
     .wait_hours = "About {low} hours",
     .wait_hour_range = "About {low} to {high} hours",
     .wait_one_day = "About 1 day",
     .wait_days = "About {low} days",
     .wait_day_range = "About {low} to {high} days",
     .reloads = "This page reloads every {seconds} seconds.",
     .thousands_separator = ","},
    {.language = "de",
     .title = "Warteraum",
     .waiting = "Sie sind in der Warteschlange",
     .waiting_detail = "Lassen Sie diese Seite offen. Sie werden von selbst eingelassen, wenn Sie "
                       "an der Reihe sind.",
     .next = "Sie sind als Nächstes dran",
     .next_detail = "Bleiben Sie hier. Sie werden eingelassen, sobald ein Platz frei ist.",
     .joining = "Ihr Platz wird gesucht",
     .joining_detail = "Sie werden gleich eingereiht.",
     .admitted = "Sie sind an der Reihe",
     .admitted_detail = "Sie werden jetzt eingelassen.",
     .paused = "Kurze Pause",
     .paused_detail = "Im Moment wird niemand eingelassen. Ihr Platz bleibt Ihnen erhalten.",
     .early = "Wir öffnen bald",
     .early_detail = "Wer vor der Öffnung hier ist, erhält einen zufälligen Platz in der Schlange.",
     .ended = "Es ist vorbei",
     .ended_detail = "Der Warteraum ist geschlossen. Vielen Dank für Ihr Interesse.",
     .full = "Die Warteschlange ist voll",
     .full_detail = "Es warten zu viele Menschen. Bitte kommen Sie in einigen Minuten wieder.",
     .cookies = "Bitte erlauben Sie Cookies",
     .cookies_detail = "Ihr Platz wird in einem Cookie gemerkt. Erlauben Sie Cookies für diese "
                       "Seite und laden Sie sie neu.",
     .outage = "Einen Moment, bitte",
     .outage_detail = "Die Warteschlange ist gerade nicht erreichbar. Ihr Platz bleibt Ihnen "
                      "erhalten; die Seite versucht es von selbst wieder.",
     .label_place = "Ihr Platz in der Schlange",
     .label_ahead = "Menschen vor Ihnen",
     .label_wait = "Voraussichtliche Wartezeit",
     .label_opens = "Öffnet in",
     .label_progress = "Anteil der Wartezeit, der vorbei ist",
     .label_next = "Weiter",
     .wait_unknown = "Noch nicht bekannt",
     .wait_short = "Weniger als eine Minute",
     .wait_one_minute = "Etwa 1 Minute",
     .wait_minutes = "Etwa {low} Minuten",
     .wait_minute_range = "Etwa {low} bis {high} Minuten",
     .wait_one_hour = "Etwa 1 Stunde",
     .wait_hours = "Etwa {low} Stunden",
     .wait_hour_range = "Etwa {low} bis {high} Stunden",
     .wait_one_day = "Etwa 1 Tag",
     .wait_days = "Etwa {low} Tage",
     .wait_day_range = "Etwa {low} bis {high} Tage",
     .reloads = "Diese Seite lädt alle {seconds} Sekunden neu.",
     .thousands_separator = "."},
    {.language = "fr",
     .title = "Salle d’attente",
     .waiting = "Vous êtes dans la file",
     .waiting_detail =
         "Gardez cette page ouverte. Vous entrerez automatiquement quand ce sera votre tour.",
     .next = "Vous êtes le prochain",
     .next_detail = "Restez ici. Vous entrerez dès qu’une place se libère.",
     .joining = "Recherche de votre place",
     .joining_detail = "Vous allez entrer dans la file.",
     .admitted = "C’est votre tour",
     .admitted_detail = "Vous entrez maintenant.",
     .paused = "Courte pause",
     .paused_detail = "Personne n’entre pour le moment. Vous gardez votre place.",
     .early = "Nous ouvrons bientôt",
     .early_detail = "Les personnes présentes avant l’ouverture reçoivent une place au hasard.",
     .ended = "C’est terminé",
     .ended_detail = "La salle d’attente est fermée. Merci de votre intérêt.",
     .full = "La file est complète",
     .full_detail = "Trop de personnes attendent. Revenez dans quelques minutes.",
     .cookies = "Veuillez autoriser les cookies",
     .cookies_detail = "Votre place est conservée dans un cookie. Autorisez les cookies pour ce "
                       "site, puis rechargez la page.",
     .outage = "Un instant, s’il vous plaît",
     .outage_detail = "La file est injoignable pour le moment. Votre place est conservée et cette "
                      "page réessaie d’elle-même.",
     .label_place = "Votre place dans la file",
     .label_ahead = "Personnes avant vous",
     .label_wait = "Attente estimée",
     .label_opens = "Ouverture dans",
     .label_progress = "Part de l’attente déjà écoulée",
     .label_next = "Continuer",
     .wait_unknown = "Pas encore connue",
     .wait_short = "Moins d’une minute",
     .wait_one_minute = "Environ 1 minute",
     .wait_minutes = "Environ {low} minutes",
     .wait_minute_range = "De {low} à {high} minutes environ",
     .wait_one_hour = "Environ 1 heure",
     .wait_hours = "Environ {low} heures",
     .wait_hour_range = "De {low} à {high} heures environ",
     .wait_one_day = "Environ 1 jour",
     .wait_days = "Environ {low} jours",
     .wait_day_range = "De {low} à {high} jours environ",
     .reloads = "Cette page se recharge toutes les {seconds} secondes.",
     .thousands_separator = "\u202f"},
}};

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return text;
}

// q, in thousandths; 1000 where none is said, 0 for what is none.
int weight_of(std::string_view parameters) {
  parameters = trimmed(parameters);
  if (parameters.empty()) return 1'000;
  if (!parameters.starts_with("q=")) return 0;
  const std::string text(parameters.substr(2, 5));
  const double value = std::strtod(text.c_str(), nullptr);
  return value > 0 && value <= 1 ? static_cast<int>(value * 1'000) : 0;
}

bool is_same_language(std::string_view wanted, std::string_view offered) {
  const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; };
  return std::equal(wanted.begin(), wanted.end(), offered.begin(), offered.end(),
                    [&](char a, char b) { return lower(a) == lower(b); });
}

}  // namespace

const Words* find_words(std::string_view language) {
  const auto* const found =
      std::find_if(kWords.begin(), kWords.end(),
                   [language](const Words& words) { return words.language == language; });
  return found == kWords.end() ? nullptr : &*found;
}

std::string known_languages() {
  std::string all;
  for (const Words& words : kWords) all.append(all.empty() ? "" : ", ").append(words.language);
  return all;
}

const Words& choose_words(std::string_view accepted, const std::vector<std::string>& offered) {
  const std::string* best = &offered.front();
  int best_weight = 0;
  while (!accepted.empty()) {
    const std::size_t end = accepted.find(',');
    const std::string_view part = accepted.substr(0, end);
    accepted = end == std::string_view::npos ? std::string_view() : accepted.substr(end + 1);
    const std::size_t semicolon = part.find(';');
    const std::string_view range = trimmed(part.substr(0, semicolon));
    const int weight =
        weight_of(semicolon == std::string_view::npos ? "" : part.substr(semicolon + 1));
    const auto found = std::find_if(offered.begin(), offered.end(), [&](const std::string& each) {
      return is_same_language(range.substr(0, range.find('-')), each);
    });
    if (found == offered.end() || weight <= best_weight) continue;
    best = &*found;
    best_weight = weight;
  }
  return *find_words(*best);
}

std::string with(std::string_view text, std::string_view name, std::string_view value) {
  std::string out(text);
  const std::string place = "{" + std::string(name) + "}";
  const std::size_t at = out.find(place);
  if (at != std::string::npos) out.replace(at, place.size(), value);
  return out;
}

std::string number_text(const Words& words, std::uint64_t number) {
  constexpr std::size_t kGroup = 3;
  std::string out = std::to_string(number);
  if (out.size() <= kGroup) return out;
  for (std::size_t at = out.size() - kGroup;; at -= kGroup) {
    out.insert(at, words.thousands_separator);
    if (at <= kGroup) return out;
  }
}

}  // namespace airlock::server
