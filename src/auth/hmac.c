/* src/auth/hmac.c - HMAC (RFC 2104) over OpenSSL's SHA-256. */
#include "auth/hmac.h"

#include <openssl/crypto.h>

enum { BLOCK_BYTES = SHA256_CBLOCK };

static void take_in(SHA256_CTX *context, const uint8_t block[BLOCK_BYTES], uint8_t mask)
{
    uint8_t masked[BLOCK_BYTES];

    for (size_t i = 0; i < BLOCK_BYTES; i++)
        masked[i] = block[i] ^ mask;
    SHA256_Init(context);
    SHA256_Update(context, masked, BLOCK_BYTES);
    OPENSSL_cleanse(masked, sizeof(masked));
}

void hmac_init(struct hmac *hmac, struct slice key)
{
    uint8_t block[BLOCK_BYTES] = { 0 };

    if (key.size > BLOCK_BYTES)
        SHA256((const unsigned char *)key.data, key.size, block);
    else
        memcpy(block, key.data, key.size);
    take_in(&hmac->inner, block, 0x36);
    take_in(&hmac->outer, block, 0x5c);
    OPENSSL_cleanse(block, sizeof(block));
}

void hmac_sign(const struct hmac *hmac, struct slice text, uint8_t signature[HMAC_BYTES])
{
    SHA256_CTX context = hmac->inner;
    uint8_t inner[HMAC_BYTES];

    SHA256_Update(&context, text.data, text.size);
    SHA256_Final(inner, &context);
    context = hmac->outer;
    SHA256_Update(&context, inner, sizeof(inner));
    SHA256_Final(signature, &context);
}
