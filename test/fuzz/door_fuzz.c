/*
 * test/fuzz/door_fuzz.c - what decides who comes in, and where to: paths, authorization headers, public keys, roles.
 * The first byte picks the parser; the rest is its input.
 */
#include <assert.h>
#include <string.h>

#include "auth/auth.h"
#include "route/path.h"
#include "route/table.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* An EC key of P-256 (RFC 7515, appendix A.3). */
#define JWKS                                                            \
    "{\"keys\":[{\"kty\":\"EC\",\"crv\":\"P-256\",\"kid\":\"k\",\"x\":" \
    "\"f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU\","                  \
    "\"y\":\"x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0\"}]}"

/* A path has as many segments as its shape, and one that has a route has every owner that the route's shape names. */
static void fuzz_path(struct op *op, struct slice input)
{
    struct path path;
    size_t slashes = 0;
    bool known;

    if (path_parse(op, input, &path) != ST_OK)
        return;
    for (size_t i = 0; i < path.shape.size; i++)
        slashes += path.shape.data[i] == '/';
    assert(path.count == 0 || slashes == path.count - 1);
    for (int method = METHOD_GET; method <= METHOD_OTHER; method++) {
        const struct route *route = route_find((enum method)method, MARK_NONE, path.shape, &known);
        unsigned owners = route ? route_owners(route) : 0;

        assert(!(owners & OWNER_DATABASE) || path.count > 1);
        assert(!(owners & OWNER_CONTAINER) || path.count > 3);
        assert(!(owners & OWNER_USER) || path.count > 4);
    }
}

static struct auth *open_auth(struct op *op)
{
    static const char *const audiences[] = { "a" };
    const char *key = auth_emulator_key;
    struct bearer_options options = {
        .jwks = slice_of(JWKS), .issuer = "i", .audiences = audiences, .audience_count = 1
    };
    struct bearer *bearer = NULL;
    struct auth *auth = NULL;
    enum status st = auth_open(op, &key, 1, &auth);

    assert(st == ST_OK);
    st = bearer_open(op, &options, &bearer);
    assert(st == ST_OK);
    auth_set_bearer(auth, bearer);
    return auth;
}

/* The text is a header as it is, and the token of one: nobody has the private key, so no token but the emulator's serves. */
static void fuzz_header(struct op *op, struct slice input)
{
    struct request request = { .method = METHOD_GET };
    struct auth_subject subject = { .type = slice_of("dbs"), .link = slice_of("dbs/d") };
    struct auth *auth = open_auth(op);
    struct auth_who who;
    struct buf token;

    request.header[HEADER_AUTHORIZATION] = input;
    if (auth_check(op, auth, &request, &subject, &who) == ST_OK)
        assert(who.is_known && who.kind == AUTH_BY_PRINCIPAL && who.principal.is_contributor);
    buf_init(&token, &op->arena);
    buf_text(&token, "type=aad&ver=1.0&sig=");
    buf_slice(&token, input);
    request.header[HEADER_AUTHORIZATION] = buf_as_slice(&token);
    if (auth_check(op, auth, &request, &subject, &who) == ST_OK)
        assert(who.principal.is_contributor && principal_name(&who.principal).size > 0);
    auth_close(auth);
}

static void fuzz_keys(struct op *op, struct slice input)
{
    struct jwt_keys *keys = NULL;

    if (jwt_keys_parse(op, input, &keys) == ST_OK)
        assert(keys);
    jwt_keys_free(keys);
}

/* Whatever a file says, who is nobody may do nothing. */
static void fuzz_roles(struct op *op, struct slice input)
{
    struct scope_names scope = { slice_of("d"), slice_of("c") };
    struct principal nobody = { 0 };
    struct roles *roles = NULL;

    if (roles_parse(op, input, &roles) == ST_OK)
        assert(roles_missing(roles, &nobody, ACTION_READ, &scope) == ACTION_READ);
    roles_free(roles);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static void (*const targets[])(struct op * op, struct slice input) = { fuzz_path, fuzz_header, fuzz_keys,
                                                                           fuzz_roles };
    struct op op;

    if (size == 0)
        return 0;
    op_init(&op, env_system(), 64 << 20);
    op_begin(&op, 1000);
    targets[data[0] % 4](&op, slice_make(data + 1, size - 1));
    op_free(&op);
    return 0;
}
