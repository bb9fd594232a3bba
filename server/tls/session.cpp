#include "tls/session.hpp"

#include <openssl/err.h>
#include <openssl/x509v3.h>

#include <boost/asio/error.hpp>
#include <new>
#include <utility>

#include "rights/certificate_name.hpp"

namespace airlock::server {
namespace {

using boost::system::error_code;
namespace asio = boost::asio;

const unsigned char* bytes(std::string_view text) {
  return reinterpret_cast<const unsigned char*>(text.data());
}

// Also where zero bytes are in it: then it is no name of the configuration.
std::string text_of(const ASN1_STRING* string) {
  unsigned char* utf8 = nullptr;
  const int size = ASN1_STRING_to_UTF8(&utf8, string);
  if (size < 0) return {};
  std::string text(utf8, utf8 + size);
  OPENSSL_free(utf8);
  return text;
}

void add_name(std::vector<std::string>& names, const char* kind, const ASN1_STRING* value) {
  if (auto name = parse_certificate_name(kind + text_of(value))) names.push_back(*std::move(name));
}

void add_common_names(std::vector<std::string>& names, const X509* certificate) {
  const X509_NAME* const subject = X509_get_subject_name(certificate);
  int at = -1;
  while ((at = X509_NAME_get_index_by_NID(subject, NID_commonName, at)) >= 0)
    add_name(names, "CN=", X509_NAME_ENTRY_get_data(X509_NAME_get_entry(subject, at)));
}

void add_alternative_names(std::vector<std::string>& names, const X509* certificate) {
  auto* const all = static_cast<GENERAL_NAMES*>(
      X509_get_ext_d2i(certificate, NID_subject_alt_name, nullptr, nullptr));
  if (all == nullptr) return;
  for (int i = 0; i < sk_GENERAL_NAME_num(all); ++i) {
    int kind = 0;
    const void* const value = GENERAL_NAME_get0_value(sk_GENERAL_NAME_value(all, i), &kind);
    const auto* const string = static_cast<const ASN1_STRING*>(value);
    if (kind == GEN_DNS) add_name(names, "DNS:", string);
    if (kind == GEN_URI) add_name(names, "URI:", string);
    if (kind == GEN_EMAIL) add_name(names, "EMAIL:", string);
  }
  GENERAL_NAMES_free(all);
}

}  // namespace

TlsSession::TlsSession(SSL_CTX& context, int socket, std::string_view protocols)
    : ssl_(SSL_new(&context)), protocols_(protocols) {
  if (ssl_ == nullptr || SSL_set_fd(ssl_.get(), socket) != 1) throw std::bad_alloc();
  SSL_set_app_data(ssl_.get(), this);
  SSL_set_accept_state(ssl_.get());
}

int TlsSession::select_protocol(SSL* ssl, const unsigned char** chosen, unsigned char* chosen_size,
                                const unsigned char* offered, unsigned offered_size,
                                void* /*unused*/) {
  const std::string_view ours = static_cast<const TlsSession*>(SSL_get_app_data(ssl))->protocols_;
  unsigned char* selected = nullptr;
  const int result =
      SSL_select_next_proto(&selected, chosen_size, bytes(ours), static_cast<unsigned>(ours.size()),
                            offered, offered_size);
  *chosen = selected;
  return result == OPENSSL_NPN_NEGOTIATED ? SSL_TLSEXT_ERR_OK : SSL_TLSEXT_ERR_ALERT_FATAL;
}

void TlsSession::prepare() noexcept {
  ERR_clear_error();  // What is left there would be taken for the error of this call.
  wants_write_ = false;
}

error_code TlsSession::failure(int result) {
  const int kind = SSL_get_error(ssl_.get(), result);
  wants_write_ = kind == SSL_ERROR_WANT_WRITE;
  if (kind == SSL_ERROR_WANT_READ || kind == SSL_ERROR_WANT_WRITE) return asio::error::would_block;
  if (kind == SSL_ERROR_ZERO_RETURN) return asio::error::eof;
  has_output_ended_ = true;
  met_plain_http_ = ERR_GET_REASON(ERR_peek_last_error()) == SSL_R_HTTP_REQUEST;
  return asio::error::connection_aborted;
}

void TlsSession::handshake(error_code& error) {
  prepare();
  const int result = SSL_do_handshake(ssl_.get());
  error = result == 1 ? error_code() : failure(result);
  if (result == 1) has_output_ended_ = false;
}

std::size_t TlsSession::read_some(char* data, std::size_t size, error_code& error) {
  prepare();
  std::size_t done = 0;
  const int result = SSL_read_ex(ssl_.get(), data, size, &done);
  error = result == 1 ? error_code() : failure(result);
  return done;
}

std::size_t TlsSession::write_some(const char* data, std::size_t size, error_code& error) {
  prepare();
  std::size_t done = 0;
  const int result = SSL_write_ex(ssl_.get(), data, size, &done);
  error = result == 1 ? error_code() : failure(result);
  return done;
}

void TlsSession::end_output() noexcept {
  if (std::exchange(has_output_ended_, true)) return;
  ERR_clear_error();
  SSL_shutdown(ssl_.get());
}

std::string_view TlsSession::protocol() const noexcept {
  const unsigned char* name = nullptr;
  unsigned size = 0;
  SSL_get0_alpn_selected(ssl_.get(), &name, &size);
  return {reinterpret_cast<const char*>(name), size};
}

std::vector<std::string> TlsSession::peer_names() const {
  std::vector<std::string> names;
  const X509* const certificate = SSL_get0_peer_certificate(ssl_.get());
  if (certificate == nullptr || SSL_get_verify_result(ssl_.get()) != X509_V_OK) return names;
  add_common_names(names, certificate);
  add_alternative_names(names, certificate);
  return names;
}

}  // namespace airlock::server
