/* client/sign.c - the authorization header: a signature with the account's key, a resource token, or a bearer token. */
#include <openssl/core_names.h>
#include <openssl/evp.h>
#include <stdlib.h>

#include "base/encode.h"
#include "client.h"

static const char date_name[] = "x-ms-date: ";
static const char *const verbs[] = { "get", "post", "put", "patch", "delete" };

/* verb, type, link, date, each with a line end; and an empty line for a date that is not used. */
static void text_to_sign(struct buf *out, const struct call *call)
{
    char date[HTTP_DATE_SIZE + 2];

    for (size_t i = 0; i < HTTP_DATE_SIZE; i++)
        date[i] = (char)(call->date[i] >= 'A' && call->date[i] <= 'Z' ? call->date[i] + 32 : call->date[i]);
    date[HTTP_DATE_SIZE] = date[HTTP_DATE_SIZE + 1] = '\n';
    buf_text(out, verbs[call->method]);
    buf_byte(out, '\n');
    buf_text(out, call->target.type);
    buf_byte(out, '\n');
    buf_slice(out, call->target.sign);
    buf_byte(out, '\n');
    buf_append(out, date, sizeof(date));
}

/* Percent-encoded: of base64 only three characters are. */
static void append_signature(struct buf *out, struct slice text)
{
    char *start = buf_reserve(out, 3 * text.size), *to = start;

    for (size_t i = 0; start && i < text.size; i++) {
        char c = text.data[i];
        const char *code = c == '+' ? "%2B" : c == '/' ? "%2F" : c == '=' ? "%3D" : NULL;

        *to++ = code ? code[0] : c;
        if (code) {
            *to++ = code[1];
            *to++ = code[2];
        }
    }
    out->size += (size_t)(to - start);
}

static bool sign(const orrery_client *client, struct call *call, struct buf *header)
{
    struct buf text, base64;
    uint8_t digest[EVP_MAX_MD_SIZE];
    size_t size = 0;

    buf_init(&text, &call->arena);
    buf_init(&base64, &call->arena);
    text_to_sign(&text, call);
    if (text.failed || !EVP_MAC_init(client->mac, NULL, 0, NULL) ||
        !EVP_MAC_update(client->mac, (const uint8_t *)text.data, text.size) ||
        !EVP_MAC_final(client->mac, digest, &size, sizeof(digest)))
        return false;
    base64_encode(&base64, slice_make(digest, size));
    buf_text(header, "type%3Dmaster%26ver%3D1.0%26sig%3D");
    append_signature(header, buf_as_slice(&base64));
    return !base64.failed;
}

/* The date is printed once a second, and not for each request. */
static void set_date(orrery_client *client, struct call *call)
{
    int64_t now_ms = env_now_ms(client->env);

    if (now_ms / 1000 != client->date_second || !client->date[0]) {
        client->date_second = now_ms / 1000;
        http_date_format(now_ms, client->date);
    }
    memcpy(call->date_line, date_name, sizeof(date_name) - 1);
    call->date = call->date_line + sizeof(date_name) - 1;
    memcpy(call->date, client->date, HTTP_DATE_SIZE + 1);
}

enum { BEARER_MARGIN_MS = 60 * 1000 };

/* "type=aad&ver=1.0&sig=...", which is sent as other tokens are. */
static bool keep_bearer(orrery_client *client, const char *token)
{
    static const char begin[] = "type=aad&ver=1.0&sig=";
    size_t bytes = sizeof(begin) + strlen(token);
    char *made = allocator_get(bytes);

    if (!made)
        return false;
    snprintf(made, bytes, "%s%s", begin, token);
    allocator_free(client->token);
    client->token = made;
    return true;
}

orrery_status sign_prepare(orrery_client *client)
{
    int64_t ends_unix_seconds = 0;
    char *token = NULL;
    orrery_status status;

    if (!client->bearer_token ||
        (client->token && env_now_ms(client->env) + BEARER_MARGIN_MS < client->token_ends_ms))
        return ORRERY_OK;
    status = client->bearer_token(client->bearer_context, &token, &ends_unix_seconds);
    if (!orrery_failed(status) && !token)
        status = ORRERY_ECALLBACK;
    if (!orrery_failed(status) && !keep_bearer(client, token))
        status = ORRERY_ENOMEM;
    free(token); /* by malloc(), as the header asks for it */
    if (orrery_failed(status))
        return client_fail(client, status, "the function that gives bearer tokens: %s",
                           orrery_status_text(status));
    client->token_ends_ms = ends_unix_seconds * 1000;
    return ORRERY_OK;
}

bool sign_request(orrery_client *client, struct call *call)
{
    struct buf header;

    set_date(client, call);
    buf_init(&header, &call->arena);
    buf_text(&header, "authorization: ");
    if (client->token)
        percent_encode(&header, slice_of(client->token));
    else if (!sign(client, call, &header))
        return false;
    buf_byte(&header, '\0');
    call->authorization = header.data;
    return !header.failed;
}

/* The key is set once: each signature begins from it. */
bool sign_open(orrery_client *client, const uint8_t *key, size_t key_bytes)
{
    OSSL_PARAM digest[] = { OSSL_PARAM_construct_utf8_string(OSSL_MAC_PARAM_DIGEST, (char *)"SHA256", 0),
                            OSSL_PARAM_construct_end() };
    EVP_MAC *hmac = EVP_MAC_fetch(NULL, "HMAC", NULL);

    client->mac = hmac ? EVP_MAC_CTX_new(hmac) : NULL;
    EVP_MAC_free(hmac);
    return client->mac && EVP_MAC_init(client->mac, key, key_bytes, digest);
}

void sign_close(orrery_client *client)
{
    EVP_MAC_CTX_free(client->mac);
}
