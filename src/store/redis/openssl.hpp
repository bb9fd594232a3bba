#pragma once

#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

namespace airlock::redis {

// The functions of OpenSSL that TLS takes. They are linked; a program that is compiled with
// AIRLOCK_LOAD_OPENSSL loads them when it first needs them, because most of what the loader does
// before main() would be for them.
// clang-format off
#define AIRLOCK_OPENSSL_FUNCTIONS(X) \
  X(BIO_ctrl_pending) X(BIO_new) X(BIO_read) X(BIO_s_mem) X(BIO_write) X(ERR_clear_error) \
  X(ERR_get_error) X(ERR_reason_error_string) X(SSL_CTX_ctrl) X(SSL_CTX_free) \
  X(SSL_CTX_load_verify_file) X(SSL_CTX_new) X(SSL_CTX_set_default_verify_paths) \
  X(SSL_CTX_set_verify) X(SSL_CTX_use_PrivateKey_file) X(SSL_CTX_use_certificate_chain_file) \
  X(SSL_ctrl) X(SSL_do_handshake) X(SSL_free) X(SSL_get0_param) X(SSL_get_error) X(SSL_get_rbio) \
  X(SSL_get_verify_result) X(SSL_get_wbio) X(SSL_new) X(SSL_read_ex) X(SSL_set1_host) \
  X(SSL_set_bio) X(SSL_set_connect_state) X(SSL_write_ex) X(TLS_client_method) \
  X(X509_VERIFY_PARAM_set1_ip_asc) X(X509_verify_cert_error_string)
// clang-format on

struct OpenSsl {
// NOLINTNEXTLINE(bugprone-macro-parentheses): the name of a member
#define AIRLOCK_OPENSSL_MEMBER(name) decltype(&::name) name;
  AIRLOCK_OPENSSL_FUNCTIONS(AIRLOCK_OPENSSL_MEMBER)
#undef AIRLOCK_OPENSSL_MEMBER
};

// StoreError (incompatible) if it cannot be loaded.
[[nodiscard]] const OpenSsl& openssl();

}  // namespace airlock::redis
