/*
 * src/auth/hmac.h - HMAC-SHA256 with the key taken in once.
 * Every request is signed, so a signature must not allocate. OpenSSL's HMAC allocates several times for each. This
 * one uses only OpenSSL's SHA-256, which is the part that takes time.
 */
#pragma once
#define OPENSSL_SUPPRESS_DEPRECATED /* the plain SHA-256 calls: they alone need no allocation */
#include <openssl/sha.h>

#include "base/slice.h"

enum { HMAC_BYTES = SHA256_DIGEST_LENGTH };

/* SHA-256 as it stands after each half of the key. Copy it freely; wipe it when done. */
struct hmac {
    SHA256_CTX inner, outer;
};

void hmac_init(struct hmac *hmac, struct slice key);
void hmac_sign(const struct hmac *hmac, struct slice text, uint8_t signature[HMAC_BYTES]);
