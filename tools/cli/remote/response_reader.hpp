#pragma once

#include <memory>
#include <string_view>

#include "http_client.hpp"

namespace airlock::cli {

// Reads one response, from bytes that come in pieces of any size, with the parser of Boost.Beast. Its body has a length,
// or comes in chunks: one that ends with the connection could have been cut off.
class ResponseReader {
 public:
  ResponseReader();
  ResponseReader(const ResponseReader&) = delete;
  ResponseReader& operator=(const ResponseReader&) = delete;
  ~ResponseReader();

  // Takes what it can use off the beginning of `bytes`. True: the response is complete; false: call it again with what it
  // left and more. StoreError where this is no response.
  [[nodiscard]] bool read(std::string_view& bytes);

  [[nodiscard]] HttpAnswer& answer() noexcept;

 private:
  struct Parser;

  std::unique_ptr<Parser> parser_;
};

}  // namespace airlock::cli
