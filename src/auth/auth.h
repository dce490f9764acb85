/*
 * src/auth/auth.h - who sent a request, and whether they may.
 * Master keys: the client signs verb, resource type, link and date with a key both sides know.
 * There are up to four, so that one can be replaced while clients use another, and two of
 * them are for reading only.
 * Resource tokens: we sign a grant (token/grant.h) with such a key, and the client brings it back.
 * Bearer tokens: an identity provider signs who the client is (bearer.h), and roles say what that one may do.
 *
 * Ownership. The caller owns an auth from auth_open() to auth_close().
 * Threads. Any. auth_replace() and auth_set_bearer() wait for the checks that are under way, and for nothing else.
 *
 * Promises
 * 1. Signatures are compared in constant time.
 * 2. A client may have signed the link as typed, as sent, or as a rid: each way is accepted. A last segment that is
 *    a name is no rid: a signature over it alone would hold for everything of that name.
 * 3. A refusal tells what the server signed, never what the right signature is.
 * 4. A key that was replaced opens nothing from auth_replace() on; a request that was let in goes on.
 * 5. A key for reading opens nothing that writes.
 */
#pragma once
#include "auth/bearer.h"
#include "base/exchange.h"
#include "token/grant.h"

struct auth;

/* The public constant that emulators and SDK samples share. */
extern const char auth_emulator_key[];

enum auth_key { AUTH_PRIMARY, AUTH_SECONDARY, AUTH_PRIMARY_READONLY, AUTH_SECONDARY_READONLY, AUTH_KEYS_MAX };

/* As the service calls them: primary, secondary, primaryReadonly, secondaryReadonly. */
extern const char *const auth_key_names[AUTH_KEYS_MAX];

/* A key is 1 to 256 bytes; those we make have 64, as the service's do. */
enum { AUTH_KEY_BYTES_MAX = 256, AUTH_KEY_TEXT_MAX = (AUTH_KEY_BYTES_MAX + 2) / 3 * 4, AUTH_KEY_BYTES = 64 };

/* Keys in the order of enum auth_key, NULL where there is none; at least one. */
enum status auth_open(struct op *op, const char *const *base64_keys, size_t count, struct auth **auth);
void auth_close(struct auth *auth); /* NULL is welcome */

/* Replaces all keys by these. When one of them is no key, nothing changes. */
enum status auth_replace(struct op *op, struct auth *auth, const char *const *base64_keys, size_t count);

/*
 * From now on tokens are checked against this, which is auth's own from here on. NULL: none is accepted but the
 * emulator's, whose third part is the well-known key instead of a signature. That is accepted where an account's key
 * is the well-known one, and allows what the Data Contributor may.
 */
void auth_set_bearer(struct auth *auth, struct bearer *bearer);

/* How the service begins its refusals of bearer tokens; the account is called orrery. */
#define AUTH_BLOCKED "Request blocked by Auth orrery : "

/* Who sent a request. */
enum auth_kind { AUTH_BY_NOBODY, AUTH_BY_KEY, AUTH_BY_TOKEN, AUTH_BY_PRINCIPAL };
struct auth_who {
    enum auth_kind kind;        /* what they came with */
    bool is_known;              /* it was good; the rest holds only then */
    enum auth_key key;          /* AUTH_BY_KEY */
    struct grant grant;         /* AUTH_BY_TOKEN */
    struct principal principal; /* AUTH_BY_PRINCIPAL; its texts lie in the op's arena */
};

/* What a request asks for, in the words of its signature. */
struct auth_subject {
    struct slice type; /* docs, colls, ...; empty for the account */
    struct slice link; /* decoded: dbs/a/colls/b */
    struct slice rid;  /* the link's last rid; data is NULL where the link is made of names */
    bool writes;       /* keys for reading are refused */
};

/*
 * ST_UNAUTHORIZED, ST_FORBIDDEN or an ST_TOKEN_ error, with the service's words. A key was asked whether it may do it;
 * what a grant allows, or a principal's roles, is still to be asked.
 */
enum status auth_check(struct op *op, struct auth *auth, const struct request *request,
                       const struct auth_subject *subject, struct auth_who *who);

/* As roles_missing() and roles_allow_somewhere() tell, of the roles that are in use. */
unsigned auth_missing_actions(struct auth *auth, const struct principal *principal, unsigned actions,
                              const struct scope_names *scope);
bool auth_allows_somewhere(struct auth *auth, const struct principal *principal, unsigned action);

/*
 * The token that opens the metrics and nothing else: "Authorization: Bearer <token>", because what collects metrics can
 * send a fixed text and cannot sign. It is made of a key, any of the account's, and ends with it.
 */
enum status auth_make_metrics_token(struct op *op, const char *base64_key, struct slice *token);
enum status auth_check_metrics_token(struct op *op, struct auth *auth, const struct request *request);

/* type=resource&ver=1&sig=<signature>;<grant>; */
void auth_print_token(struct auth *auth, const struct grant *grant, struct buf *out);

/* Does what a client does: makes the authorization header of a request that has its x-ms-date. */
enum status auth_sign(struct op *op, const char *base64_key, const struct request *request,
                      const struct auth_subject *subject, struct slice *header);
