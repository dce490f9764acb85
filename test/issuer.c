/* test/issuer.c - makes keys and tokens, independently of the code that checks them. */
#include "issuer.h"

#include <openssl/bn.h>
#include <openssl/core_names.h>
#include <openssl/ec.h>
#include <openssl/ecdsa.h>
#include <openssl/hmac.h>
#include <openssl/rsa.h>

#include "base/encode.h"
#include "test.h"

void issuer_open(struct issuer *issuer)
{
    issuer->rsa = EVP_RSA_gen(2048);
    issuer->ec = EVP_EC_gen("P-256");
    CHECK(issuer->rsa && issuer->ec);
}

void issuer_close(struct issuer *issuer)
{
    EVP_PKEY_free(issuer->rsa);
    EVP_PKEY_free(issuer->ec);
}

void issuer_encode(struct buf *out, struct slice bytes)
{
    size_t from = out->size;

    base64_encode(out, bytes);
    while (out->size > from && out->data[out->size - 1] == '=')
        out->size--;
    for (size_t i = from; i < out->size; i++)
        out->data[i] = out->data[i] == '+' ? '-' : out->data[i] == '/' ? '_' : out->data[i];
}

static void add_number(struct buf *out, const EVP_PKEY *key, const char *name, int size)
{
    unsigned char bytes[512];
    BIGNUM *number = NULL;
    int got;

    CHECK(EVP_PKEY_get_bn_param(key, name, &number) == 1);
    got = size ? BN_bn2binpad(number, bytes, size) : BN_bn2bin(number, bytes);
    CHECK(got > 0);
    issuer_encode(out, slice_make(bytes, (size_t)got));
    BN_free(number);
}

struct slice issuer_jwks(const struct issuer *issuer, struct op *op, const char *more)
{
    struct buf out;

    buf_init(&out, &op->arena);
    buf_text(&out, "{\"keys\":[{\"kty\":\"RSA\",\"use\":\"sig\",\"kid\":\"rsa\",\"n\":\"");
    add_number(&out, issuer->rsa, OSSL_PKEY_PARAM_RSA_N, 0);
    buf_text(&out, "\",\"e\":\"");
    add_number(&out, issuer->rsa, OSSL_PKEY_PARAM_RSA_E, 0);
    buf_text(&out, "\"},{\"kty\":\"EC\",\"crv\":\"P-256\",\"kid\":\"ec\",\"x\":\"");
    add_number(&out, issuer->ec, OSSL_PKEY_PARAM_EC_PUB_X, 32);
    buf_text(&out, "\",\"y\":\"");
    add_number(&out, issuer->ec, OSSL_PKEY_PARAM_EC_PUB_Y, 32);
    buf_printf(&out, "\"}%s]}", more);
    return buf_as_slice(&out);
}

static void add_part(struct buf *out, const char *text)
{
    char plain[8192];
    size_t size = strlen(text);

    CHECK(size < sizeof(plain));
    for (size_t i = 0; i < size; i++)
        plain[i] = text[i] == '\'' ? '"' : text[i];
    issuer_encode(out, slice_make(plain, size));
}

static size_t sign_with(EVP_PKEY *key, struct slice text, unsigned char *signature, size_t size)
{
    EVP_MD_CTX *context = EVP_MD_CTX_new();

    CHECK(EVP_DigestSignInit(context, NULL, EVP_sha256(), NULL, key) == 1);
    CHECK(EVP_DigestSign(context, signature, &size, (const unsigned char *)text.data, text.size) == 1);
    EVP_MD_CTX_free(context);
    return size;
}

/* The two numbers of 32 bytes, out of DER. */
static void flatten(const unsigned char *der, size_t size, unsigned char flat[64])
{
    ECDSA_SIG *signature = d2i_ECDSA_SIG(NULL, &der, (long)size);

    CHECK(signature && BN_bn2binpad(ECDSA_SIG_get0_r(signature), flat, 32) == 32 &&
          BN_bn2binpad(ECDSA_SIG_get0_s(signature), flat + 32, 32) == 32);
    ECDSA_SIG_free(signature);
}

struct slice issuer_sign(const struct issuer *issuer, struct op *op, const char *header, const char *claims)
{
    unsigned char signature[512], flat[64];
    struct slice secret = issuer_jwks(issuer, op, "");
    unsigned mac_size = 0;
    struct buf out;
    size_t size = 0;

    buf_init(&out, &op->arena);
    add_part(&out, header);
    buf_byte(&out, '.');
    add_part(&out, claims);
    if (strstr(header, "RS256"))
        size = sign_with(issuer->rsa, buf_as_slice(&out), signature, sizeof(signature));
    if (strstr(header, "ES256")) {
        flatten(signature, sign_with(issuer->ec, buf_as_slice(&out), signature, sizeof(signature)), flat);
        memcpy(signature, flat, sizeof(flat));
        size = sizeof(flat);
    }
    if (strstr(header, "HS256")) {
        HMAC(EVP_sha256(), secret.data, (int)secret.size, (unsigned char *)out.data, out.size, signature,
             &mac_size);
        size = mac_size;
    }
    buf_byte(&out, '.');
    issuer_encode(&out, slice_make(signature, size));
    return buf_as_slice(&out);
}

struct slice issuer_emulator_token(struct op *op, const char *key, const char *claims)
{
    struct buf out;

    buf_init(&out, &op->arena);
    add_part(&out, "{'typ':'JWT','alg':'RS256','x5t':'CosmosEmulatorPrimaryMaster',"
                   "'kid':'CosmosEmulatorPrimaryMaster'}");
    buf_byte(&out, '.');
    add_part(&out, claims);
    buf_byte(&out, '.');
    issuer_encode(&out, slice_of(key));
    return buf_as_slice(&out);
}

struct slice issuer_authorization(struct op *op, struct slice token)
{
    struct buf plain, encoded;

    buf_init(&plain, &op->arena);
    buf_init(&encoded, &op->arena);
    buf_text(&plain, "type=aad&ver=1.0&sig=");
    buf_slice(&plain, token);
    percent_encode(&encoded, buf_as_slice(&plain));
    return buf_as_slice(&encoded);
}
