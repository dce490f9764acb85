/* src/auth/auth.c - master-key signatures. */
#include <openssl/crypto.h>
#include <stdlib.h>

#include "auth/auth.h"
#include "auth/hmac.h"
#include "base/encode.h"
#include "base/limits.h"

enum { KEY_BYTES_MAX = 256 };

const char auth_emulator_key[] =
    "C2y6yDjf5/R+ob0N8A7Cgv30VRDJIWEHLM+4QDU5DE2nQ9nDuVTqobD4b8mGGyPMbIZnqyMsEcaGQy67XIw/Jw==";

struct auth {
    size_t count;
    struct hmac key[AUTH_KEYS_MAX];
};

static enum status add_key(struct op *op, struct auth *auth, const char *base64)
{
    uint8_t key[KEY_BYTES_MAX];
    size_t size;

    if (!base64_decode(slice_of(base64), key, sizeof(key), &size) || size == 0)
        return op_fail(op, ST_BAD_REQUEST, "a key must be base64 of 1 to %d bytes", KEY_BYTES_MAX);
    hmac_init(&auth->key[auth->count++], slice_make(key, size));
    OPENSSL_cleanse(key, sizeof(key));
    return ST_OK;
}

enum status auth_open(struct op *op, const char *const *base64_keys, size_t count, struct auth **auth)
{
    struct auth *made = calloc(1, sizeof(*made));
    enum status st = ST_OK;

    if (!made)
        abort();
    if (count == 0 || count > AUTH_KEYS_MAX)
        TRY(op_fail(op, ST_BAD_REQUEST, "there must be between 1 and %d keys", AUTH_KEYS_MAX));
    for (size_t i = 0; i < count; i++)
        TRY(add_key(op, made, base64_keys[i]));
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
    OPENSSL_cleanse(auth, sizeof(*auth));
    free(auth);
}

/* --- the header: type=master&ver=1.0&sig=... percent-encoded --- */

struct credentials {
    struct slice type, version;
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
    struct slice header = request->header[HEADER_AUTHORIZATION], text, signature;
    size_t size;

    if (!header.data || header.size == 0)
        return op_fail(
            op, ST_UNAUTHORIZED,
            "Required Header authorization is missing. Ensure a valid Authorization token is passed.");
    if (!percent_decode(&op->arena, header, &text))
        return malformed(op);
    credentials->type = field(text, "type");
    credentials->version = field(text, "ver");
    signature = field(text, "sig");
    if (!credentials->type.data || !credentials->version.data || !signature.data)
        return malformed(op);
    if (slice_is(credentials->type, "resource") || slice_is(credentials->type, "aad") ||
        slice_is(credentials->type, "sas"))
        return op_fail(op, ST_NOT_BUILT,
                       "This version of the server knows master keys, and no tokens of type '%.*s'.",
                       SLICE_ARGS(credentials->type));
    if (!slice_is(credentials->type, "master") || !slice_is(credentials->version, "1.0") ||
        !base64_decode(signature, credentials->signature, HMAC_BYTES, &size) || size != HMAC_BYTES)
        return malformed(op);
    return ST_OK;
}

/* --- the date --- */

static enum status check_date(struct op *op, const struct request *request)
{
    struct slice date = request->header[HEADER_MS_DATE];
    char from[HTTP_DATE_SIZE + 1], to[HTTP_DATE_SIZE + 1], now[HTTP_DATE_SIZE + 1];
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
    http_date_format(ms, from);
    http_date_format(ms + DATE_SKEW_MS, to);
    http_date_format(op->now_ms, now);
    return op_fail(
        op, ST_FORBIDDEN,
        "The authorization token is not valid at the current time. Please create another token and retry "
        "(token start time: %s, token expiry time: %s, current server time: %s).",
        from, to, now);
}

/* --- the signature --- */

static void add_lower(struct buf *text, struct slice part)
{
    char *room = buf_reserve(text, part.size + 1);

    if (!room)
        return;
    for (size_t i = 0; i < part.size; i++) {
        char c = part.data[i];

        room[i] = c >= 'A' && c <= 'Z' ? (char)(c + 32) : c;
    }
    room[part.size] = '\n';
    text->size += part.size + 1;
}

/* What the client signed, if it meant `link`. */
static struct slice payload(struct op *op, const struct request *request, struct slice type,
                            struct slice link)
{
    static const char *const verbs[] = { "get", "head", "post", "put", "patch", "delete", "options", "" };
    struct slice date = request->header[HEADER_MS_DATE];
    struct buf text;

    buf_init(&text, &op->arena);
    add_lower(&text, slice_of(verbs[request->method]));
    add_lower(&text, type);
    buf_slice(&text, link);
    buf_byte(&text, '\n');
    add_lower(&text, date.data ? date : slice_of(""));
    add_lower(&text, date.data ? slice_of("") : request->header[HEADER_DATE]);
    return buf_as_slice(&text);
}

static bool signed_by_any_key(const struct auth *auth, struct slice text, const uint8_t signature[HMAC_BYTES])
{
    bool match = false;

    for (size_t i = 0; i < auth->count; i++) {
        uint8_t made[HMAC_BYTES];

        hmac_sign(&auth->key[i], text, made);
        match |= CRYPTO_memcmp(made, signature, sizeof(made)) == 0;
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

static bool check_signature(struct op *op, struct auth *auth, const struct request *request,
                            const struct auth_subject *subject, const uint8_t *signature)
{
    /* The usual one first: each miss costs a signature. */
    struct slice links[4] = { subject->link, lowered(op, subject->last), subject->raw_link,
                              lowered(op, subject->link) };

    for (size_t i = 0; i < 4; i++)
        if (signed_by_any_key(auth, payload(op, request, subject->type, links[i]), signature))
            return true;
    return false;
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

enum status auth_check(struct op *op, struct auth *auth, const struct request *request,
                       const struct auth_subject *subject)
{
    struct credentials credentials;
    enum status st;

    TRY(read_credentials(op, request, &credentials));
    TRY(check_date(op, request));
    if (!check_signature(op, auth, request, subject, credentials.signature))
        TRY(refuse(op, payload(op, request, subject->type, subject->link)));
out:
    return st;
}
