/* test/unit/main/identity_test.c - the files that bearer tokens are checked against. */
#include <sys/stat.h>

#include "issuer.h"
#include "main/identity.h"
#include "test.h"

static const char *write_file(const char *name, const char *text, mode_t mode)
{
    struct buf path;
    FILE *file;

    buf_init(&path, &test_op()->arena);
    buf_printf(&path, "%s/%s", test_directory(), name);
    buf_byte(&path, '\0');
    file = fopen(path.data, "w");
    CHECK(file && fputs(text, file) >= 0 && fclose(file) == 0 && chmod(path.data, mode) == 0);
    return path.data;
}

static struct auth *open_auth(void)
{
    const char *key = auth_emulator_key;
    struct auth *auth = NULL;

    CHECK(auth_open(test_op(), &key, 1, &auth) == ST_OK);
    return auth;
}

static bool is_told(const char *reason)
{
    return test_op()->error && strstr(test_op()->error, reason);
}

TEST(public_keys_need_an_issuer_and_an_audience_and_the_rest_needs_public_keys)
{
    struct settings alone = { .jwks = "f" }, half = { .jwks = "f", .jwt_issuer = "i" },
                    roles = { .roles = "r" };
    struct settings none = { 0 };
    struct auth *auth = open_auth();
    struct identity identity = { 0 };

    CHECK(identity_open(test_op(), &none, auth, &identity) == ST_OK);
    CHECK(identity_open(test_op(), &alone, auth, &identity) != ST_OK &&
          is_told("--jwt-issuer and --jwt-audience"));
    CHECK(identity_open(test_op(), &half, auth, &identity) != ST_OK);
    CHECK(identity_open(test_op(), &roles, auth, &identity) != ST_OK && is_told("go with --jwks"));
    auth_close(auth);
}

TEST(a_file_that_is_no_good_or_that_others_may_write_is_refused_by_its_name)
{
    struct settings settings = { .jwt_issuer = "i", .jwt_audiences = { { "a" }, 1 } };
    struct auth *auth = open_auth();
    struct identity identity = { 0 };
    struct issuer issuer;
    const char *good;

    issuer_open(&issuer);
    good = arena_text(&test_op()->arena, issuer_jwks(&issuer, test_op(), ""));
    settings.jwks = "/nowhere/jwks.json";
    CHECK(identity_open(test_op(), &settings, auth, &identity) != ST_OK && is_told("cannot read the JWKS"));
    settings.jwks = write_file("jwks", "{}", 0644);
    CHECK(identity_open(test_op(), &settings, auth, &identity) != ST_OK &&
          is_told("the JWKS: it is no JWKS"));
    settings.jwks = write_file("jwks", good, 0664);
    CHECK(identity_open(test_op(), &settings, auth, &identity) != ST_OK &&
          is_told("can be changed by others"));
    settings.jwks = write_file("jwks", good, 0644);
    CHECK(identity_open(test_op(), &settings, auth, &identity) == ST_OK);
    settings.roles = write_file("roles", "{\"assignments\":[{}]}", 0644);
    CHECK(identity_open(test_op(), &settings, auth, &identity) != ST_OK &&
          is_told("the file of roles: an assignment"));
    settings.roles = write_file("roles", "{}", 0644);
    CHECK(identity_open(test_op(), &settings, auth, &identity) == ST_OK);
    issuer_close(&issuer);
    auth_close(auth);
}
