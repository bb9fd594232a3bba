#include "api/answers.hpp"
#include "api/api.hpp"
#include "findings.hpp"

namespace airlock::server {

void doctor(Api& api, const ExchangePtr& exchange, const Places& /*places*/) {
  answer_by(api, exchange, [grants = exchange->peer().grants](const Store& store) {
    const auto include = [&](std::string_view gate) { return grants->allows(Role::observe, gate); };
    const cli::Examination made = cli::examine([&store] { return store; }, include);
    return json_response(200, {{"store_available", made.is_available},
                               {"findings", cli::findings_json(made.findings)}});
  });
}

}  // namespace airlock::server
