#pragma once
#include <stddef.h>
#include <stdint.h>

/// Each writes the digest of `length` octets: 16, 20, 32 and 32 octets.
void portero_md5(const uint8_t *octets, size_t length, uint8_t *digest);
void portero_sha1(const uint8_t *octets, size_t length, uint8_t *digest);
void portero_sha256(const uint8_t *octets, size_t length, uint8_t *digest);
void portero_sha512_256(const uint8_t *octets, size_t length, uint8_t *digest);

/// Each writes the HMAC under a key of `keyLength` octets: 20 and 32 octets.
void portero_hmac_sha1(
    const uint8_t *key, size_t keyLength, const uint8_t *octets, size_t length, uint8_t *digest);
void portero_hmac_sha256(
    const uint8_t *key, size_t keyLength, const uint8_t *octets, size_t length, uint8_t *digest);

/// The version of the library that is loaded: major << 8 | minor.
int portero_nettle_version(void);
