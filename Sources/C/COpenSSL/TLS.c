#include "TLS.h"
#include "LibSSL.h"
#include <openssl/err.h>
#include <openssl/x509v3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

struct portero_tls {
    SSL *ssl;
    BIO *in;
    BIO *out;
    int verifies;
    int chain_error;
    X509 *faulty;
};

// TLS 1.2 with forward secrecy and authenticated encryption alone; every suite of TLS 1.3 is such.
static const char suites[] = "ECDHE+AESGCM:ECDHE+CHACHA20:!aNULL";

static int fail(char *failure, size_t capacity, const char *what) {
    unsigned long error = libssl.ERR_peek_last_error();
    const char *reason = error ? libssl.ERR_reason_error_string(error) : NULL;
    snprintf(failure, capacity, "%s%s%s", what, reason ? ": " : "", reason ? reason : "");
    libssl.ERR_clear_error();
    return 0;
}

static int set_up(
    SSL_CTX *context, const struct portero_tls_settings *settings, char *failure, size_t capacity) {
    libssl.SSL_CTX_ctrl(context, SSL_CTRL_SET_MIN_PROTO_VERSION, TLS1_2_VERSION, NULL);
    libssl.SSL_CTX_set_options(context, SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION);
    if (settings->time)
        libssl.X509_VERIFY_PARAM_set_time(libssl.SSL_CTX_get0_param(context), (time_t)settings->time);
    libssl.SSL_CTX_ctrl(context, SSL_CTRL_MODE, SSL_MODE_RELEASE_BUFFERS, NULL);
    if (!libssl.SSL_CTX_set_cipher_list(context, suites)) return fail(failure, capacity, "no suite is left");
    if (settings->verifies && settings->authorities) {
        struct stat place;
        int is_folder = stat(settings->authorities, &place) == 0 && S_ISDIR(place.st_mode);
        int done = is_folder ? libssl.SSL_CTX_load_verify_dir(context, settings->authorities)
                             : libssl.SSL_CTX_load_verify_file(context, settings->authorities);
        if (!done) {
            char what[512];
            snprintf(what, sizeof what, "no CA certificates in %s", settings->authorities);
            return fail(failure, capacity, what);
        }
        // What the operator names is trusted, be it a root or not.
        libssl.X509_VERIFY_PARAM_set_flags(libssl.SSL_CTX_get0_param(context), X509_V_FLAG_PARTIAL_CHAIN);
    } else if (settings->verifies && !libssl.SSL_CTX_set_default_verify_paths(context)) {
        return fail(failure, capacity, "the system's CA certificates");
    }
    if (!settings->certificate) return 1;
    if (!libssl.SSL_CTX_use_certificate_chain_file(context, settings->certificate))
        return fail(failure, capacity, "the own certificate cannot be read");
    const char *key = settings->key ? settings->key : settings->certificate;
    if (!libssl.SSL_CTX_use_PrivateKey_file(context, key, SSL_FILETYPE_PEM)
        || !libssl.SSL_CTX_check_private_key(context))
        return fail(failure, capacity, "the key of the own certificate cannot be used");
    return 1;
}

// Remembers the first fault of the chain; whether it ends the handshake is the account's choice.
static int judge(int is_good, X509_STORE_CTX *store) {
    if (is_good) return 1;
    SSL *ssl = libssl.X509_STORE_CTX_get_ex_data(store, libssl.SSL_get_ex_data_X509_STORE_CTX_idx());
    portero_tls *tls = ssl ? libssl.BIO_get_ex_data(libssl.SSL_get_rbio(ssl), 0) : NULL;
    if (!tls) return 0;
    if (!tls->faulty) {
        tls->chain_error = libssl.X509_STORE_CTX_get_error(store);
        tls->faulty = libssl.X509_STORE_CTX_get_current_cert(store);
        if (tls->faulty) libssl.X509_up_ref(tls->faulty);
    }
    return !tls->verifies;
}

// A password would be asked for at the terminal.
static int no_password(char *buffer, int capacity, int writes, void *data) {
    (void)buffer, (void)capacity, (void)writes, (void)data;
    return 0;
}

portero_tls *portero_tls_create(const struct portero_tls_settings *settings, char *failure, size_t capacity) {
    if (!portero_ssl_load()) {
        snprintf(failure, capacity, "libssl is not there");
        return NULL;
    }
    libssl.ERR_clear_error();
    portero_tls *tls = calloc(1, sizeof *tls);
    SSL_CTX *context = tls ? libssl.SSL_CTX_new(libssl.TLS_client_method()) : NULL;
    if (!context) {
        fail(failure, capacity, "out of memory");
        free(tls);
        return NULL;
    }
    libssl.SSL_CTX_set_default_passwd_cb(context, no_password);
    libssl.SSL_CTX_set_verify(context, SSL_VERIFY_PEER, judge);
    tls->verifies = settings->verifies;
    if (!set_up(context, settings, failure, capacity)) {
        libssl.SSL_CTX_free(context);
        free(tls);
        return NULL;
    }
    tls->ssl = libssl.SSL_new(context);
    libssl.SSL_CTX_free(context);  // The client holds it.
    tls->in = libssl.BIO_new(libssl.BIO_s_mem());
    tls->out = libssl.BIO_new(libssl.BIO_s_mem());
    if (!tls->ssl || !tls->in || !tls->out) {
        fail(failure, capacity, "out of memory");
        libssl.BIO_free(tls->in);
        libssl.BIO_free(tls->out);
        if (tls->ssl) libssl.SSL_free(tls->ssl);
        free(tls);
        return NULL;
    }
    libssl.BIO_set_ex_data(tls->in, 0, tls);
    libssl.SSL_set_bio(tls->ssl, tls->in, tls->out);
    libssl.SSL_set_connect_state(tls->ssl);
    if (settings->server_name) {
        libssl.SSL_ctrl(
            tls->ssl, SSL_CTRL_SET_TLSEXT_HOSTNAME, TLSEXT_NAMETYPE_host_name, (void *)settings->server_name);
    }
    return tls;
}

void portero_tls_destroy(portero_tls *tls) {
    if (!tls) return;
    libssl.SSL_free(tls->ssl);  // With both BIOs.
    libssl.X509_free(tls->faulty);
    free(tls);
}

int portero_tls_feed(portero_tls *tls, const void *octets, size_t count) {
    return count == 0 || libssl.BIO_write(tls->in, octets, (int)count) == (int)count;
}

long portero_tls_take(portero_tls *tls, void *octets, size_t capacity) {
    int count = libssl.BIO_read(tls->out, octets, (int)capacity);
    return count > 0 ? count : 0;
}

enum portero_tls_step portero_tls_shake_hands(portero_tls *tls, char *failure, size_t capacity) {
    libssl.ERR_clear_error();
    int result = libssl.SSL_do_handshake(tls->ssl);
    if (result == 1) return PORTERO_TLS_DONE;
    if (libssl.SSL_get_error(tls->ssl, result) == SSL_ERROR_WANT_READ) return PORTERO_TLS_WAITS;
    fail(failure, capacity, "handshake failed");
    return PORTERO_TLS_FAILED;
}

long portero_tls_read(
    portero_tls *tls, void *octets, size_t capacity, char *failure, size_t failure_capacity) {
    libssl.ERR_clear_error();
    int count = libssl.SSL_read(tls->ssl, octets, (int)capacity);
    if (count > 0) return count;
    int error = libssl.SSL_get_error(tls->ssl, count);
    if (error != SSL_ERROR_WANT_READ && error != SSL_ERROR_ZERO_RETURN)
        fail(failure, failure_capacity, "TLS failed");
    libssl.ERR_clear_error();
    return error == SSL_ERROR_WANT_READ ? 0 : error == SSL_ERROR_ZERO_RETURN ? -1 : -2;
}

int portero_tls_write(portero_tls *tls, const void *octets, size_t count) {
    libssl.ERR_clear_error();
    int done = count == 0 || libssl.SSL_write(tls->ssl, octets, (int)count) == (int)count;
    libssl.ERR_clear_error();
    return done;
}

void portero_tls_end(portero_tls *tls) {
    libssl.SSL_shutdown(tls->ssl);
    libssl.ERR_clear_error();
}

const char *portero_tls_version(const portero_tls *tls) {
    return libssl.SSL_get0_peer_certificate(tls->ssl) ? libssl.SSL_get_version(tls->ssl) : NULL;
}

const char *portero_tls_chain_failure(const portero_tls *tls) {
    return tls->chain_error ? libssl.X509_verify_cert_error_string(tls->chain_error) : NULL;
}

static int64_t seconds(const ASN1_TIME *time) {
    int days = 0, rest = 0;
    ASN1_TIME *epoch = libssl.ASN1_TIME_set(NULL, 0);
    int known = epoch && time && libssl.ASN1_TIME_diff(&days, &rest, epoch, time);
    libssl.ASN1_TIME_free(epoch);
    return known ? (int64_t)days * 86400 + rest : 0;
}

static void describe(X509 *source, struct portero_certificate *certificate) {
    memset(certificate, 0, sizeof *certificate);
    libssl.X509_NAME_oneline(libssl.X509_get_subject_name(source), certificate->subject, sizeof certificate->subject);
    libssl.X509_NAME_oneline(libssl.X509_get_issuer_name(source), certificate->issuer, sizeof certificate->issuer);
    certificate->not_before = seconds(libssl.X509_get0_notBefore(source));
    certificate->not_after = seconds(libssl.X509_get0_notAfter(source));
    unsigned char *key = NULL;
    int count = libssl.i2d_X509_PUBKEY(libssl.X509_get_X509_PUBKEY(source), &key);
    if (count > 0) libssl.EVP_Digest(key, (size_t)count, certificate->key_digest, NULL, libssl.EVP_sha256(), NULL);
    libssl.CRYPTO_free(key, NULL, 0);
    libssl.ERR_clear_error();
}

int portero_tls_certificate(const portero_tls *tls, struct portero_certificate *certificate) {
    X509 *source = libssl.SSL_get0_peer_certificate(tls->ssl);
    if (!source) source = tls->faulty;
    if (source) describe(source, certificate);
    return source != NULL;
}

int portero_tls_own_certificate(const portero_tls *tls, struct portero_certificate *certificate) {
    X509 *source = libssl.SSL_CTX_get0_certificate(libssl.SSL_get_SSL_CTX(tls->ssl));
    if (source) describe(source, certificate);
    return source != NULL;
}

void portero_tls_names(
    const portero_tls *tls, void (*name)(void *, enum portero_name_kind, const unsigned char *, int),
    void *context) {
    X509 *source = libssl.SSL_get0_peer_certificate(tls->ssl);
    GENERAL_NAMES *names = source ? libssl.X509_get_ext_d2i(source, NID_subject_alt_name, NULL, NULL) : NULL;
    for (int index = 0; index < libssl.OPENSSL_sk_num((const OPENSSL_STACK *)names); index++) {
        const GENERAL_NAME *entry = libssl.OPENSSL_sk_value((const OPENSSL_STACK *)names, index);
        const ASN1_STRING *text = NULL;
        enum portero_name_kind kind;
        switch (entry->type) {
        case GEN_DNS: kind = PORTERO_NAME_DNS, text = entry->d.dNSName; break;
        case GEN_URI: kind = PORTERO_NAME_URI, text = entry->d.uniformResourceIdentifier; break;
        case GEN_IPADD: kind = PORTERO_NAME_ADDRESS, text = entry->d.iPAddress; break;
        default: continue;
        }
        name(context, kind, libssl.ASN1_STRING_get0_data(text), libssl.ASN1_STRING_length(text));
    }
    libssl.GENERAL_NAMES_free(names);
    libssl.ERR_clear_error();
}
