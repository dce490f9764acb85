/* test/unit/auth/bearer_test.c - bearer tokens: signatures, confusions, claims, and the emulator's form. */
#include "auth/auth.h"
#include "base/encode.h"
#include "base/limits.h"
#include "issuer.h"
#include "test.h"

enum { NOW_S = 1800000000 };

#define RSA "{'alg':'RS256','kid':'rsa','typ':'JWT'}"
#define EC "{'alg':'ES256','kid':'ec'}"
#define CLAIMS "'iss':'https://id.example/','aud':'https://db.example','sub':'ada'"
#define GOOD "{" CLAIMS ",'exp':1800003600,'nbf':1800000000,'iat':1800000000}"

/* A server that takes the tokens of one issuer, in January 2027. */
struct door {
    struct env *env;
    struct op op;
    struct auth *auth;
    struct issuer issuer;
};

static void open_door(struct door *door, const char *key, bool takes_tokens)
{
    static const char *const audiences[] = { "https://other.example", "https://db.example" };
    struct bearer_options options = { .issuer = "https://id.example/",
                                      .audiences = audiences,
                                      .audience_count = 2 };
    struct bearer *bearer = NULL;

    *door = (struct door){ .env = env_seeded(1, NOW_S * 1000LL) };
    op_init(&door->op, door->env, SIZE_MAX);
    op_begin(&door->op, 1000);
    issuer_open(&door->issuer);
    CHECK(auth_open(&door->op, &key, 1, &door->auth) == ST_OK);
    if (!takes_tokens)
        return;
    options.jwks = issuer_jwks(&door->issuer, &door->op, "");
    CHECK(bearer_open(&door->op, &options, &bearer) == ST_OK);
    auth_set_bearer(door->auth, bearer);
}

static void close_door(struct door *door)
{
    auth_close(door->auth);
    issuer_close(&door->issuer);
    op_free(&door->op);
    env_free(door->env);
}

static enum status knock(struct door *door, struct slice token, struct auth_who *who)
{
    struct request request = { .method = METHOD_GET };
    struct auth_subject subject = { .type = slice_of("dbs"), .link = slice_of("") };

    request.header[HEADER_AUTHORIZATION] = issuer_authorization(&door->op, token);
    return auth_check(&door->op, door->auth, &request, &subject, who);
}

static enum status try(struct door *door, const char *header, const char *claims)
{
    struct auth_who who;

    return knock(door, issuer_sign(&door->issuer, &door->op, header, claims), &who);
}

TEST(a_token_that_the_issuer_signed_says_who_it_is)
{
    static const char claims[] = "{" CLAIMS ",'oid':'o1','azp':'app','groups':['g1','g2'],'exp':1800003600}";
    struct auth_who who;
    struct door door;

    open_door(&door, "a2V5", true);
    for (int i = 0; i < 2; i++) {
        CHECK(knock(&door, issuer_sign(&door.issuer, &door.op, i ? EC : RSA, claims), &who) == ST_OK);
        CHECK(who.kind == AUTH_BY_PRINCIPAL && !who.principal.is_contributor);
        CHECK(slice_is(who.principal.oid, "o1") && slice_is(who.principal.sub, "ada"));
        CHECK(slice_is(who.principal.appid, "app") && json_count(who.principal.groups) == 2);
        CHECK(slice_is(principal_name(&who.principal), "o1"));
    }
    close_door(&door);
}

TEST(a_token_with_any_character_changed_is_refused)
{
    struct auth_who who;
    struct slice token;
    struct door door;
    char *text;

    open_door(&door, "a2V5", true);
    for (int i = 0; i < 2; i++) {
        token = issuer_sign(&door.issuer, &door.op, i ? EC : RSA, GOOD);
        text = arena_text(&door.op.arena, token);
        for (size_t at = 0; at < token.size; at++) {
            struct op_mark mark = op_mark(&door.op);
            char was = text[at];

            text[at] = was == 'A' ? 'B' : 'A';
            CHECK(knock(&door, slice_make(text, token.size), &who) != ST_OK);
            CHECK(error_row(knock(&door, slice_make(text, at), &who))->http ==
                  401); /* and any beginning of it */
            text[at] = was;
            op_rewind(&door.op, mark);
        }
        CHECK(knock(&door, slice_make(text, token.size), &who) == ST_OK);
    }
    close_door(&door);
}

/* The key decides what a signature is, whatever the token says. */
TEST(no_algorithm_can_be_taken_for_another)
{
    static const struct {
        const char *header;
        enum status expected;
    } asked[] = {
        { "{'alg':'none','kid':'rsa'}", ST_TOKEN_MALFORMED },
        { "{'alg':'none','kid':'rsa','signed':'RS256'}", ST_TOKEN_KEY },
        { "{'alg':'none','signed':'RS256'}", ST_TOKEN_KEY },
        { "{'alg':'HS256','kid':'rsa'}", ST_TOKEN_KEY },
        { "{'alg':'HS256','kid':'ec'}", ST_TOKEN_KEY },
        { "{'alg':'ES256','kid':'rsa'}", ST_TOKEN_KEY },
        { "{'alg':'RS256','kid':'ec'}", ST_TOKEN_KEY },
        { "{'alg':'rs256','kid':'rsa','signed':'RS256'}", ST_TOKEN_KEY },
        { "{'alg':['RS256'],'kid':'rsa'}", ST_TOKEN_KEY },
        { "{'alg':'RS256'}", ST_TOKEN_KEY },
        { "{'alg':'RS256','kid':''}", ST_TOKEN_KEY },
        { "{'alg':'RS256','kid':'other'}", ST_TOKEN_KEY },
        { "{'alg':'RS256','kid':'rsa','crit':['exp']}", ST_TOKEN_KEY },
        { "{'alg':'RS256','kid':'rsa','jwk':{'kty':'oct','k':'AA'}}", ST_OK },
    };
    struct door door;

    open_door(&door, "a2V5", true);
    for (size_t i = 0; i < sizeof(asked) / sizeof(asked[0]); i++)
        if (try(&door, asked[i].header, GOOD) != asked[i].expected)
            test_failed(__FILE__, __LINE__, asked[i].header);
    close_door(&door);
}

/* What is remembered is a token's signature, and nothing of when or for whom it is good. */
TEST(a_token_that_was_good_once_is_not_good_for_ever)
{
    struct auth_who who;
    struct slice token;
    struct door door, other;

    open_door(&door, "a2V5", true);
    open_door(&other, "a2V5", true);
    token = arena_copy(&other.op.arena, issuer_sign(&door.issuer, &door.op, RSA, GOOD));
    for (int i = 0; i < 3; i++)
        CHECK(knock(&door, token, &who) == ST_OK && slice_is(who.principal.sub, "ada"));
    CHECK(knock(&other, token, &who) == ST_TOKEN_SIGNATURE); /* each set of keys remembers for itself */
    env_advance_ms(door.env, 3600 * 1000 + JWT_LEEWAY_MS);
    op_begin(&door.op, 1000);
    CHECK(knock(&door, token, &who) == ST_TOKEN_EXPIRED);
    close_door(&door);
    close_door(&other);
}

TEST(a_token_of_another_issuer_with_the_same_kid_is_refused)
{
    struct door door, other;
    struct auth_who who;

    open_door(&door, "a2V5", true);
    open_door(&other, "a2V5", true);
    CHECK(knock(&door, issuer_sign(&other.issuer, &other.op, RSA, GOOD), &who) == ST_TOKEN_SIGNATURE);
    CHECK(knock(&door, issuer_sign(&other.issuer, &other.op, EC, GOOD), &who) == ST_TOKEN_SIGNATURE);
    close_door(&door);
    close_door(&other);
}

/* A minute is allowed for clocks that differ. */
TEST(claims_say_when_by_whom_for_whom_and_about_whom)
{
#define TIMES "'exp':1800003600"
    static const struct {
        const char *claims;
        enum status expected;
    } asked[] = {
        { GOOD, ST_OK },
        { "{" CLAIMS "," TIMES "}", ST_OK },
        { "{" CLAIMS "}", ST_TOKEN_MALFORMED },
        { "{" CLAIMS ",'exp':'1800003600'}", ST_TOKEN_MALFORMED },
        { "{" CLAIMS ",'exp':-1}", ST_TOKEN_MALFORMED },
        { "{" CLAIMS ",'exp':1e300}", ST_TOKEN_MALFORMED },
        { "{" CLAIMS ",'exp':1800000000.5}", ST_OK },
        { "{" CLAIMS ",'exp':1799999941}", ST_OK },
        { "{" CLAIMS ",'exp':1799999940}", ST_TOKEN_EXPIRED },
        { "{" CLAIMS "," TIMES ",'nbf':1800000060}", ST_OK },
        { "{" CLAIMS "," TIMES ",'nbf':1800000061}", ST_TOKEN_EARLY },
        { "{" CLAIMS "," TIMES ",'iat':1800000061}", ST_TOKEN_EARLY },
        { "{" CLAIMS "," TIMES ",'nbf':null}", ST_TOKEN_MALFORMED },
        { "{'aud':'https://db.example','sub':'ada'," TIMES "}", ST_TOKEN_ISSUER },
        { "{'iss':'https://id.example','aud':'https://db.example','sub':'ada'," TIMES "}", ST_TOKEN_ISSUER },
        { "{'iss':['https://id.example/'],'aud':'https://db.example','sub':'ada'," TIMES "}",
          ST_TOKEN_ISSUER },
        { "{'iss':'https://id.example/','sub':'ada'," TIMES "}", ST_TOKEN_AUDIENCE },
        { "{'iss':'https://id.example/','aud':'https://db','sub':'ada'," TIMES "}", ST_TOKEN_AUDIENCE },
        { "{'iss':'https://id.example/','aud':[],'sub':'ada'," TIMES "}", ST_TOKEN_AUDIENCE },
        { "{'iss':'https://id.example/','aud':['x',1,'https://other.example'],'sub':'ada'," TIMES "}",
          ST_OK },
        { "{'iss':'https://id.example/','aud':'https://db.example'," TIMES "}", ST_TOKEN_NOBODY },
        { "{'iss':'https://id.example/','aud':'https://db.example','sub':''," TIMES "}", ST_TOKEN_NOBODY },
        { "{'iss':'https://id.example/','aud':'https://db.example','sub':7," TIMES "}", ST_TOKEN_NOBODY },
        { "{'iss':'https://id.example/','aud':'https://db.example','appid':'app'," TIMES "}", ST_OK },
        { "[]", ST_TOKEN_MALFORMED },
        { "{", ST_TOKEN_MALFORMED },
    };
    struct door door;

    open_door(&door, "a2V5", true);
    for (size_t i = 0; i < sizeof(asked) / sizeof(asked[0]); i++)
        if (try(&door, RSA, asked[i].claims) != asked[i].expected)
            test_failed(__FILE__, __LINE__, asked[i].claims);
    close_door(&door);
}

TEST(what_is_no_token_is_refused_as_malformed)
{
    static const char *const texts[] = { "a",           "a.b",        "a.b.c",    "..",
                                         "e30.e30",     "e30.e30.",   "e30..e30", "e30.e30.AA.AA",
                                         "e30=.e30.AA", "W10.W10.AA", "!.!.!" };
    static char large[JWT_BYTES_MAX + 2];
    struct auth_who who;
    struct door door;

    open_door(&door, "a2V5", true);
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
        if (knock(&door, slice_of(texts[i]), &who) != ST_TOKEN_MALFORMED)
            test_failed(__FILE__, __LINE__, texts[i]);
    memset(large, 'A', sizeof(large) - 1);
    CHECK(knock(&door, slice_of(large), &who) == ST_TOKEN_MALFORMED);
    close_door(&door);
}

TEST(a_server_without_public_keys_takes_no_token_and_says_so)
{
    struct door door;

    open_door(&door, "a2V5", false);
    CHECK(try(&door, RSA, GOOD) == ST_TOKEN_DISABLED);
    CHECK(strstr(door.op.error, "--jwks"));
    close_door(&door);
}

/* --- the emulator's form --- */

TEST(the_well_known_key_in_the_place_of_a_signature_serves_where_it_is_the_key)
{
    struct slice token;
    struct auth_who who;
    struct door door;

    open_door(&door, auth_emulator_key, false);
    token = issuer_emulator_token(&door.op, auth_emulator_key, GOOD);
    CHECK(knock(&door, token, &who) == ST_OK && who.principal.is_contributor);
    CHECK(knock(&door, issuer_emulator_token(&door.op, "a2V5", GOOD), &who) == ST_TOKEN_SIGNATURE);
    CHECK(knock(&door, issuer_emulator_token(&door.op, "", GOOD), &who) == ST_TOKEN_MALFORMED);
    CHECK(knock(&door, issuer_emulator_token(&door.op, auth_emulator_key, "{'sub':'a','exp':1700000000}"),
                &who) == ST_TOKEN_EXPIRED);
    close_door(&door);
    open_door(&door, "a2V5", true);
    CHECK(knock(&door, issuer_emulator_token(&door.op, auth_emulator_key, GOOD), &who) == ST_TOKEN_DISABLED);
    CHECK(knock(&door, issuer_emulator_token(&door.op, "a2V5", GOOD), &who) == ST_TOKEN_DISABLED);
    close_door(&door);
}

TEST(padding_and_the_other_alphabet_do_not_matter_in_the_emulators_form)
{
    struct auth_who who;
    struct slice token;
    struct door door;
    struct buf out;

    open_door(&door, auth_emulator_key, false);
    token = issuer_emulator_token(&door.op, "", GOOD);
    buf_init(&out, &door.op.arena);
    buf_slice(&out, token);
    base64_encode(&out, slice_of(auth_emulator_key));
    CHECK(knock(&door, buf_as_slice(&out), &who) == ST_OK);
    close_door(&door);
}

/* --- public keys --- */

TEST(a_set_of_public_keys_has_strong_ones_for_signatures_or_is_refused)
{
    static const char *const bad[] = {
        "",
        "{",
        "[]",
        "{}",
        "{\"keys\":[]}",
        "{\"keys\":[{\"kty\":\"oct\",\"kid\":\"a\",\"k\":\"AAAA\"}]}",
        "{\"keys\":[{\"kty\":\"RSA\",\"kid\":\"a\",\"n\":\"AQAB\",\"e\":\"AQAB\"}]}",
        "{\"keys\":[{\"kty\":\"RSA\",\"kid\":\"a\"}]}",
        "{\"keys\":[{\"kty\":\"EC\",\"kid\":\"a\",\"crv\":\"P-256\",\"x\":\"AA\",\"y\":\"AA\"}]}",
        "{\"keys\":[{\"kty\":\"EC\",\"kid\":\"a\",\"crv\":\"P-384\",\"x\":\"AA\",\"y\":\"AA\"}]}",
        "{\"keys\":[{\"kty\":\"EC\",\"kid\":\"a\",\"crv\":\"P-256\","
        "\"x\":\"AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAE\",\"y\":"
        "\"AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAE\"}]}",
        "{\"keys\":[7,null,\"x\"]}",
    };

    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        struct jwt_keys *keys = NULL;

        if (jwt_keys_parse(test_op(), slice_of(bad[i]), &keys) == ST_OK || keys)
            test_failed(__FILE__, __LINE__, bad[i]);
    }
}

TEST(keys_that_are_for_something_else_are_passed_over)
{
    static const char more[] =
        ",{\"kty\":\"oct\",\"kid\":\"secret\",\"k\":\"AAAA\"},{\"kty\":\"RSA\",\"use\":\"enc\","
        "\"kid\":\"enc\",\"n\":\"AQAB\",\"e\":\"AQAB\"},{\"kty\":\"RSA\",\"alg\":\"PS256\","
        "\"kid\":\"ps\"},{\"kty\":\"RSA\"}";
    struct jwt_keys *keys = NULL;
    struct issuer issuer;

    issuer_open(&issuer);
    CHECK(jwt_keys_parse(test_op(), issuer_jwks(&issuer, test_op(), more), &keys) == ST_OK);
    jwt_keys_free(keys);
    issuer_close(&issuer);
}
