#pragma once
/* libssl and libcrypto, loaded when the first connection needs them: they cost an appliance without TLS three megabytes
   of memory otherwise. */
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

#define PORTERO_SSL_CALLS(X)                                                                                       \
    X(SSL_CTX_check_private_key) X(SSL_CTX_ctrl) X(SSL_CTX_free) X(SSL_CTX_get0_certificate)                       \
    X(SSL_CTX_get0_param) X(SSL_CTX_load_verify_dir) X(SSL_CTX_load_verify_file) X(SSL_CTX_new)                    \
    X(SSL_CTX_set_cipher_list) X(SSL_CTX_set_default_passwd_cb) X(SSL_CTX_set_default_verify_paths)                \
    X(SSL_CTX_set_options) X(SSL_CTX_set_verify) X(SSL_CTX_use_PrivateKey_file)                                    \
    X(SSL_CTX_use_certificate_chain_file) X(SSL_ctrl) X(SSL_do_handshake) X(SSL_free)                              \
    X(SSL_get0_peer_certificate) X(SSL_get_SSL_CTX) X(SSL_get_error) X(SSL_get_ex_data_X509_STORE_CTX_idx)         \
    X(SSL_get_rbio) X(SSL_get_version) X(SSL_new) X(SSL_read) X(SSL_set_bio) X(SSL_set_connect_state)              \
    X(SSL_shutdown) X(SSL_write) X(TLS_client_method)                                                               \
    X(ASN1_STRING_get0_data) X(ASN1_STRING_length) X(ASN1_TIME_diff) X(ASN1_TIME_free) X(ASN1_TIME_set)            \
    X(BIO_free) X(BIO_get_ex_data) X(BIO_new) X(BIO_read) X(BIO_s_mem) X(BIO_set_ex_data) X(BIO_write)             \
    X(CRYPTO_free) X(ERR_clear_error) X(ERR_peek_last_error) X(ERR_reason_error_string) X(EVP_Digest)              \
    X(EVP_sha256) X(GENERAL_NAMES_free) X(OPENSSL_sk_num) X(OPENSSL_sk_value) X(X509_NAME_oneline)                 \
    X(X509_STORE_CTX_get_current_cert) X(X509_STORE_CTX_get_error) X(X509_STORE_CTX_get_ex_data)                   \
    X(X509_VERIFY_PARAM_set_flags) X(X509_free) X(X509_get0_notAfter) X(X509_get0_notBefore)                       \
    X(X509_get_X509_PUBKEY) X(X509_get_ext_d2i) X(X509_get_issuer_name) X(X509_get_subject_name) X(X509_up_ref)    \
    X(X509_VERIFY_PARAM_set_time) X(X509_verify_cert_error_string) X(i2d_X509_PUBKEY)

struct portero_ssl {
#define X(name) __typeof__(&name) name;
    PORTERO_SSL_CALLS(X)
#undef X
};

/* 0 where the library is not there. */
int portero_ssl_load(void);

/* What portero_ssl_load gave; every use stands behind a call of it that succeeded. */
extern struct portero_ssl libssl;
