#pragma once
#include <stddef.h>
#include <stdint.h>

// A TLS client without a socket: octets of the peer go in, octets for the peer come out. libssl is loaded when the
// first client is made: an appliance without TLS accounts never pays for it.

typedef struct portero_tls portero_tls;

struct portero_tls_settings {
    /// File or folder of CA certificates in PEM; NULL: the system's store.
    const char *authorities;
    /// Whether a chain that does not end at one of them ends the handshake.
    int verifies;
    /// Our own certificate chain and its key, PEM files; NULL: none.
    const char *certificate;
    const char *key;
    /// For the server_name extension; NULL: none.
    const char *server_name;
    /// At which certificates are judged, seconds since 1970; 0: now.
    int64_t time;
};

enum portero_tls_step { PORTERO_TLS_DONE, PORTERO_TLS_WAITS, PORTERO_TLS_FAILED };

/// What a certificate says. Texts and octets are bounded: what does not fit is left out.
struct portero_certificate {
    char subject[256];
    char issuer[256];
    /// Seconds since 1970.
    int64_t not_before;
    int64_t not_after;
    /// SHA-256 of its SubjectPublicKeyInfo.
    uint8_t key_digest[32];
};

enum portero_name_kind { PORTERO_NAME_DNS, PORTERO_NAME_URI, PORTERO_NAME_ADDRESS };

/// A client that has said nothing yet. NULL: `failure` says why.
portero_tls *portero_tls_create(const struct portero_tls_settings *settings, char *failure, size_t capacity);
void portero_tls_destroy(portero_tls *tls);

/// Octets of the peer. 0: out of memory.
int portero_tls_feed(portero_tls *tls, const void *octets, size_t count);
/// Takes octets for the peer; 0: there are none.
long portero_tls_take(portero_tls *tls, void *octets, size_t capacity);

/// Goes on with the handshake. After FAILED `failure` says why.
enum portero_tls_step portero_tls_shake_hands(portero_tls *tls, char *failure, size_t capacity);
/// What the peer said; 0: nothing yet; -1: the peer has ended it; -2: it failed, `failure` says why.
long portero_tls_read(
    portero_tls *tls, void *octets, size_t capacity, char *failure, size_t failure_capacity);
/// Encrypts all of it; 0: it failed.
int portero_tls_write(portero_tls *tls, const void *octets, size_t count);
/// Says that nothing follows.
void portero_tls_end(portero_tls *tls);

/// `TLSv1.3`; NULL before the handshake.
const char *portero_tls_version(const portero_tls *tls);
/// The peer's own certificate, else the one that failed the chain; 0: none came.
int portero_tls_certificate(const portero_tls *tls, struct portero_certificate *certificate);
/// Why the chain was not good; NULL: it was. The text stays valid for ever.
const char *portero_tls_chain_failure(const portero_tls *tls);
/// Tells the subject alternative names of the peer's certificate.
void portero_tls_names(
    const portero_tls *tls, void (*name)(void *context, enum portero_name_kind, const unsigned char *, int),
    void *context);
/// What our own certificate says; 0: there is none.
int portero_tls_own_certificate(const portero_tls *tls, struct portero_certificate *certificate);
