/*
 * src/auth/bearer.h - tokens of an identity provider: whether one is good now and here, and who it speaks of.
 * What they are checked against is read from files, and replaced as a whole when a file changes.
 *
 * Ownership. The caller owns a bearer from bearer_open() to bearer_close(); it keeps copies of what it was given.
 * Threads. A bearer may be shared, as it never changes.
 */
#pragma once
#include "auth/jwt.h"
#include "auth/roles.h"

struct bearer;

struct bearer_options {
    struct slice jwks;            /* JSON: the provider's public keys */
    const char *issuer;           /* what "iss" must be */
    const char *const *audiences; /* one of which must be in "aud" */
    size_t audience_count;
    struct slice roles; /* JSON; data is NULL where nobody has one */
};

/* ST_BAD_REQUEST, with what is wrong. */
enum status bearer_open(struct op *op, const struct bearer_options *options, struct bearer **bearer);
void bearer_close(struct bearer *bearer); /* NULL is welcome */

/* NULL when there are none. */
const struct roles *bearer_roles(const struct bearer *bearer);

/* Signature, times, issuer and audience, in this order; one of the ST_TOKEN_ errors, in the service's words. */
enum status bearer_check(struct op *op, const struct bearer *bearer, const struct jwt *jwt,
                         struct principal *principal);

/* The times alone. */
enum status bearer_check_times(struct op *op, const struct jwt *jwt);

/* Whom the claims name, which must be somebody. */
enum status bearer_principal(struct op *op, const struct jwt *jwt, struct principal *principal);
