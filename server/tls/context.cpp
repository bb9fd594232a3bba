#include "tls/context.hpp"

#include <openssl/err.h>
#include <openssl/pem.h>

#include <new>

#include "tls/private_file.hpp"

namespace airlock::server {
namespace {

constexpr int kSecurityLevel = 2;  // 112 bits: RSA from 2048, no SHA-1.

std::string reason() {
  const char* const text = ERR_reason_error_string(ERR_peek_last_error());
  return text != nullptr ? text : "it is not readable";
}

[[noreturn]] void fail(TableReader& table, const char* key, const std::string& file,
                       const std::string& what) {
  table.fail(key, file + " " + what + ": " + reason());
}

// An encrypted key is not asked for its password.
int no_password(char* /*buffer*/, int /*size*/, int /*writes*/, void* /*unused*/) { return -1; }

std::shared_ptr<SSL_CTX> new_context() {
  std::shared_ptr<SSL_CTX> context(SSL_CTX_new(TLS_server_method()), SSL_CTX_free);
  if (context == nullptr) throw std::bad_alloc();
  SSL_CTX_set_min_proto_version(context.get(), TLS1_2_VERSION);
  SSL_CTX_set_security_level(context.get(), kSecurityLevel);
  SSL_CTX_set_options(context.get(), SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION);
  SSL_CTX_set_mode(context.get(), SSL_MODE_ENABLE_PARTIAL_WRITE |
                                      SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER |
                                      SSL_MODE_RELEASE_BUFFERS);
  SSL_CTX_set_alpn_select_cb(context.get(), TlsSession::select_protocol, nullptr);
  return context;
}

// So that each connection is verified by the certificate of now, and by the CA of now.
void forbid_resumption(SSL_CTX* context) {
  SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
  SSL_CTX_set_options(context, SSL_OP_NO_TICKET);
  SSL_CTX_set_num_tickets(context, 0);
}

}  // namespace

void TlsContext::read(TableReader& file) {
  file.with("tls", [this](TableReader& table) { load(table); });
}

void TlsContext::load(TableReader& table) {
  context_ = new_context();
  const std::string certificate = table.needed("certificate", table.text("certificate"));
  const std::string key = table.needed("key", table.text("key"));
  ERR_clear_error();
  if (SSL_CTX_use_certificate_chain_file(context_.get(), certificate.c_str()) != 1)
    fail(table, "certificate", certificate, "is no chain of certificates as PEM");
  load_key(table, key);
  load_clients(table);
}

void TlsContext::load_key(TableReader& table, const std::string& file) {
  const std::string pem = read_private_file(table, "key", file);
  const std::unique_ptr<BIO, decltype(&BIO_free)> source(
      BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size())), BIO_free);
  const std::unique_ptr<EVP_PKEY, decltype(&EVP_PKEY_free)> key(
      PEM_read_bio_PrivateKey(source.get(), nullptr, no_password, nullptr), EVP_PKEY_free);
  if (key == nullptr) fail(table, "key", file, "is no private key as PEM without a password");
  if (SSL_CTX_use_PrivateKey(context_.get(), key.get()) != 1)
    fail(table, "key", file, "does not belong to the certificate");
}

void TlsContext::load_clients(TableReader& table) {
  const auto file = table.text("client_ca");
  const bool is_required = table.flag("client_certificate_required").value_or(false);
  if (!file && is_required) table.fail("client_certificate_required", "needs client_ca");
  if (!file) return;
  auto* const names = SSL_load_client_CA_file(file->c_str());
  if (names == nullptr || SSL_CTX_load_verify_file(context_.get(), file->c_str()) != 1)
    fail(table, "client_ca", *file, "has no certificates as PEM");
  SSL_CTX_set_client_CA_list(context_.get(), names);
  SSL_CTX_set_verify(context_.get(),
                     SSL_VERIFY_PEER | (is_required ? SSL_VERIFY_FAIL_IF_NO_PEER_CERT : 0),
                     nullptr);
  forbid_resumption(context_.get());
  verifies_clients_ = true;
}

std::unique_ptr<TlsSession> TlsContext::accept(int socket, std::string_view protocols) const {
  return std::make_unique<TlsSession>(*context_, socket, protocols);
}

}  // namespace airlock::server
