#pragma once
#include <stddef.h>

// The other side of a TLS connection, for tests: a server without a socket, and certificates for it.

/// Makes a key and a certificate and writes both to a PEM file. `names` as in openssl's subjectAltName
/// ("DNS:pbx.example.org,IP:192.0.2.1"; NULL: none), the times in seconds from now, `issuer` the file of an authority
/// (NULL: it is one). 0 on failure.
int tls_peer_issue(
    const char *file, const char *subject, const char *names, long begins, long ends, const char *issuer);

typedef struct tls_peer tls_peer;

/// A server with the certificate of that file. `authority`: whose clients alone are taken (NULL: any); `version`: the only
/// one, as in TLS1_2_VERSION (0: any); `suites`: of TLS 1.2 (NULL: all). NULL on failure.
tls_peer *tls_peer_create(const char *file, const char *authority, int version, const char *suites);
void tls_peer_destroy(tls_peer *peer);
void tls_peer_feed(tls_peer *peer, const void *octets, size_t count);
long tls_peer_take(tls_peer *peer, void *octets, size_t capacity);
/// 1: the handshake is over, 0: it is not, -1: it failed.
int tls_peer_shake_hands(tls_peer *peer);
long tls_peer_read(tls_peer *peer, void *octets, size_t capacity);
int tls_peer_write(tls_peer *peer, const void *octets, size_t count);
/// Says that nothing follows.
void tls_peer_end(tls_peer *peer);
/// Asks for another handshake (TLS 1.2). 1: it was said.
int tls_peer_renegotiate(tls_peer *peer);
/// The server_name that the client asked for; NULL: none.
const char *tls_peer_name(const tls_peer *peer);
/// Whether the client showed a certificate.
int tls_peer_knows_client(const tls_peer *peer);
