#include "CNettle.h"

#include <nettle/hmac.h>
#include <nettle/md5.h>
#include <nettle/sha1.h>
#include <nettle/sha2.h>
#include <nettle/version.h>

void portero_md5(const uint8_t *octets, size_t length, uint8_t *digest) {
    struct md5_ctx context;
    md5_init(&context);
    md5_update(&context, length, octets);
    md5_digest(&context, MD5_DIGEST_SIZE, digest);
}

void portero_sha1(const uint8_t *octets, size_t length, uint8_t *digest) {
    struct sha1_ctx context;
    sha1_init(&context);
    sha1_update(&context, length, octets);
    sha1_digest(&context, SHA1_DIGEST_SIZE, digest);
}

void portero_sha256(const uint8_t *octets, size_t length, uint8_t *digest) {
    struct sha256_ctx context;
    sha256_init(&context);
    sha256_update(&context, length, octets);
    sha256_digest(&context, SHA256_DIGEST_SIZE, digest);
}

void portero_sha512_256(const uint8_t *octets, size_t length, uint8_t *digest) {
    struct sha512_256_ctx context;
    sha512_256_init(&context);
    sha512_256_update(&context, length, octets);
    sha512_256_digest(&context, SHA512_256_DIGEST_SIZE, digest);
}

void portero_hmac_sha1(
    const uint8_t *key, size_t keyLength, const uint8_t *octets, size_t length, uint8_t *digest) {
    struct hmac_sha1_ctx context;
    hmac_sha1_set_key(&context, keyLength, key);
    hmac_sha1_update(&context, length, octets);
    hmac_sha1_digest(&context, SHA1_DIGEST_SIZE, digest);
}

void portero_hmac_sha256(
    const uint8_t *key, size_t keyLength, const uint8_t *octets, size_t length, uint8_t *digest) {
    struct hmac_sha256_ctx context;
    hmac_sha256_set_key(&context, keyLength, key);
    hmac_sha256_update(&context, length, octets);
    hmac_sha256_digest(&context, SHA256_DIGEST_SIZE, digest);
}

int portero_nettle_version(void) { return nettle_version_major() << 8 | nettle_version_minor(); }
