/*
 * src/auth/jwt.h - JSON Web Tokens (RFC 7519) whose signatures are RS256 or ES256, and the public keys to check them by
 * (RFC 7517, a "JWKS"). Only jwt.c knows OpenSSL's calls for public keys.
 *
 * A key serves one algorithm, which its kind decides and not the token. So neither "none" nor a public key taken for a
 * secret one leads anywhere.
 *
 * Ownership. The caller owns keys from jwt_keys_parse() to jwt_keys_free(). What a token is made of lies in the op's
 *     arena.
 * Threads. Keys may be shared. All that changes in them is which tokens they remember to have verified: clients send
 *     the same one for an hour.
 */
#pragma once
#include "base/op.h"
#include "json/json.h"

struct jwt_keys;

/* Takes the keys for signatures that have a kid; others are passed over. ST_BAD_REQUEST when none is left. */
enum status jwt_keys_parse(struct op *op, struct slice text, struct jwt_keys **keys);
void jwt_keys_free(struct jwt_keys *keys); /* NULL is welcome */

struct jwt {
    struct json header, claims; /* objects */
    struct slice signed_text;   /* the first two parts, as they came */
    struct slice text;          /* all of it */
    struct slice signature;     /* the third part, as it came */
};

/* Takes a token apart and checks nothing else. ST_TOKEN_MALFORMED. */
enum status jwt_parse(struct op *op, struct slice token, struct jwt *jwt);

/* ST_TOKEN_KEY when no key has the token's kid and algorithm; ST_TOKEN_SIGNATURE. */
enum status jwt_check_signature(struct op *op, const struct jwt *jwt, struct jwt_keys *keys);

/* The text of a member, data NULL where it has none. */
struct slice jwt_text(struct json object, const char *name);

/* Base64 as tokens have it (RFC 7515, section 2): '-' and '_', no padding, one text for the same bytes. */
bool jwt_decode(struct arena *arena, struct slice text, struct slice *bytes);
