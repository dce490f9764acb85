/* src/auth/auth.c - master-key signatures, resource tokens, and which bearer tokens are taken. */
#include <assert.h>
#include <openssl/crypto.h>
#include <pthread.h>
#include <stdlib.h>

#include "auth/auth.h"
#include "auth/hmac.h"
#include "base/encode.h"
#include "base/heap.h"
#include "base/limits.h"
#include "base/readers.h"
#include "base/thread.h"

const char auth_emulator_key[] =
    "C2y6yDjf5/R+ob0N8A7Cgv30VRDJIWEHLM+4QDU5DE2nQ9nDuVTqobD4b8mGGyPMbIZnqyMsEcaGQy67XIw/Jw==";

const char *const auth_key_names[AUTH_KEYS_MAX] = {
    [AUTH_PRIMARY] = "primary",
    [AUTH_SECONDARY] = "secondary",
    [AUTH_PRIMARY_READONLY] = "primaryReadonly",
    [AUTH_SECONDARY_READONLY] = "secondaryReadonly",
};

/* --- keys --- */

struct key_set {
    struct hmac key[AUTH_KEYS_MAX];
    bool is_there[AUTH_KEYS_MAX];
    bool is_well_known; /* one that may write is the emulator's */
};

struct auth {
    struct readers lock; /* guards what follows: held shared while a signature is checked */
    struct key_set keys;
    struct bearer *bearer; /* NULL: tokens of identity providers are not accepted */
};

static bool only_reads(size_t key)
{
    return key == AUTH_PRIMARY_READONLY || key == AUTH_SECONDARY_READONLY;
}

static enum status read_key(struct op *op, const char *base64, struct hmac *key)
{
    uint8_t bytes[AUTH_KEY_BYTES_MAX];
    size_t size;

    if (!base64_decode(slice_of(base64), bytes, sizeof(bytes), &size) || size == 0)
        return op_fail(op, ST_BAD_REQUEST, "a key must be base64 of 1 to %d bytes", AUTH_KEY_BYTES_MAX);
    assert(size <= sizeof(bytes));
    hmac_init(key, slice_make(bytes, size));
    OPENSSL_cleanse(bytes, sizeof(bytes));
    return ST_OK;
}

static enum status read_keys(struct op *op, const char *const *base64_keys, size_t count,
                             struct key_set *keys)
{
    size_t found = 0;
    enum status st = ST_OK;

    *keys = (struct key_set){ 0 };
    for (size_t i = 0; i < count && i < AUTH_KEYS_MAX; i++) {
        if (!base64_keys[i])
            continue;
        TRY(read_key(op, base64_keys[i], &keys->key[i]));
        keys->is_there[i] = true;
        keys->is_well_known |= !only_reads(i) && strcmp(base64_keys[i], auth_emulator_key) == 0;
        found++;
    }
    if (found == 0 || count > AUTH_KEYS_MAX)
        st = op_fail(op, ST_BAD_REQUEST, "there must be between 1 and %d keys", AUTH_KEYS_MAX);
out:
    return st;
}

enum status auth_open(struct op *op, const char *const *base64_keys, size_t count, struct auth **auth)
{
    struct auth *made = heap_allocate(sizeof(*made));
    enum status st;

    readers_init(&made->lock);
    TRY(read_keys(op, base64_keys, count, &made->keys));
    *auth = made;
    made = NULL;
out:
    auth_close(made);
    return st;
}

void auth_close(struct auth *auth)
{
    if (!auth)
        return;
    readers_free(&auth->lock);
    bearer_close(auth->bearer);
    OPENSSL_cleanse(auth, sizeof(*auth));
    free(auth);
}

enum status auth_replace(struct op *op, struct auth *auth, const char *const *base64_keys, size_t count)
{
    struct key_set keys;
    enum status st;

    TRY(read_keys(op, base64_keys, count, &keys));
    readers_exclude(&auth->lock);
    auth->keys = keys;
    readers_admit(&auth->lock);
out:
    OPENSSL_cleanse(&keys, sizeof(keys));
    return st;
}

void auth_set_bearer(struct auth *auth, struct bearer *bearer)
{
    struct bearer *old;

    readers_exclude(&auth->lock);
    old = auth->bearer;
    auth->bearer = bearer;
    readers_admit(&auth->lock);
    bearer_close(old);
}

/* --- the header: type=master&ver=1.0&sig=... percent-encoded --- */

struct credentials {
    struct slice type, version;
    struct slice sig; /* as it came */
    uint8_t signature[HMAC_BYTES];
};

static enum status malformed(struct op *op)
{
    return op_fail(
        op, ST_UNAUTHORIZED,
        "Authorization header doesn't confirm to the required format. Please verify and try again.");
}

/* The value of `name` in a=1&b=2; the last one, sig, may hold '=' and runs to the end. */
static struct slice field(struct slice text, const char *name)
{
    size_t size = strlen(name);

    while (text.size) {
        const char *end = memchr(text.data, '&', text.size);
        struct slice pair = slice_make(text.data, end ? (size_t)(end - text.data) : text.size);

        if (pair.size > size && memcmp(pair.data, name, size) == 0 && pair.data[size] == '=')
            return slice_after(pair, size + 1);
        text = end ? slice_after(text, pair.size + 1) : slice_of("");
    }
    return (struct slice){ 0 };
}

static enum status read_credentials(struct op *op, const struct request *request,
                                    struct credentials *credentials)
{
    struct slice header = request->header[HEADER_AUTHORIZATION], text;
    size_t size;

    if (!header.data || header.size == 0)
        return op_fail(
            op, ST_UNAUTHORIZED,
            "Required Header authorization is missing. Ensure a valid Authorization token is passed.");
    if (!percent_decode(&op->arena, header, &text))
        return malformed(op);
    credentials->type = field(text, "type");
    credentials->version = field(text, "ver");
    credentials->sig = field(text, "sig");
    if (!credentials->type.data || !credentials->version.data || !credentials->sig.data)
        return malformed(op);
    if (slice_is(credentials->type, "resource") || slice_is(credentials->type, "aad"))
        return ST_OK;
    if (slice_is(credentials->type, "sas"))
        return op_fail(
            op, ST_NOT_BUILT,
            "This version of the server knows keys, resource tokens and bearer tokens, and no tokens of "
            "type 'sas'.");
    if (!slice_is(credentials->type, "master") || !slice_is(credentials->version, "1.0") ||
        !base64_decode(credentials->sig, credentials->signature, HMAC_BYTES, &size) || size != HMAC_BYTES)
        return malformed(op);
    return ST_OK;
}

/* --- the date --- */

/* Refuses a signature that is good from one time to another, and not now. */
static enum status refuse_time(struct op *op, int64_t from_ms, int64_t to_ms)
{
    char from[HTTP_DATE_SIZE + 1], to[HTTP_DATE_SIZE + 1], now[HTTP_DATE_SIZE + 1];

    http_date_format(from_ms, from);
    http_date_format(to_ms, to);
    http_date_format(op->now_ms, now);
    return op_fail(
        op, ST_FORBIDDEN,
        "The authorization token is not valid at the current time. Please create another token and retry "
        "(token start time: %s, token expiry time: %s, current server time: %s).",
        from, to, now);
}

static enum status check_date(struct op *op, const struct request *request)
{
    struct slice date = request->header[HEADER_MS_DATE];
    int64_t ms;

    if (!date.data)
        date = request->header[HEADER_DATE];
    if (!date.data)
        return op_fail(
            op, ST_UNAUTHORIZED,
            "Authorization token mandates Date headers. Please pass in RFC 1123 style date format.");
    if (!http_date_parse(slice_trim(date), &ms))
        return op_fail(op, ST_UNAUTHORIZED,
                       "The input date header is invalid format. Please pass in RFC 1123 style date format.");
    if (ms - op->now_ms <= DATE_SKEW_MS && op->now_ms - ms <= DATE_SKEW_MS)
        return ST_OK;
    return refuse_time(op, ms, ms + DATE_SKEW_MS);
}

/* --- the signature --- */

static void add_lower(struct buf *text, struct slice part)
{
    char *room = buf_reserve(text, part.size + 1);

    if (!room)
        return;
    slice_lower(part, room);
    room[part.size] = '\n';
    text->size += part.size + 1;
}

/* The text that the client has signed, if it meant `link`. */
static struct slice payload(struct op *op, const struct request *request, struct slice type,
                            struct slice link)
{
    static const char *const verbs[] = { "get", "head", "post", "put", "patch", "delete", "options", "" };
    struct slice date = request->header[HEADER_MS_DATE];
    struct buf text;

    assert(request->method < sizeof(verbs) / sizeof(verbs[0]));
    buf_init(&text, &op->arena);
    add_lower(&text, slice_of(verbs[request->method]));
    add_lower(&text, type);
    buf_slice(&text, link);
    buf_byte(&text, '\n');
    add_lower(&text, date.data ? date : slice_of(""));
    add_lower(&text, date.data ? slice_of("") : request->header[HEADER_DATE]);
    return buf_as_slice(&text);
}

/*
 * A key for reading does not sign writes: as on the service, it is answered like a wrong key. `which` is set where a
 * key matches; the others are tried all the same, so that the time tells nothing.
 */
static bool signed_by_any_key(const struct key_set *keys, struct slice text, bool writes,
                              const uint8_t signature[HMAC_BYTES], enum auth_key *which)
{
    bool match = false;

    for (size_t i = 0; i < AUTH_KEYS_MAX; i++) {
        uint8_t made[HMAC_BYTES];

        if (!keys->is_there[i] || (writes && only_reads(i)))
            continue;
        hmac_sign(&keys->key[i], text, made);
        if (CRYPTO_memcmp(made, signature, sizeof(made)) != 0)
            continue;
        match = true;
        *which = (enum auth_key)i;
    }
    return match;
}

static struct slice lowered(struct op *op, struct slice text)
{
    struct buf lower;

    buf_init(&lower, &op->arena);
    add_lower(&lower, text);
    lower.size -= lower.size > 0; /* the line break */
    return buf_as_slice(&lower);
}

/* The ways in which a client may have spelt the link, the usual one first; absent where it is none of the link's. */
enum { SPELLINGS = 3 };

static struct slice spelling(struct op *op, const struct auth_subject *subject, int way)
{
    switch (way) {
    case 0:
        return subject->link;
    case 1:
        return subject->rid.data ? lowered(op, subject->rid) : (struct slice){ 0 };
    default:
        return lowered(op, subject->link);
    }
}

static bool check_signature(struct op *op, struct auth *auth, const struct request *request,
                            const struct auth_subject *subject, const uint8_t *signature,
                            enum auth_key *which)
{
    bool match = false;

    assert(subject->link.data); /* which may be empty */
    readers_enter(&auth->lock);
    for (int way = 0; way < SPELLINGS && !match; way++) {
        struct slice link = spelling(op, subject, way);

        if (!link.data || (way > 0 && slice_equal(link, subject->link)))
            continue; /* each costs a signature with each key */
        match = signed_by_any_key(&auth->keys, payload(op, request, subject->type, link), subject->writes,
                                  signature, which);
    }
    readers_leave(&auth->lock);
    return match;
}

/* Of a text that is longer than links of people are, so much that they recognise it. */
enum { SHOWN_WHOLE_BYTES = 256, SHOWN_BYTES = 64 };

static struct slice shortened(struct op *op, struct slice text)
{
    struct buf shown;

    if (text.size <= SHOWN_WHOLE_BYTES)
        return text;
    buf_init(&shown, &op->arena);
    buf_printf(&shown, "%.*s... (%zu bytes)", SHOWN_BYTES, text.data, text.size);
    return buf_as_slice(&shown);
}

static enum status refuse(struct op *op, struct slice text)
{
    return op_fail(
        op, ST_UNAUTHORIZED,
        "The input authorization token can't serve the request. The wrong key is being used or the expected "
        "payload is not built as per the protocol. For more info: "
        "https://aka.ms/cosmosdb-tsg-unauthorized. Server used the following payload to sign: '%.*s'",
        SLICE_ARGS(text));
}

/* --- resource tokens: <signature>;<grant>; in base64 each --- */

/* The text that is signed for a token. No request's text begins like this, so no signature is good for both. */
static struct slice grant_text(struct slice grant, char *room)
{
    static const char mark[] = "resource token\n";

    assert(grant.size <= GRANT_BYTES_MAX);
    memcpy(mempcpy(room, mark, sizeof(mark) - 1), grant.data, grant.size);
    return slice_make(room, sizeof(mark) - 1 + grant.size);
}

enum { GRANT_TEXT_MAX = 32 + GRANT_BYTES_MAX };

/* Tokens are signed with the first key that may write. */
static const struct hmac *signing_key(const struct key_set *keys)
{
    return &keys->key[keys->is_there[AUTH_PRIMARY] ? AUTH_PRIMARY : AUTH_SECONDARY];
}

void auth_print_token(struct auth *auth, const struct grant *grant, struct buf *out)
{
    uint8_t bytes[GRANT_BYTES_MAX], signature[HMAC_BYTES];
    struct slice encoded = slice_make(bytes, grant_encode(grant, bytes));
    char room[GRANT_TEXT_MAX];

    assert(grant->permission.size > 0); /* a token is of a permission: size 0 stands for a master key */
    readers_enter(&auth->lock);
    hmac_sign(signing_key(&auth->keys), grant_text(encoded, room), signature);
    readers_leave(&auth->lock);
    buf_text(out, "type=resource&ver=1&sig=");
    base64_encode(out, slice_make(signature, sizeof(signature)));
    buf_byte(out, ';');
    base64_encode(out, encoded);
    buf_byte(out, ';');
}

/* The text up to the next semicolon, or all of it where there is none. */
static struct slice take_part(struct slice *rest)
{
    const char *end = rest->size ? memchr(rest->data, ';', rest->size) : NULL;
    struct slice part = slice_make(rest->data, end ? (size_t)(end - rest->data) : rest->size);

    *rest = slice_after(*rest, end ? part.size + 1 : part.size);
    return part;
}

static bool is_signed(struct auth *auth, struct slice text, const uint8_t signature[HMAC_BYTES])
{
    enum auth_key which;
    bool match;

    readers_enter(&auth->lock);
    match = signed_by_any_key(&auth->keys, text, true, signature, &which);
    readers_leave(&auth->lock);
    return match;
}

static enum status check_token(struct op *op, struct auth *auth, const struct credentials *credentials,
                               struct grant *grant)
{
    struct slice rest = credentials->sig, first = take_part(&rest), second = take_part(&rest);
    uint8_t signature[HMAC_BYTES], bytes[GRANT_BYTES_MAX];
    char room[GRANT_TEXT_MAX];
    size_t size, grant_size;

    if ((!slice_is(credentials->version, "1") && !slice_is(credentials->version, "1.0")) || rest.size ||
        !base64_decode(first, signature, sizeof(signature), &size) || size != HMAC_BYTES ||
        !base64_decode(second, bytes, sizeof(bytes), &grant_size))
        return malformed(op);
    if (!is_signed(auth, grant_text(slice_make(bytes, grant_size), room), signature))
        return op_fail(op, ST_UNAUTHORIZED,
                       "The input authorization token can't serve the request. The wrong key is being used "
                       "or the expected payload is not built as per the protocol. For more info: "
                       "https://aka.ms/cosmosdb-tsg-unauthorized.");
    if (!grant_decode(slice_make(bytes, grant_size), grant))
        return malformed(op);
    if (op->now_ms >= grant->expires_ms)
        return refuse_time(op, grant->issued_ms, grant->expires_ms);
    return ST_OK;
}

/* --- the metrics' token: a signature in hexadecimal --- */

/* As for resource tokens: no other text that is signed begins like this. */
#define METRICS_TEXT "metrics token\n"

enum status auth_make_metrics_token(struct op *op, const char *base64_key, struct slice *token)
{
    uint8_t signature[HMAC_BYTES];
    struct hmac key;
    struct buf text;
    enum status st;

    TRY(read_key(op, base64_key, &key));
    hmac_sign(&key, slice_of(METRICS_TEXT), signature);
    buf_init(&text, &op->arena);
    hex_encode_upper(&text, slice_make(signature, sizeof(signature)));
    *token = buf_as_slice(&text);
out:
    OPENSSL_cleanse(&key, sizeof(key));
    return st;
}

enum status auth_check_metrics_token(struct op *op, struct auth *auth, const struct request *request)
{
    struct slice header = slice_trim(request->header[HEADER_AUTHORIZATION]);
    uint8_t signature[HMAC_BYTES];
    enum auth_key which;
    bool match = false;
    size_t size = 0;

    if (header.size > 7 && slice_is_nocase(slice_make(header.data, 7), "Bearer ") &&
        hex_decode(slice_trim(slice_after(header, 7)), signature, sizeof(signature), &size) &&
        size == HMAC_BYTES) {
        readers_enter(&auth->lock);
        match = signed_by_any_key(&auth->keys, slice_of(METRICS_TEXT), false, signature, &which);
        readers_leave(&auth->lock);
    }
    if (match)
        return ST_OK;
    return op_fail(
        op, ST_UNAUTHORIZED,
        "Beyond loopback the metrics need \"Authorization: Bearer TOKEN\"; orrery keys metrics prints the "
        "token.");
}

/* --- bearer tokens --- */

/* The kid of tokens that the SDKs' own tests make for the emulator. */
#define EMULATOR_KID "CosmosEmulatorPrimaryMaster"

/* The third part: the text of the key, in base64 of either alphabet, padded or not. */
static bool has_emulator_key(struct op *op, const struct jwt *jwt)
{
    size_t size = sizeof(auth_emulator_key) - 1;
    struct slice part = jwt->signature, text;
    struct buf plain;

    while (part.size && part.data[part.size - 1] == '=')
        part.size--;
    buf_init(&plain, &op->arena);
    for (size_t i = 0; i < part.size; i++)
        buf_byte(&plain, part.data[i] == '+' ? '-' : part.data[i] == '/' ? '_' : part.data[i]);
    return jwt_decode(&op->arena, buf_as_slice(&plain), &text) && text.size == size &&
           CRYPTO_memcmp(text.data, auth_emulator_key, size) == 0;
}

/* The emulator takes its key for a signature. With a key that is secret, that would send it about in the open. */
static enum status check_emulator(struct op *op, bool is_well_known, const struct jwt *jwt,
                                  struct principal *principal)
{
    enum status st;

    if (!is_well_known)
        TRY(op_fail(op, ST_TOKEN_DISABLED,
                    AUTH_BLOCKED
                    "Tokens of the emulator's form serve where the emulator's well-known key is in use."));
    if (!has_emulator_key(op, jwt))
        TRY(op_fail(op, ST_TOKEN_SIGNATURE,
                    AUTH_BLOCKED
                    "Provided token does not have a valid signature. Please ensure that the AAD token is "
                    "not being modified before use."));
    TRY(bearer_check_times(op, jwt));
    TRY(bearer_principal(op, jwt, principal));
    principal->is_contributor = true;
out:
    return st;
}

static enum status check_jwt(struct op *op, const struct auth *auth, const struct jwt *jwt,
                             struct principal *principal)
{
    if (slice_is(jwt_text(jwt->header, "kid"), EMULATOR_KID))
        return check_emulator(op, auth->keys.is_well_known, jwt, principal);
    if (!auth->bearer)
        return op_fail(op, ST_TOKEN_DISABLED,
                       AUTH_BLOCKED "This server takes no AAD tokens. Start it with --jwks to let it.");
    return bearer_check(op, auth->bearer, jwt, principal);
}

static enum status check_bearer(struct op *op, struct auth *auth, const struct credentials *credentials,
                                struct principal *principal)
{
    struct jwt jwt;
    enum status st;

    if (!slice_is(credentials->version, "1.0") && !slice_is(credentials->version, "1"))
        TRY(malformed(op));
    TRY(jwt_parse(op, credentials->sig, &jwt));
    readers_enter(&auth->lock);
    st = check_jwt(op, auth, &jwt, principal);
    readers_leave(&auth->lock);
out:
    return st;
}

unsigned auth_missing_actions(struct auth *auth, const struct principal *principal, unsigned actions,
                              const struct scope_names *scope)
{
    unsigned missing;

    readers_enter(&auth->lock);
    missing = roles_missing(auth->bearer ? bearer_roles(auth->bearer) : NULL, principal, actions, scope);
    readers_leave(&auth->lock);
    return missing;
}

bool auth_allows_somewhere(struct auth *auth, const struct principal *principal, unsigned action)
{
    bool allows;

    readers_enter(&auth->lock);
    allows = roles_allow_somewhere(auth->bearer ? bearer_roles(auth->bearer) : NULL, principal, action);
    readers_leave(&auth->lock);
    return allows;
}

/* --- all of them --- */

static enum status check_master(struct op *op, struct auth *auth, const struct request *request,
                                const struct auth_subject *subject, const struct credentials *credentials,
                                enum auth_key *which)
{
    enum status st;

    TRY(check_date(op, request));
    if (!check_signature(op, auth, request, subject, credentials->signature, which))
        TRY(refuse(op, payload(op, request, shortened(op, subject->type), shortened(op, subject->link))));
out:
    return st;
}

enum status auth_check(struct op *op, struct auth *auth, const struct request *request,
                       const struct auth_subject *subject, struct auth_who *who)
{
    struct credentials credentials;
    enum status st;

    assert(auth);
    *who = (struct auth_who){ .kind = AUTH_BY_NOBODY };
    TRY(read_credentials(op, request, &credentials));
    if (slice_is(credentials.type, "resource")) {
        who->kind = AUTH_BY_TOKEN;
        TRY(check_token(op, auth, &credentials, &who->grant));
    } else if (slice_is(credentials.type, "aad")) {
        who->kind = AUTH_BY_PRINCIPAL;
        TRY(check_bearer(op, auth, &credentials, &who->principal));
    } else {
        who->kind = AUTH_BY_KEY;
        TRY(check_master(op, auth, request, subject, &credentials, &who->key));
    }
    who->is_known = true;
out:
    return st;
}

enum status auth_sign(struct op *op, const char *base64_key, const struct request *request,
                      const struct auth_subject *subject, struct slice *header)
{
    uint8_t signature[HMAC_BYTES];
    struct buf plain, encoded;
    struct hmac key;
    enum status st;

    TRY(read_key(op, base64_key, &key));
    hmac_sign(&key, payload(op, request, subject->type, subject->link), signature);
    buf_init(&plain, &op->arena);
    buf_text(&plain, "type=master&ver=1.0&sig=");
    base64_encode(&plain, slice_make(signature, sizeof(signature)));
    buf_init(&encoded, &op->arena);
    percent_encode(&encoded, buf_as_slice(&plain));
    *header = buf_as_slice(&encoded);
out:
    OPENSSL_cleanse(&key, sizeof(key));
    return st;
}
