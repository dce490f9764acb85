/*
 * src/auth/auth.h - who sent a request, and whether they may.
 * Master keys: the client signs verb, resource type, link and date with a key both sides know.
 * Resource tokens: we sign a grant (token/grant.h) with such a key, and the client brings it back.
 *
 * Ownership. The caller owns an auth from auth_open() to auth_close().
 * Threads. Any, without locks: keys do not change while the server runs.
 *
 * Promises
 * 1. Signatures are compared in constant time.
 * 2. A client may have signed the link as typed, as sent, or as a rid: each way is accepted.
 * 3. A refusal tells what the server signed, never what the right signature is.
 */
#pragma once
#include "base/exchange.h"
#include "token/grant.h"

struct auth;

/* The public constant that emulators and SDK samples share. */
extern const char auth_emulator_key[];

enum { AUTH_KEYS_MAX = 4 };

enum status auth_open(struct op *op, const char *const *base64_keys, size_t count, struct auth **auth);
void auth_close(struct auth *auth); /* NULL is welcome */

/* What is asked for, in the words of a signature. */
struct auth_subject {
    struct slice type;     /* docs, colls, ...; empty for the account */
    struct slice link;     /* decoded: dbs/a/colls/b */
    struct slice raw_link; /* the same as it came, percent-encoded */
    struct slice last;     /* the link's last segment, which may be a rid */
};

/*
 * ST_UNAUTHORIZED or ST_FORBIDDEN, with the service's words. With a resource token, `grant` says what it says;
 * with a master key the grant's permission is of size 0.
 */
enum status auth_check(struct op *op, struct auth *auth, const struct request *request,
                       const struct auth_subject *subject, struct grant *grant);

/* type=resource&ver=1&sig=<signature>;<grant>; */
void auth_print_token(const struct auth *auth, const struct grant *grant, struct buf *out);
