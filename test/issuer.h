/*
 * test/issuer.h - an identity provider of the test's own: keys, their JWKS, and tokens that it signs.
 *     issuer_open(&issuer);
 *     token = issuer_sign(&issuer, op, "{'alg':'RS256','kid':'rsa'}", "{'sub':'ada','exp':2000000000}");
 * Apostrophes stand for double quotes.
 */
#pragma once
#include <openssl/evp.h>

#include "base/op.h"

struct issuer {
    EVP_PKEY *rsa, *ec;
};

void issuer_open(struct issuer *issuer);
void issuer_close(struct issuer *issuer);

/* With the kids "rsa" and "ec". `more` is put behind them: ",{...}". */
struct slice issuer_jwks(const struct issuer *issuer, struct op *op, const char *more);

/* Signed as the header says: RS256, ES256; HS256 with the JWKS's own bytes as the secret; anything else not at all. */
struct slice issuer_sign(const struct issuer *issuer, struct op *op, const char *header, const char *claims);

/* As SDKs make them for the emulator: the key's text is in the place of a signature. */
struct slice issuer_emulator_token(struct op *op, const char *key, const char *claims);

/* type=aad&ver=1.0&sig=TOKEN, percent-encoded. */
struct slice issuer_authorization(struct op *op, struct slice token);

/* As RFC 7515 has it. */
void issuer_encode(struct buf *out, struct slice bytes);
