/* client/sign.c - the authorization header: a signature with the account's key, or a resource token. */
#include <openssl/hmac.h>

#include "base/encode.h"
#include "client.h"

static const char date_name[] = "x-ms-date: ";
static const char *const verbs[] = { "get", "post", "put", "patch", "delete" };

/* verb, type, link, date, each with a line end; and an empty line for a date that is not used. */
static void text_to_sign(struct buf *out, const struct call *call)
{
    buf_printf(out, "%s\n%s\n", verbs[call->method], call->target.type);
    buf_slice(out, call->target.sign);
    buf_byte(out, '\n');
    for (const char *at = call->date; *at; at++)
        buf_byte(out, (char)(*at >= 'A' && *at <= 'Z' ? *at + 32 : *at));
    buf_text(out, "\n\n");
}

static bool sign(const orrery_client *client, struct call *call, struct buf *value)
{
    struct buf text;
    uint8_t digest[32];
    unsigned int size = sizeof(digest);

    buf_init(&text, &call->arena);
    text_to_sign(&text, call);
    if (text.failed || !HMAC(EVP_sha256(), client->key, (int)client->key_bytes, (const uint8_t *)text.data,
                             text.size, digest, &size))
        return false;
    buf_text(value, "type=master&ver=1.0&sig=");
    base64_encode(value, slice_make(digest, size));
    return true;
}

bool sign_request(const orrery_client *client, struct call *call)
{
    struct buf value, header;

    memcpy(call->date_line, date_name, sizeof(date_name) - 1);
    call->date = call->date_line + sizeof(date_name) - 1;
    http_date_format(env_now_ms(client->env), call->date);
    buf_init(&value, &call->arena);
    buf_init(&header, &call->arena);
    if (client->token)
        buf_text(&value, client->token);
    else if (!sign(client, call, &value))
        return false;
    buf_text(&header, "authorization: ");
    percent_encode(&header, buf_as_slice(&value));
    buf_byte(&header, '\0');
    call->authorization = header.data;
    return !value.failed && !header.failed;
}
