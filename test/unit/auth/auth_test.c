/* test/unit/auth/auth_test.c - signatures, dates and refusals, against published vectors. */
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <pthread.h>

#include "auth/auth.h"
#include "base/encode.h"
#include "base/limits.h"
#include "test.h"

#define SAMPLE_KEY "dsZQi3KtZmCv1ljt3VNWNm7sQUF1y5rJfC6kv5JiwvW0EndXdDku/dkKBp8/ufDToSxLzR4y+O/0H/t4bQtVNw=="
#define DATE "Thu, 27 Apr 2017 00:51:12 GMT"

/* A request at the date of the vectors, and what it is signed for. */
struct asking {
    struct env *env;
    struct op op;
    struct auth *auth;
    struct request request;
    struct auth_subject subject;
};

static void open_asking(struct asking *asking, const char *const *keys, size_t count)
{
    int64_t now = 0;

    CHECK(http_date_parse(slice_of(DATE), &now));
    *asking = (struct asking){ .env = env_seeded(1, now) };
    op_init(&asking->op, asking->env, SIZE_MAX);
    CHECK(auth_open(&asking->op, keys, count, &asking->auth) == ST_OK);
    asking->request.header[HEADER_MS_DATE] = slice_of(DATE);
}

static void open_with_key(struct asking *asking, const char *key)
{
    open_asking(asking, &key, 1);
}

static void close_asking(struct asking *asking)
{
    auth_close(asking->auth);
    op_free(&asking->op);
    env_free(asking->env);
}

static void ask_for(struct asking *asking, enum method method, const char *type, const char *link)
{
    asking->request.method = method;
    asking->subject = (struct auth_subject){ .type = slice_of(type), .link = slice_of(link) };
}

/* type=master&ver=1.0&sig=..., percent-encoded as most SDKs do. */
static void authorize(struct asking *asking, const char *signature)
{
    struct buf plain, encoded;

    buf_init(&plain, &asking->op.arena);
    buf_init(&encoded, &asking->op.arena);
    buf_printf(&plain, "type=master&ver=1.0&sig=%s", signature);
    percent_encode(&encoded, buf_as_slice(&plain));
    asking->request.header[HEADER_AUTHORIZATION] = buf_as_slice(&encoded);
}

/* Signs a text independently of the code under test. */
static const char *sign(struct asking *asking, const char *key, const char *text)
{
    uint8_t bytes[256], made[EVP_MAX_MD_SIZE];
    unsigned made_size = 0;
    struct buf signature;
    size_t size = 0;

    CHECK(base64_decode(slice_of(key), bytes, sizeof(bytes), &size));
    HMAC(EVP_sha256(), bytes, (int)size, (const unsigned char *)text, strlen(text), made, &made_size);
    buf_init(&signature, &asking->op.arena);
    base64_encode(&signature, slice_make(made, made_size));
    buf_byte(&signature, '\0');
    return signature.data;
}

static enum status check(struct asking *asking)
{
    struct auth_who who;
    enum status st = auth_check(&asking->op, asking->auth, &asking->request, &asking->subject, &who);

    CHECK(st != ST_OK || who.kind == AUTH_BY_KEY);
    return st;
}

static const struct {
    const char *key;
    enum method method;
    const char *type, *link, *signature;
} vectors[] = {
    { SAMPLE_KEY, METHOD_GET, "dbs", "dbs/ToDoList", "c09PEVJrgp2uQRkr934kFbTqhByc7TVr3OHyqlu+c+c=" },
    { auth_emulator_key, METHOD_GET, "", "", "gFB1bRB/PLJTG3bCgMuoVgNzOyFvZAamzEtLuSITjRc=" },
    { auth_emulator_key, METHOD_GET, "dbs", "dbs/ToDoList", "mM0rMK/7o1MZhQwDitGRoGisPRPx09os/86Jk0YwquY=" },
    { auth_emulator_key, METHOD_POST, "docs", "dbs/MyDb/colls/MyColl",
      "s0xP8VO0ZOVHL99FhcwggjhrnponOpQXEk+T5PrPBUg=" },
};

TEST(the_published_signatures_are_accepted)
{
    for (size_t i = 0; i < sizeof(vectors) / sizeof(vectors[0]); i++) {
        struct asking asking;

        open_with_key(&asking, vectors[i].key);
        ask_for(&asking, vectors[i].method, vectors[i].type, vectors[i].link);
        authorize(&asking, vectors[i].signature);
        CHECK(check(&asking) == ST_OK);
        close_asking(&asking);
    }
}

TEST(a_signature_holds_for_its_verb_type_link_date_and_key_only)
{
    struct asking asking;

    open_with_key(&asking, auth_emulator_key);
    authorize(&asking, "s0xP8VO0ZOVHL99FhcwggjhrnponOpQXEk+T5PrPBUg=");
    ask_for(&asking, METHOD_GET, "docs", "dbs/MyDb/colls/MyColl");
    CHECK(check(&asking) == ST_UNAUTHORIZED);
    ask_for(&asking, METHOD_POST, "colls", "dbs/MyDb/colls/MyColl");
    CHECK(check(&asking) == ST_UNAUTHORIZED);
    ask_for(&asking, METHOD_POST, "docs", "dbs/MyDb/colls/mycoll");
    CHECK(check(&asking) == ST_UNAUTHORIZED);
    ask_for(&asking, METHOD_POST, "docs", "dbs/MyDb/colls/MyColl");
    CHECK(check(&asking) == ST_OK);
    asking.request.header[HEADER_MS_DATE] = slice_of("Thu, 27 Apr 2017 00:51:13 GMT");
    CHECK(check(&asking) == ST_UNAUTHORIZED);
    close_asking(&asking);
    open_with_key(&asking, SAMPLE_KEY);
    ask_for(&asking, METHOD_POST, "docs", "dbs/MyDb/colls/MyColl");
    authorize(&asking, "s0xP8VO0ZOVHL99FhcwggjhrnponOpQXEk+T5PrPBUg=");
    CHECK(check(&asking) == ST_UNAUTHORIZED);
    close_asking(&asking);
}

TEST(a_signature_that_is_wrong_in_any_one_bit_is_refused)
{
    uint8_t right[32], wrong[32];
    struct asking asking;
    size_t size = 0;

    open_with_key(&asking, auth_emulator_key);
    ask_for(&asking, METHOD_GET, "dbs", "dbs/ToDoList");
    CHECK(base64_decode(slice_of(vectors[2].signature), right, sizeof(right), &size) &&
          size == sizeof(right));
    for (size_t bit = 0; bit < 8 * sizeof(right); bit++) {
        struct buf text;

        memcpy(wrong, right, sizeof(right));
        wrong[bit / 8] ^= (uint8_t)(1 << bit % 8);
        buf_init(&text, &asking.op.arena);
        base64_encode(&text, slice_make(wrong, sizeof(wrong)));
        buf_byte(&text, '\0');
        authorize(&asking, text.data);
        CHECK(check(&asking) == ST_UNAUTHORIZED);
    }
    close_asking(&asking);
}

TEST(the_header_is_understood_in_every_encoding_that_sdks_send)
{
    static const char *const headers[] = {
        "type%3Dmaster%26ver%3D1.0%26sig%3DmM0rMK%2F7o1MZhQwDitGRoGisPRPx09os%2F86Jk0YwquY%3D",
        "type%3dmaster%26ver%3d1.0%26sig%3dmM0rMK%2f7o1MZhQwDitGRoGisPRPx09os%2f86Jk0YwquY%3d",
        "type=master&ver=1.0&sig=mM0rMK/7o1MZhQwDitGRoGisPRPx09os/86Jk0YwquY=",
        "type%3Dmaster%26ver%3D1.0%26sig%3DmM0rMK/7o1MZhQwDitGRoGisPRPx09os/86Jk0YwquY%3D",
        "ver=1.0&type=master&sig=mM0rMK/7o1MZhQwDitGRoGisPRPx09os/86Jk0YwquY=",
    };
    struct asking asking;

    open_with_key(&asking, auth_emulator_key);
    ask_for(&asking, METHOD_GET, "dbs", "dbs/ToDoList");
    for (size_t i = 0; i < sizeof(headers) / sizeof(headers[0]); i++) {
        asking.request.header[HEADER_AUTHORIZATION] = slice_of(headers[i]);
        CHECK(check(&asking) == ST_OK);
    }
    close_asking(&asking);
}

TEST(a_plus_sign_in_a_signature_is_no_space)
{
    struct asking asking;

    open_with_key(&asking, SAMPLE_KEY);
    ask_for(&asking, METHOD_GET, "dbs", "dbs/ToDoList");
    asking.request.header[HEADER_AUTHORIZATION] =
        slice_of("type=master&ver=1.0&sig=c09PEVJrgp2uQRkr934kFbTqhByc7TVr3OHyqlu+c+c=");
    CHECK(check(&asking) == ST_OK);
    close_asking(&asking);
}

/* Promise 2. */
TEST(a_link_may_be_signed_as_typed_or_as_a_lower_case_rid)
{
    static const char *const signed_links[] = { "dbs/a b/colls/Rid==", "rid==", "dbs/a b/colls/rid==" };
    static const char *const others[] = { "dbs/a%20b/colls/Rid==", "RID==" };
    struct asking asking;
    char text[200];

    open_with_key(&asking, auth_emulator_key);
    ask_for(&asking, METHOD_GET, "colls", "dbs/a b/colls/Rid==");
    asking.subject.rid = slice_of("Rid==");
    for (size_t i = 0; i < sizeof(signed_links) / sizeof(signed_links[0]); i++) {
        snprintf(text, sizeof(text), "get\ncolls\n%s\nthu, 27 apr 2017 00:51:12 gmt\n\n", signed_links[i]);
        authorize(&asking, sign(&asking, auth_emulator_key, text));
        CHECK(check(&asking) == ST_OK);
    }
    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
        snprintf(text, sizeof(text), "get\ncolls\n%s\nthu, 27 apr 2017 00:51:12 gmt\n\n", others[i]);
        authorize(&asking, sign(&asking, auth_emulator_key, text));
        CHECK(check(&asking) == ST_UNAUTHORIZED);
    }
    close_asking(&asking);
}

TEST(a_signature_over_the_last_segment_alone_holds_for_no_name)
{
    struct asking asking;

    open_with_key(&asking, auth_emulator_key);
    ask_for(&asking, METHOD_GET, "colls", "dbs/a/colls/name");
    authorize(&asking,
              sign(&asking, auth_emulator_key, "get\ncolls\nname\nthu, 27 apr 2017 00:51:12 gmt\n\n"));
    CHECK(check(&asking) == ST_UNAUTHORIZED);
    close_asking(&asking);
}

TEST(a_refusal_tells_some_dozens_of_characters_of_a_long_link)
{
    static char link[16000];
    struct asking asking;

    memset(link, 'a', sizeof(link) - 1);
    open_with_key(&asking, auth_emulator_key);
    ask_for(&asking, METHOD_GET, link, link);
    authorize(&asking, vectors[0].signature);
    CHECK(check(&asking) == ST_UNAUTHORIZED);
    CHECK(strstr(asking.op.error, "aaaaaaaaaa... (15999 bytes)\naaaaaaaaaa"));
    CHECK(strlen(asking.op.error) < 700);
    close_asking(&asking);
}

TEST(every_verb_is_signed_by_its_own_name)
{
    static const char *const verbs[] = { "get", "head", "post", "put", "patch", "delete" };
    struct asking asking;
    char text[200];

    open_with_key(&asking, auth_emulator_key);
    for (int method = METHOD_GET; method <= METHOD_DELETE; method++) {
        ask_for(&asking, (enum method)method, "docs", "dbs/d");
        snprintf(text, sizeof(text), "%s\ndocs\ndbs/d\nthu, 27 apr 2017 00:51:12 gmt\n\n", verbs[method]);
        authorize(&asking, sign(&asking, auth_emulator_key, text));
        CHECK(check(&asking) == ST_OK);
    }
    close_asking(&asking);
}

TEST(the_plain_date_header_is_signed_in_a_line_of_its_own)
{
    struct asking asking;

    open_with_key(&asking, auth_emulator_key);
    ask_for(&asking, METHOD_GET, "dbs", "dbs/d");
    asking.request.header[HEADER_MS_DATE] = (struct slice){ 0 };
    asking.request.header[HEADER_DATE] = slice_of(DATE);
    authorize(&asking,
              sign(&asking, auth_emulator_key, "get\ndbs\ndbs/d\n\nthu, 27 apr 2017 00:51:12 gmt\n"));
    CHECK(check(&asking) == ST_OK);
    authorize(&asking,
              sign(&asking, auth_emulator_key, "get\ndbs\ndbs/d\nthu, 27 apr 2017 00:51:12 gmt\n\n"));
    CHECK(check(&asking) == ST_UNAUTHORIZED);
    close_asking(&asking);
}

TEST(each_of_several_keys_opens)
{
    const char *keys[] = { SAMPLE_KEY, auth_emulator_key };
    struct asking asking;

    open_asking(&asking, keys, 2);
    ask_for(&asking, METHOD_GET, "dbs", "dbs/ToDoList");
    authorize(&asking, vectors[0].signature);
    CHECK(check(&asking) == ST_OK);
    authorize(&asking, vectors[2].signature);
    CHECK(check(&asking) == ST_OK);
    close_asking(&asking);
}

/* The last two of four only read. */
TEST(a_key_for_reading_opens_what_reads_and_looks_like_a_wrong_one_to_what_writes)
{
    static const char text[] = "get\ndbs\ndbs/d\nthu, 27 apr 2017 00:51:12 gmt\n\n";
    const char *keys[AUTH_KEYS_MAX] = { "MQ==", "Mg==", "Mw==", "NA==" };
    struct asking asking;

    open_asking(&asking, keys, AUTH_KEYS_MAX);
    ask_for(&asking, METHOD_GET, "dbs", "dbs/d");
    for (size_t i = 0; i < AUTH_KEYS_MAX; i++) {
        bool may_write = i == AUTH_PRIMARY || i == AUTH_SECONDARY;

        authorize(&asking, sign(&asking, keys[i], text));
        asking.subject.writes = false;
        CHECK(check(&asking) == ST_OK);
        asking.subject.writes = true;
        CHECK(check(&asking) == (may_write ? ST_OK : ST_UNAUTHORIZED));
        CHECK(may_write || (asking.op.error && strstr(asking.op.error, "The wrong key is being used")));
    }
    close_asking(&asking);
}

TEST(keys_that_were_replaced_open_nothing_and_a_bad_replacement_changes_nothing)
{
    const char *before[AUTH_KEYS_MAX] = { auth_emulator_key, "MTIz" };
    const char *after[AUTH_KEYS_MAX] = { SAMPLE_KEY, "MTIz" }, *bad[] = { SAMPLE_KEY, "no base64!" };
    struct asking asking;

    open_asking(&asking, before, AUTH_KEYS_MAX);
    ask_for(&asking, METHOD_GET, "dbs", "dbs/ToDoList");
    CHECK(auth_replace(&asking.op, asking.auth, bad, 2) == ST_BAD_REQUEST);
    authorize(&asking, vectors[2].signature);
    CHECK(check(&asking) == ST_OK);
    CHECK(auth_replace(&asking.op, asking.auth, after, AUTH_KEYS_MAX) == ST_OK);
    CHECK(check(&asking) == ST_UNAUTHORIZED);
    authorize(&asking, vectors[0].signature);
    CHECK(check(&asking) == ST_OK);
    authorize(&asking, sign(&asking, "MTIz", "get\ndbs\ndbs/ToDoList\nthu, 27 apr 2017 00:51:12 gmt\n\n"));
    CHECK(check(&asking) == ST_OK);
    close_asking(&asking);
}

enum { CHECKS = 2000 };

/* Signed with the second key, which stays, while the first is replaced all the time. */
static void *check_without_end(void *of)
{
    struct asking *owner = of;
    struct asking asking = *owner;
    size_t accepted = 0;

    op_init(&asking.op, asking.env, SIZE_MAX);
    for (size_t i = 0; i < CHECKS; i++) {
        op_begin(&asking.op, INT64_MAX / 2);
        accepted += check(&asking) == ST_OK;
    }
    op_free(&asking.op);
    return (void *)accepted;
}

TEST(replacing_one_key_disturbs_nobody_who_signs_with_another)
{
    const char *keys[] = { auth_emulator_key, SAMPLE_KEY };
    struct asking asking;
    pthread_t thread[2];
    void *accepted;

    open_asking(&asking, keys, 2);
    ask_for(&asking, METHOD_GET, "dbs", "dbs/ToDoList");
    authorize(&asking, vectors[0].signature);
    for (size_t i = 0; i < 2; i++)
        CHECK(pthread_create(&thread[i], NULL, check_without_end, &asking) == 0);
    for (size_t i = 0; i < 200; i++) {
        keys[0] = i % 2 ? "MTIz" : "NDU2";
        CHECK(auth_replace(&asking.op, asking.auth, keys, 2) == ST_OK);
    }
    for (size_t i = 0; i < 2; i++) {
        pthread_join(thread[i], &accepted);
        CHECK((size_t)accepted == CHECKS);
    }
    close_asking(&asking);
}

TEST(what_auth_sign_signs_is_accepted)
{
    struct asking asking;

    open_with_key(&asking, SAMPLE_KEY);
    ask_for(&asking, METHOD_POST, "docs", "dbs/d/colls/c");
    CHECK(auth_sign(&asking.op, SAMPLE_KEY, &asking.request, &asking.subject,
                    &asking.request.header[HEADER_AUTHORIZATION]) == ST_OK);
    CHECK(check(&asking) == ST_OK);
    CHECK(auth_sign(&asking.op, "no base64!", &asking.request, &asking.subject,
                    &asking.request.header[HEADER_AUTHORIZATION]) == ST_BAD_REQUEST);
    close_asking(&asking);
}

TEST(a_date_may_be_a_quarter_of_an_hour_off_and_no_more)
{
    static const struct {
        int64_t off_ms;
        enum status status;
    } cases[] = { { DATE_SKEW_MS, ST_OK },
                  { -DATE_SKEW_MS, ST_OK },
                  { DATE_SKEW_MS + 1000, ST_FORBIDDEN },
                  { -DATE_SKEW_MS - 1000, ST_FORBIDDEN } };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct asking asking;

        open_with_key(&asking, auth_emulator_key);
        ask_for(&asking, METHOD_GET, "dbs", "dbs/ToDoList");
        authorize(&asking, vectors[2].signature);
        asking.op.now_ms += cases[i].off_ms;
        CHECK(check(&asking) == cases[i].status);
        close_asking(&asking);
    }
}

#define FORMAT "Authorization header doesn't confirm to the required format. Please verify and try again."
#define GOOD_SIGNATURE "mM0rMK%2F7o1MZhQwDitGRoGisPRPx09os%2F86Jk0YwquY%3D"

#define UNSIGNED                                                                                          \
    "The input authorization token can't serve the request. The wrong key is being used or the expected " \
    "payload is not built as per the protocol. For more info: https://aka.ms/cosmosdb-tsg-unauthorized."

static const struct {
    const char *authorization, *date;
    enum status status;
    const char *error;
} refusals[] = {
    { NULL, DATE, ST_UNAUTHORIZED,
      "Required Header authorization is missing. Ensure a valid Authorization token is passed." },
    { "", DATE, ST_UNAUTHORIZED,
      "Required Header authorization is missing. Ensure a valid Authorization token is passed." },
    { "Bearer abc", DATE, ST_UNAUTHORIZED, FORMAT },
    { "%", DATE, ST_UNAUTHORIZED, FORMAT },
    { "type=master&ver=1.0", DATE, ST_UNAUTHORIZED, FORMAT },
    { "type=master&sig=" GOOD_SIGNATURE, DATE, ST_UNAUTHORIZED, FORMAT },
    { "ver=1.0&sig=" GOOD_SIGNATURE, DATE, ST_UNAUTHORIZED, FORMAT },
    { "type=master&ver=2.0&sig=" GOOD_SIGNATURE, DATE, ST_UNAUTHORIZED, FORMAT },
    { "type=guest&ver=1.0&sig=" GOOD_SIGNATURE, DATE, ST_UNAUTHORIZED, FORMAT },
    { "type=master&ver=1.0&sig=", DATE, ST_UNAUTHORIZED, FORMAT },
    { "type=master&ver=1.0&sig=abc", DATE, ST_UNAUTHORIZED, FORMAT },
    { "type=master&ver=1.0&sig=AAAA", DATE, ST_UNAUTHORIZED, FORMAT },
    { "type=resource&ver=1.0&sig=a;b;", DATE, ST_UNAUTHORIZED, FORMAT },
    { "type=resource&ver=1.0&sig=" GOOD_SIGNATURE, DATE, ST_UNAUTHORIZED, UNSIGNED },
    { "type=resource&ver=1.0&sig=" GOOD_SIGNATURE ";AAAA;", DATE, ST_UNAUTHORIZED, UNSIGNED },
    { "type=resource&ver=1.0&sig=" GOOD_SIGNATURE ";AAAA;AAAA", DATE, ST_UNAUTHORIZED, FORMAT },
    { "type=resource&ver=2&sig=" GOOD_SIGNATURE ";AAAA;", DATE, ST_UNAUTHORIZED, FORMAT },
    { "type=aad&ver=1.0&sig=a.b.c", NULL, ST_TOKEN_MALFORMED,
      "Request blocked by Auth orrery : Provided AAD token is not a JSON Web Token." },
    { "type=aad&ver=2.0&sig=a.b.c", NULL, ST_UNAUTHORIZED, FORMAT },
    { "type=sas&ver=1.0&sig=abc", DATE, ST_NOT_BUILT,
      "This version of the server knows keys, resource tokens and bearer tokens, and no tokens of type "
      "'sas'." },
    { "type=master&ver=1.0&sig=" GOOD_SIGNATURE, NULL, ST_UNAUTHORIZED,
      "Authorization token mandates Date headers. Please pass in RFC 1123 style date format." },
    { "type=master&ver=1.0&sig=" GOOD_SIGNATURE, "2017-04-27", ST_UNAUTHORIZED,
      "The input date header is invalid format. Please pass in RFC 1123 style date format." },
    { "type=master&ver=1.0&sig=" GOOD_SIGNATURE, "Thu, 27 Apr 2017 00:30:00 GMT", ST_FORBIDDEN,
      "The authorization token is not valid at the current time. Please create another token and retry "
      "(token start "
      "time: Thu, 27 Apr 2017 00:30:00 GMT, token expiry time: Thu, 27 Apr 2017 00:45:00 GMT, current server "
      "time: " DATE ")." },
    { "type=master&ver=1.0&sig=" GOOD_SIGNATURE, "Thu, 01 Jan 1960 00:00:00 GMT", ST_FORBIDDEN,
      "The authorization token is not valid at the current time. Please create another token and retry "
      "(token start "
      "time: Thu, 01 Jan 1970 00:00:00 GMT, token expiry time: Thu, 01 Jan 1970 00:00:00 GMT, current server "
      "time: " DATE ")." },
    { "type=master&ver=1.0&sig=" GOOD_SIGNATURE, "Mon, 01 Jan 0001 00:00:00 GMT", ST_FORBIDDEN,
      "The authorization token is not valid at the current time. Please create another token and retry "
      "(token start "
      "time: Thu, 01 Jan 1970 00:00:00 GMT, token expiry time: Thu, 01 Jan 1970 00:00:00 GMT, current server "
      "time: " DATE ")." },
    { "type=master&ver=1.0&sig=" GOOD_SIGNATURE, "Fri, 31 Dec 9999 23:59:59 GMT", ST_FORBIDDEN,
      "The authorization token is not valid at the current time. Please create another token and retry "
      "(token start "
      "time: Fri, 31 Dec 9999 23:59:59 GMT, token expiry time: Fri, 31 Dec 9999 23:59:59 GMT, current server "
      "time: " DATE ")." },
    { "type=master&ver=1.0&sig=" GOOD_SIGNATURE, "Thu, 27 Apr 2017 00:51:13 GMT", ST_UNAUTHORIZED,
      "The input authorization token can't serve the request. The wrong key is being used or the expected "
      "payload is "
      "not built as per the protocol. For more info: https://aka.ms/cosmosdb-tsg-unauthorized. Server used "
      "the "
      "following payload to sign: 'get\ndbs\ndbs/ToDoList\nthu, 27 apr 2017 00:51:13 gmt\n\n'" },
};

/* Promise 3 with it: the texts hold no signature. */
TEST(each_refusal_has_its_status_and_its_reason)
{
    for (size_t i = 0; i < sizeof(refusals) / sizeof(refusals[0]); i++) {
        struct slice absent = { 0 };
        struct asking asking;

        open_with_key(&asking, auth_emulator_key);
        ask_for(&asking, METHOD_GET, "dbs", "dbs/ToDoList");
        asking.request.header[HEADER_AUTHORIZATION] =
            refusals[i].authorization ? slice_of(refusals[i].authorization) : absent;
        asking.request.header[HEADER_MS_DATE] = refusals[i].date ? slice_of(refusals[i].date) : absent;
        if (check(&asking) != refusals[i].status || strcmp(asking.op.error, refusals[i].error) != 0)
            test_failed(__FILE__, __LINE__, asking.op.error);
        close_asking(&asking);
    }
}

TEST(keys_are_base64_and_there_are_one_to_four)
{
    const char *keys[AUTH_KEYS_MAX + 1] = { SAMPLE_KEY, SAMPLE_KEY, SAMPLE_KEY, SAMPLE_KEY, SAMPLE_KEY };
    const char *bad[] = { SAMPLE_KEY, "no base64!" }, *empty = "", *absent[AUTH_KEYS_MAX] = { NULL };
    struct auth *auth = NULL;

    CHECK(auth_open(test_op(), absent, AUTH_KEYS_MAX, &auth) == ST_BAD_REQUEST && !auth);

    CHECK(auth_open(test_op(), keys, 0, &auth) == ST_BAD_REQUEST && !auth);
    CHECK(auth_open(test_op(), keys, AUTH_KEYS_MAX + 1, &auth) == ST_BAD_REQUEST && !auth);
    CHECK(auth_open(test_op(), bad, 2, &auth) == ST_BAD_REQUEST && !auth);
    CHECK(auth_open(test_op(), &empty, 1, &auth) == ST_BAD_REQUEST && !auth);
    CHECK(auth_open(test_op(), keys, AUTH_KEYS_MAX, &auth) == ST_OK && auth);
    auth_close(auth);
    auth_close(NULL);
}

/* --- resource tokens --- */

static struct grant some_grant(const struct asking *asking)
{
    struct rid db = rid_database(1), user = rid_make(RID_TYPE_USER, &db, 2);
    int64_t now = env_now_ms(asking->env);

    return (struct grant){ .permission = rid_make(RID_TYPE_PERMISSION, &user, 3),
                           .etag = 0x1122334455667788,
                           .issued_ms = now,
                           .expires_ms = now + 3600 * 1000,
                           .resource = rid_container(&db, 4) };
}

static struct slice token_of(struct asking *asking, const struct grant *grant)
{
    struct buf token;

    buf_init(&token, &asking->op.arena);
    auth_print_token(asking->auth, grant, &token);
    return buf_as_slice(&token);
}

static enum status check_token(struct asking *asking, struct slice token, struct grant *grant)
{
    struct auth_who who;
    enum status st;

    op_begin(&asking->op, 1000); /* reads the clock */
    asking->request.header[HEADER_AUTHORIZATION] = token;
    st = auth_check(&asking->op, asking->auth, &asking->request, &asking->subject, &who);
    CHECK(st != ST_OK || who.kind == AUTH_BY_TOKEN);
    *grant = who.grant;
    return st;
}

/* A copy that outlives the operation. */
static struct slice kept(char *room, struct slice token)
{
    memcpy(room, token.data, token.size);
    return slice_make(room, token.size);
}

TEST(a_resource_token_comes_back_as_it_was_granted_and_needs_no_date)
{
    struct asking asking;
    struct grant given, got;
    char room[300];

    open_with_key(&asking, auth_emulator_key);
    given = some_grant(&asking);
    asking.request.header[HEADER_MS_DATE] = (struct slice){ 0 };
    CHECK(check_token(&asking, kept(room, token_of(&asking, &given)), &got) == ST_OK);
    CHECK(rid_equal(&given.permission, &got.permission) && rid_equal(&given.resource, &got.resource));
    CHECK(given.etag == got.etag && given.issued_ms == got.issued_ms && given.expires_ms == got.expires_ms);
    close_asking(&asking);
}

TEST(a_resource_token_ends_when_it_expires)
{
    struct asking asking;
    struct grant given, got;
    struct slice token;
    char room[300];

    open_with_key(&asking, auth_emulator_key);
    given = some_grant(&asking);
    token = kept(room, token_of(&asking, &given));
    env_advance_ms(asking.env, 3600 * 1000 - 1);
    CHECK(check_token(&asking, token, &got) == ST_OK);
    env_advance_ms(asking.env, 1);
    CHECK(check_token(&asking, token, &got) == ST_FORBIDDEN);
    CHECK(strcmp(asking.op.error,
                 "The authorization token is not valid at the current time. Please create another token and "
                 "retry (token start time: " DATE ", token expiry time: Thu, 27 Apr 2017 01:51:12 GMT, "
                 "current server time: Thu, 27 Apr 2017 01:51:12 GMT).") == 0);
    close_asking(&asking);
}

TEST(a_resource_token_with_any_character_changed_is_refused)
{
    struct asking asking;
    struct grant given, got;
    struct slice token;
    char room[300];

    open_with_key(&asking, auth_emulator_key);
    given = some_grant(&asking);
    token = kept(room, token_of(&asking, &given));
    for (size_t i = 0; i < token.size - 1; i++) { /* the last semicolon may be left out */
        room[i] ^= 1;
        if (check_token(&asking, token, &got) != ST_UNAUTHORIZED)
            test_failed(__FILE__, __LINE__, room + i);
        room[i] ^= 1;
    }
    token.size--;
    CHECK(check_token(&asking, token, &got) == ST_OK);
    close_asking(&asking);
}

TEST(the_metrics_token_of_any_key_opens_the_metrics_and_ends_with_its_key)
{
    const char *keys[AUTH_KEYS_MAX] = {
        [AUTH_PRIMARY] = SAMPLE_KEY, [AUTH_PRIMARY_READONLY] = auth_emulator_key
    };
    struct asking asking;
    struct slice token;
    struct buf header;

    open_asking(&asking, keys, AUTH_KEYS_MAX);
    CHECK(auth_make_metrics_token(&asking.op, auth_emulator_key, &token) == ST_OK && token.size == 64);
    buf_init(&header, &asking.op.arena);
    buf_printf(&header, "Bearer %.*s", SLICE_ARGS(token));
    asking.request.header[HEADER_AUTHORIZATION] = buf_as_slice(&header);
    CHECK(auth_check_metrics_token(&asking.op, asking.auth, &asking.request) == ST_OK);
    for (size_t i = 0; i < header.size; i++) {
        header.data[i] ^= 1;
        CHECK(auth_check_metrics_token(&asking.op, asking.auth, &asking.request) == ST_UNAUTHORIZED);
        header.data[i] ^= 1;
    }
    CHECK(check(&asking) == ST_UNAUTHORIZED); /* and it opens nothing else */
    CHECK(auth_replace(&asking.op, asking.auth, keys, 1) == ST_OK);
    CHECK(auth_check_metrics_token(&asking.op, asking.auth, &asking.request) == ST_UNAUTHORIZED);
    asking.request.header[HEADER_AUTHORIZATION] = (struct slice){ 0 };
    CHECK(auth_check_metrics_token(&asking.op, asking.auth, &asking.request) == ST_UNAUTHORIZED);
    close_asking(&asking);
}

TEST(a_resource_token_of_another_key_is_refused)
{
    struct asking here, elsewhere;
    struct grant given, got;
    char room[300];

    open_with_key(&here, auth_emulator_key);
    open_with_key(&elsewhere, SAMPLE_KEY);
    given = some_grant(&elsewhere);
    CHECK(check_token(&here, kept(room, token_of(&elsewhere, &given)), &got) == ST_UNAUTHORIZED);
    close_asking(&here);
    close_asking(&elsewhere);
}
