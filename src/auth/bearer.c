/* src/auth/bearer.c - the claims of tokens: when, by whom, for whom, about whom. */
#include <assert.h>
#include <math.h>
#include <stdlib.h>

#include "auth/auth.h"
#include "auth/bearer.h"
#include "base/encode.h"
#include "base/heap.h"
#include "base/limits.h"

struct bearer {
    struct arena memory;
    struct jwt_keys *keys;
    struct roles *roles; /* NULL: nobody has one */
    struct slice issuer, *audience;
    size_t audience_count;
};

static void keep_names(struct bearer *bearer, const struct bearer_options *options)
{
    arena_init(&bearer->memory, SIZE_MAX);
    bearer->issuer = arena_copy(&bearer->memory, slice_of(options->issuer));
    bearer->audience = arena_alloc(&bearer->memory, options->audience_count * sizeof(*bearer->audience));
    bearer->audience_count = options->audience_count;
    for (size_t i = 0; i < options->audience_count; i++)
        bearer->audience[i] = arena_copy(&bearer->memory, slice_of(options->audiences[i]));
}

/* Says which of the texts it is about. */
static enum status about(struct op *op, const char *what, enum status st)
{
    if (st == ST_OK)
        return ST_OK;
    return op_fail(op, ST_BAD_REQUEST, "%s: %s", what,
                   arena_text(&op->arena, slice_of(op->error ? op->error : "")));
}

enum status bearer_open(struct op *op, const struct bearer_options *options, struct bearer **bearer)
{
    struct bearer *made = heap_allocate(sizeof(*made));
    enum status st;

    assert(options->issuer);
    assert(options->audience_count > 0);
    keep_names(made, options);
    TRY(about(op, "the JWKS", jwt_keys_parse(op, options->jwks, &made->keys)));
    if (options->roles.data)
        TRY(about(op, "the file of roles", roles_parse(op, options->roles, &made->roles)));
    *bearer = made;
    made = NULL;
out:
    bearer_close(made);
    return st;
}

void bearer_close(struct bearer *bearer)
{
    if (!bearer)
        return;
    jwt_keys_free(bearer->keys);
    roles_free(bearer->roles);
    arena_free(&bearer->memory);
    free(bearer);
}

const struct roles *bearer_roles(const struct bearer *bearer)
{
    return bearer->roles;
}

/* --- times: seconds since 1970, which may have a fraction --- */

enum { SECONDS_MAX = 1000 * 1000 * 1000 }; /* times a hundred: the year 5138 */

static bool read_time(struct json claims, const char *name, int64_t *ms)
{
    struct json value = json_get(claims, name);
    double seconds = json_kind(value) == JSON_NUMBER ? json_double(value) : NAN;

    if (!(seconds >= 0 && seconds < 100.0 * SECONDS_MAX)) /* also false for NaN */
        return false;
    *ms = (int64_t)(seconds * 1000);
    return true;
}

static bool has(struct json claims, const char *name)
{
    return json_kind(json_get(claims, name)) != JSON_UNDEFINED;
}

static enum status check_begun(struct op *op, struct json claims, const char *name)
{
    char now[HTTP_DATE_SIZE + 1], from[HTTP_DATE_SIZE + 1];
    int64_t ms;

    if (!has(claims, name))
        return ST_OK;
    if (!read_time(claims, name, &ms))
        return op_fail(op, ST_TOKEN_MALFORMED, AUTH_BLOCKED "Provided AAD token has no time in its claim %s.",
                       name);
    if (op->now_ms + JWT_LEEWAY_MS >= ms)
        return ST_OK;
    http_date_format(ms, from);
    http_date_format(op->now_ms, now);
    return op_fail(op, ST_TOKEN_EARLY,
                   AUTH_BLOCKED "Provided AAD token is not valid before [%s]. Current server time is [%s].",
                   from, now);
}

enum status bearer_check_times(struct op *op, const struct jwt *jwt)
{
    char now[HTTP_DATE_SIZE + 1], until[HTTP_DATE_SIZE + 1];
    int64_t ms = 0;
    enum status st;

    if (!read_time(jwt->claims, "exp", &ms))
        TRY(op_fail(op, ST_TOKEN_MALFORMED, AUTH_BLOCKED "Provided AAD token does not say when it expires."));
    TRY(check_begun(op, jwt->claims, "nbf"));
    TRY(check_begun(op, jwt->claims, "iat"));
    if (op->now_ms < ms + JWT_LEEWAY_MS)
        goto out;
    http_date_format(ms, until);
    http_date_format(op->now_ms, now);
    st = op_fail(op, ST_TOKEN_EXPIRED,
                 AUTH_BLOCKED
                 "Provided AAD token has been expired since [%s]. Current server time is [%s]. Please "
                 "refresh the AAD token.",
                 until, now);
out:
    return st;
}

/* --- by whom, for whom --- */

static bool is_audience(const struct bearer *bearer, struct json value)
{
    for (size_t i = 0; json_kind(value) == JSON_STRING && i < bearer->audience_count; i++)
        if (slice_equal(json_string(value), bearer->audience[i]))
            return true;
    return false;
}

/* The claim is a text or an array of them. */
static bool is_for_us(const struct bearer *bearer, struct json claim)
{
    struct json_iter value = json_iter(claim);

    if (json_kind(claim) != JSON_ARRAY)
        return is_audience(bearer, claim);
    while (json_next(&value))
        if (is_audience(bearer, value.value))
            return true;
    return false;
}

static enum status check_names(struct op *op, const struct bearer *bearer, const struct jwt *jwt)
{
    struct slice issuer = jwt_text(jwt->claims, "iss");

    if (!issuer.data || !slice_equal(issuer, bearer->issuer))
        return op_fail(op, ST_TOKEN_ISSUER,
                       AUTH_BLOCKED "Provided AAD token has an issuer that is not trusted here.");
    if (!is_for_us(bearer, json_get(jwt->claims, "aud")))
        return op_fail(op, ST_TOKEN_AUDIENCE, AUTH_BLOCKED "Provided AAD token is for another audience.");
    return ST_OK;
}

/* --- about whom --- */

/* An empty text names nobody. */
static struct slice claim(const struct jwt *jwt, const char *name)
{
    struct slice text = jwt_text(jwt->claims, name);

    return text.size ? text : (struct slice){ 0 };
}

enum status bearer_principal(struct op *op, const struct jwt *jwt, struct principal *principal)
{
    *principal = (struct principal){ .oid = claim(jwt, "oid"),
                                     .sub = claim(jwt, "sub"),
                                     .appid = claim(jwt, "appid"),
                                     .groups = json_get(jwt->claims, "groups") };
    if (!principal->appid.data)
        principal->appid = claim(jwt, "azp"); /* as tokens of version 2.0 call it */
    if (!principal_name(principal).data)
        return op_fail(op, ST_TOKEN_NOBODY, AUTH_BLOCKED "Provided AAD token has no object identifier.");
    return ST_OK;
}

enum status bearer_check(struct op *op, const struct bearer *bearer, const struct jwt *jwt,
                         struct principal *principal)
{
    enum status st;

    TRY(jwt_check_signature(op, jwt, bearer->keys));
    TRY(bearer_check_times(op, jwt));
    TRY(check_names(op, bearer, jwt));
    TRY(bearer_principal(op, jwt, principal));
out:
    return st;
}
