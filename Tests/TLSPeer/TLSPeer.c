#include "TLSPeer.h"
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <stdio.h>
#include <stdlib.h>

struct tls_peer {
    SSL *ssl;
    BIO *in;
    BIO *out;
};

static X509 *read_certificate(const char *path, EVP_PKEY **key) {
    FILE *file = fopen(path, "r");
    if (!file) return NULL;
    *key = PEM_read_PrivateKey(file, NULL, NULL, NULL);
    X509 *certificate = PEM_read_X509(file, NULL, NULL, NULL);
    fclose(file);
    return certificate;
}

static void extend(X509 *certificate, int kind, const char *value) {
    X509V3_CTX context;
    X509V3_set_ctx(&context, certificate, certificate, NULL, NULL, 0);
    X509_EXTENSION *extension = X509V3_EXT_conf_nid(NULL, &context, kind, value);
    if (extension) X509_add_ext(certificate, extension, -1);
    X509_EXTENSION_free(extension);
}

int tls_peer_issue(
    const char *path, const char *subject, const char *names, long begins, long ends, const char *issuer) {
    static long serial = 1;
    EVP_PKEY *key = EVP_EC_gen("P-256");
    X509 *certificate = X509_new();
    EVP_PKEY *issuer_key = key;
    X509 *issuer_certificate = issuer ? read_certificate(issuer, &issuer_key) : certificate;
    if (!key || !certificate || !issuer_certificate || !issuer_key) return 0;
    X509_set_version(certificate, 2);
    ASN1_INTEGER_set(X509_get_serialNumber(certificate), serial++);
    X509_gmtime_adj(X509_getm_notBefore(certificate), begins);
    X509_gmtime_adj(X509_getm_notAfter(certificate), ends);
    X509_NAME_add_entry_by_txt(
        X509_get_subject_name(certificate), "CN", MBSTRING_ASC, (const unsigned char *)subject, -1, -1, 0);
    X509_set_issuer_name(certificate, X509_get_subject_name(issuer_certificate));
    X509_set_pubkey(certificate, key);
    extend(certificate, NID_basic_constraints, issuer ? "CA:FALSE" : "critical,CA:TRUE");
    if (names) extend(certificate, NID_subject_alt_name, names);
    int done = X509_sign(certificate, issuer_key, EVP_sha256()) > 0;
    FILE *file = fopen(path, "w");
    done = done && file && PEM_write_PrivateKey(file, key, NULL, NULL, 0, NULL, NULL)
        && PEM_write_X509(file, certificate);
    if (file) fclose(file);
    if (issuer) {
        X509_free(issuer_certificate);
        EVP_PKEY_free(issuer_key);
    }
    X509_free(certificate);
    EVP_PKEY_free(key);
    return done;
}

tls_peer *tls_peer_create(const char *file, const char *authority, int version, const char *suites) {
    SSL_CTX *context = SSL_CTX_new(TLS_server_method());
    SSL_CTX_set_security_level(context, 0);
    SSL_CTX_set_min_proto_version(context, version);
    SSL_CTX_set_max_proto_version(context, version);
    if (suites) SSL_CTX_set_cipher_list(context, suites);
    int done = SSL_CTX_use_certificate_chain_file(context, file)
        && SSL_CTX_use_PrivateKey_file(context, file, SSL_FILETYPE_PEM)
        && (!authority || SSL_CTX_load_verify_file(context, authority));
    if (authority) SSL_CTX_set_verify(context, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, NULL);
    tls_peer *peer = done ? calloc(1, sizeof *peer) : NULL;
    if (peer) {
        peer->ssl = SSL_new(context);
        peer->in = BIO_new(BIO_s_mem());
        peer->out = BIO_new(BIO_s_mem());
        SSL_set_bio(peer->ssl, peer->in, peer->out);
        SSL_set_accept_state(peer->ssl);
    }
    SSL_CTX_free(context);
    return peer;
}

void tls_peer_destroy(tls_peer *peer) {
    if (peer) SSL_free(peer->ssl);
    free(peer);
}

void tls_peer_feed(tls_peer *peer, const void *octets, size_t count) {
    if (count > 0) BIO_write(peer->in, octets, (int)count);
}

long tls_peer_take(tls_peer *peer, void *octets, size_t capacity) {
    int count = BIO_read(peer->out, octets, (int)capacity);
    return count > 0 ? count : 0;
}

int tls_peer_shake_hands(tls_peer *peer) {
    int result = SSL_do_handshake(peer->ssl);
    if (result == 1) return 1;
    return SSL_get_error(peer->ssl, result) == SSL_ERROR_WANT_READ ? 0 : -1;
}

long tls_peer_read(tls_peer *peer, void *octets, size_t capacity) {
    int count = SSL_read(peer->ssl, octets, (int)capacity);
    return count > 0 ? count : 0;
}

int tls_peer_write(tls_peer *peer, const void *octets, size_t count) {
    return SSL_write(peer->ssl, octets, (int)count) == (int)count;
}

void tls_peer_end(tls_peer *peer) { SSL_shutdown(peer->ssl); }

int tls_peer_renegotiate(tls_peer *peer) {
    return SSL_renegotiate(peer->ssl) == 1 && SSL_do_handshake(peer->ssl) == 1;
}

const char *tls_peer_name(const tls_peer *peer) {
    return SSL_get_servername(peer->ssl, TLSEXT_NAMETYPE_host_name);
}

int tls_peer_knows_client(const tls_peer *peer) { return SSL_get0_peer_certificate(peer->ssl) != NULL; }
