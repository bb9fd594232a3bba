#include "store/redis/tls.hpp"

#include <arpa/inet.h>

#include <array>

#include "store/redis/failure.hpp"
#include "store/redis/openssl.hpp"

namespace airlock::redis {
namespace {

StoreError incompatible(const std::string& what) {
  return {StoreError::Kind::incompatible, Outcome::nothing_happened, "redis: TLS: " + what};
}

std::string openssl_reason() {
  const unsigned long code = openssl().ERR_get_error();
  openssl().ERR_clear_error();
  const char* const reason = openssl().ERR_reason_error_string(code);
  return reason != nullptr ? reason : "no reason given";
}

bool is_ip(const std::string& host) {
  std::array<unsigned char, sizeof(in6_addr)> unused;
  return inet_pton(AF_INET, host.c_str(), unused.data()) == 1 ||
         inet_pton(AF_INET6, host.c_str(), unused.data()) == 1;
}

// What the macro SSL_set_tlsext_host_name() is.
void set_server_name(SSL* ssl, std::string host) {
  openssl().SSL_ctrl(ssl, SSL_CTRL_SET_TLSEXT_HOSTNAME, TLSEXT_NAMETYPE_host_name, host.data());
}

}  // namespace

void TlsContext::Free::operator()(ssl_ctx_st* context) const noexcept {
  openssl().SSL_CTX_free(context);
}
void Tls::Free::operator()(ssl_st* ssl) const noexcept { openssl().SSL_free(ssl); }

TlsContext::TlsContext(const Address& address)
    : context_(openssl().SSL_CTX_new(openssl().TLS_client_method())) {
  SSL_CTX* const context = context_.get();
  if (context == nullptr) throw incompatible(openssl_reason());
  openssl().SSL_CTX_ctrl(context, SSL_CTRL_SET_MIN_PROTO_VERSION, TLS1_2_VERSION, nullptr);
  openssl().SSL_CTX_set_verify(context, SSL_VERIFY_PEER, nullptr);
  const bool trusts = address.ca.empty()
                          ? openssl().SSL_CTX_set_default_verify_paths(context) == 1
                          : openssl().SSL_CTX_load_verify_file(context, address.ca.c_str()) == 1;
  if (!trusts) throw incompatible("ca " + address.ca + ": " + openssl_reason());
  if (address.cert.empty()) return;
  if (openssl().SSL_CTX_use_certificate_chain_file(context, address.cert.c_str()) != 1) {
    throw incompatible("cert " + address.cert + ": " + openssl_reason());
  }
  if (openssl().SSL_CTX_use_PrivateKey_file(context, address.key.c_str(), SSL_FILETYPE_PEM) != 1) {
    throw incompatible("key " + address.key + ": " + openssl_reason());
  }
}

Tls::Tls(const TlsContext& context, const std::string& host)
    : ssl_(openssl().SSL_new(context.get())) {
  if (!ssl_) throw incompatible(openssl_reason());
  // Memory on both sides: OpenSSL would write to a socket with signals.
  openssl().SSL_set_bio(ssl_.get(), openssl().BIO_new(openssl().BIO_s_mem()),
                        openssl().BIO_new(openssl().BIO_s_mem()));
  openssl().SSL_set_connect_state(ssl_.get());
  if (is_ip(host)) {
    openssl().X509_VERIFY_PARAM_set1_ip_asc(openssl().SSL_get0_param(ssl_.get()), host.c_str());
  } else {
    set_server_name(ssl_.get(), host);
    openssl().SSL_set1_host(ssl_.get(), host.c_str());
  }
}

void Tls::fail(const char* what) {
  const long verified = openssl().SSL_get_verify_result(ssl_.get());
  if (verified != X509_V_OK) {
    openssl().ERR_clear_error();
    throw incompatible(std::string("the server's certificate: ") +
                       openssl().X509_verify_cert_error_string(verified));
  }
  throw incompatible(std::string(what) + ": " + openssl_reason());
}

bool Tls::shake_hands() {
  openssl().ERR_clear_error();
  const int done = openssl().SSL_do_handshake(ssl_.get());
  if (done == 1) return true;
  if (openssl().SSL_get_error(ssl_.get(), done) != SSL_ERROR_WANT_READ) fail("handshake");
  return false;
}

void Tls::encrypt(std::string_view plain) {
  openssl().ERR_clear_error();
  std::size_t written = 0;
  if (openssl().SSL_write_ex(ssl_.get(), plain.data(), plain.size(), &written) != 1) fail("write");
}

std::size_t Tls::decrypt(std::span<char> into) {
  openssl().ERR_clear_error();
  std::size_t got = 0;
  if (openssl().SSL_read_ex(ssl_.get(), into.data(), into.size(), &got) == 1) return got;
  const int error = openssl().SSL_get_error(ssl_.get(), 0);
  if (error == SSL_ERROR_ZERO_RETURN) throw unavailable("the server closed the connection");
  if (error != SSL_ERROR_WANT_READ) fail("read");
  return 0;
}

void Tls::feed(std::string_view received) {
  openssl().BIO_write(openssl().SSL_get_rbio(ssl_.get()), received.data(),
                      static_cast<int>(received.size()));
}

std::string Tls::take_output() {
  BIO* const bio = openssl().SSL_get_wbio(ssl_.get());
  std::string out(openssl().BIO_ctrl_pending(bio), '\0');
  if (!out.empty()) openssl().BIO_read(bio, out.data(), static_cast<int>(out.size()));
  return out;
}

}  // namespace airlock::redis
