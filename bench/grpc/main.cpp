// What the rate limit service is compared with: a callback server of grpc++ that answers every call with OK.
//
//   airlock_grpc_reference PORT

#include <grpcpp/grpcpp.h>

#include <iostream>
#include <string>

#include "rate_limit.grpc.pb.h"

namespace {

using namespace envoy::service::ratelimit::v3;

class Empty final : public RateLimitService::CallbackService {
  grpc::ServerUnaryReactor* ShouldRateLimit(grpc::CallbackServerContext* context,
                                            const RateLimitRequest* /*request*/,
                                            RateLimitResponse* response) override {
    response->set_overall_code(1);
    grpc::ServerUnaryReactor* const reactor = context->DefaultReactor();
    reactor->Finish(grpc::Status::OK);
    return reactor;
  }
};

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::cerr << "usage: airlock_grpc_reference PORT\n";
    return 2;
  }
  Empty service;
  grpc::ServerBuilder builder;
  builder.AddListeningPort("127.0.0.1:" + std::string(argv[1]), grpc::InsecureServerCredentials());
  builder.RegisterService(&service);
  const auto server = builder.BuildAndStart();
  if (server == nullptr) return 1;
  server->Wait();
}
