/* src/auth/jwt.c - JSON Web Tokens, over OpenSSL. */
#include <assert.h>
#include <openssl/core_names.h>
#include <openssl/ecdsa.h>
#include <openssl/evp.h>
#include <openssl/param_build.h>
#include <openssl/rsa.h>
#include <pthread.h>
#include <stdlib.h>

#include "auth/auth.h"
#include "auth/jwt.h"
#include "base/encode.h"
#include "base/heap.h"
#include "base/limits.h"

enum { P256_BYTES = 32, RSA_BITS_MIN = 2048, RSA_BYTES_MAX = 1024, KID_BYTES_MAX = 256 };

enum algorithm { RS256, ES256, ALGORITHMS };
static const char *const algorithm_names[ALGORITHMS] = { "RS256", "ES256" };

struct jwt_key {
    char kid[KID_BYTES_MAX + 1];
    enum algorithm algorithm;
    EVP_PKEY *key;
};

enum { DIGEST_BYTES = 32, SEEN_MAX = 256 };

struct jwt_keys {
    struct jwt_key *item;
    size_t count, capacity;
    pthread_mutex_t lock; /* of `seen` */
    uint8_t
        seen[SEEN_MAX]
            [DIGEST_BYTES]; /* SHA-256 of tokens that were verified, each in the place of its first byte */
};

struct slice jwt_text(struct json object, const char *name)
{
    struct json value = json_get(object, name);

    return json_kind(value) == JSON_STRING ? json_string(value) : (struct slice){ 0 };
}

bool jwt_decode(struct arena *arena, struct slice text, struct slice *bytes)
{
    size_t padded = (text.size + 3) / 4 * 4, size;
    char *base64 = arena_try_alloc(arena, padded + 1);
    uint8_t *decoded = arena_try_alloc(arena, padded / 4 * 3 + 1);

    if (!base64 || !decoded || text.size % 4 == 1)
        return false;
    for (size_t i = 0; i < padded; i++) {
        char c = i < text.size ? text.data[i] : '=';

        if (i < text.size && (c == '=' || c == '+' || c == '/'))
            return false;
        base64[i] = c == '-' ? '+' : c == '_' ? '/' : c;
    }
    if (!base64_decode(slice_make(base64, padded), decoded, padded / 4 * 3, &size))
        return false;
    *bytes = slice_make(decoded, size);
    return true;
}

/* --- keys --- */

/* A member of a key that is a number or a coordinate, as big-endian bytes. */
static bool read_bytes(struct op *op, struct json jwk, const char *name, size_t bytes_max,
                       struct slice *bytes)
{
    struct slice text = jwt_text(jwk, name);

    return text.size > 0 && jwt_decode(&op->arena, text, bytes) && bytes->size > 0 &&
           bytes->size <= bytes_max;
}

static EVP_PKEY *make_key(const char *type, OSSL_PARAM_BLD *build)
{
    OSSL_PARAM *parameters = OSSL_PARAM_BLD_to_param(build);
    EVP_PKEY_CTX *context = EVP_PKEY_CTX_new_from_name(NULL, type, NULL);
    EVP_PKEY *key = NULL;

    if (parameters && context && EVP_PKEY_fromdata_init(context) == 1)
        EVP_PKEY_fromdata(context, &key, EVP_PKEY_PUBLIC_KEY, parameters);
    EVP_PKEY_CTX_free(context);
    OSSL_PARAM_free(parameters);
    return key;
}

static EVP_PKEY *read_rsa(struct op *op, struct json jwk)
{
    OSSL_PARAM_BLD *build = OSSL_PARAM_BLD_new();
    BIGNUM *modulus = NULL, *exponent = NULL;
    EVP_PKEY *key = NULL;
    struct slice n, e;

    if (build && read_bytes(op, jwk, "n", RSA_BYTES_MAX, &n) && read_bytes(op, jwk, "e", 8, &e)) {
        modulus = BN_bin2bn((const unsigned char *)n.data, (int)n.size, NULL);
        exponent = BN_bin2bn((const unsigned char *)e.data, (int)e.size, NULL);
    }
    if (modulus && exponent && OSSL_PARAM_BLD_push_BN(build, OSSL_PKEY_PARAM_RSA_N, modulus) == 1 &&
        OSSL_PARAM_BLD_push_BN(build, OSSL_PKEY_PARAM_RSA_E, exponent) == 1)
        key = make_key("RSA", build);
    if (key && EVP_PKEY_get_bits(key) < RSA_BITS_MIN) {
        EVP_PKEY_free(key);
        key = NULL;
    }
    BN_free(modulus);
    BN_free(exponent);
    OSSL_PARAM_BLD_free(build);
    return key;
}

static EVP_PKEY *read_ec(struct op *op, struct json jwk)
{
    OSSL_PARAM_BLD *build = OSSL_PARAM_BLD_new();
    uint8_t point[1 + 2 * P256_BYTES] = { 4 }; /* not compressed */
    EVP_PKEY *key = NULL;
    struct slice x, y;

    if (build && slice_is(jwt_text(jwk, "crv"), "P-256") && read_bytes(op, jwk, "x", P256_BYTES, &x) &&
        read_bytes(op, jwk, "y", P256_BYTES, &y) && x.size == P256_BYTES && y.size == P256_BYTES) {
        memcpy(point + 1, x.data, P256_BYTES);
        memcpy(point + 1 + P256_BYTES, y.data, P256_BYTES);
        if (OSSL_PARAM_BLD_push_utf8_string(build, OSSL_PKEY_PARAM_GROUP_NAME, "prime256v1", 0) == 1 &&
            OSSL_PARAM_BLD_push_octet_string(build, OSSL_PKEY_PARAM_PUB_KEY, point, sizeof(point)) == 1)
            key = make_key("EC", build);
    }
    OSSL_PARAM_BLD_free(build);
    return key;
}

/* Whether the key says of itself that it is for signatures of this kind, or says nothing. */
static bool is_for(struct json jwk, enum algorithm algorithm)
{
    struct slice use = jwt_text(jwk, "use"), alg = jwt_text(jwk, "alg");

    return (!use.data || slice_is(use, "sig")) && (!alg.data || slice_is(alg, algorithm_names[algorithm]));
}

static enum status add_key(struct op *op, struct json jwk, struct jwt_keys *keys)
{
    struct slice kind = jwt_text(jwk, "kty"), kid = jwt_text(jwk, "kid");
    enum algorithm algorithm = slice_is(kind, "EC") ? ES256 : RS256;
    struct jwt_key *added;

    if ((!slice_is(kind, "RSA") && !slice_is(kind, "EC")) || kid.size == 0 || !is_for(jwk, algorithm))
        return ST_OK;
    heap_list_reserve(&keys->item, &keys->capacity, keys->count + 1, sizeof(*keys->item));
    added = &keys->item[keys->count];
    *added = (struct jwt_key){ .algorithm = algorithm };
    if (kid.size <= KID_BYTES_MAX && !memchr(kid.data, '\0', kid.size))
        added->key = algorithm == ES256 ? read_ec(op, jwk) : read_rsa(op, jwk);
    if (!added->key)
        return op_fail(op, ST_BAD_REQUEST,
                       "the key '%.*s' is no RSA key of %d bits or more and no EC key of P-256",
                       kid.size > 64 ? 64 : (int)kid.size, kid.data, RSA_BITS_MIN);
    memcpy(added->kid, kid.data, kid.size);
    keys->count++;
    return ST_OK;
}

enum status jwt_keys_parse(struct op *op, struct slice text, struct jwt_keys **keys)
{
    struct jwt_keys *made = heap_allocate(sizeof(*made));
    struct json_iter jwk;
    struct json set;
    enum status st;

    pthread_mutex_init(&made->lock, NULL);
    TRY(json_parse(op, text, &set));
    jwk = json_iter(json_get(set, "keys"));
    while (json_next(&jwk))
        TRY(add_key(op, jwk.value, made));
    if (made->count == 0)
        TRY(op_fail(op, ST_BAD_REQUEST, "it is no JWKS with an RSA or EC key for signatures that has a kid"));
    *keys = made;
    made = NULL;
out:
    jwt_keys_free(made);
    return st;
}

void jwt_keys_free(struct jwt_keys *keys)
{
    if (!keys)
        return;
    for (size_t i = 0; i < keys->count; i++)
        EVP_PKEY_free(keys->item[i].key);
    pthread_mutex_destroy(&keys->lock);
    free(keys->item);
    free(keys);
}

/* --- tokens --- */

static enum status malformed(struct op *op)
{
    return op_fail(op, ST_TOKEN_MALFORMED, AUTH_BLOCKED "Provided AAD token is not a JSON Web Token.");
}

static struct slice take_part(struct slice *rest)
{
    const char *dot = rest->size ? memchr(rest->data, '.', rest->size) : NULL;
    struct slice part = slice_make(rest->data, dot ? (size_t)(dot - rest->data) : rest->size);

    *rest = slice_after(*rest, dot ? part.size + 1 : part.size);
    return part;
}

static bool parse_object(struct op *op, struct slice part, struct json *object)
{
    struct slice text;

    return part.size > 0 && jwt_decode(&op->arena, part, &text) && json_parse(op, text, object) == ST_OK &&
           json_kind(*object) == JSON_OBJECT;
}

enum status jwt_parse(struct op *op, struct slice token, struct jwt *jwt)
{
    struct slice rest = token, header = take_part(&rest), claims = take_part(&rest);

    if (token.size > JWT_BYTES_MAX || !parse_object(op, header, &jwt->header) ||
        !parse_object(op, claims, &jwt->claims) || rest.size == 0 || memchr(rest.data, '.', rest.size))
        return malformed(op);
    jwt->signed_text = slice_make(token.data, header.size + 1 + claims.size);
    jwt->signature = rest;
    jwt->text = token;
    return ST_OK;
}

/* ES256 has both numbers one after the other, where OpenSSL has them in DER. */
static bool der_of(struct op *op, struct slice raw, struct slice *der)
{
    const unsigned char *bytes = (const unsigned char *)raw.data;
    ECDSA_SIG *signature = ECDSA_SIG_new();
    BIGNUM *r = NULL, *s = NULL;
    unsigned char *out = arena_alloc(&op->arena, 16 + 2 * P256_BYTES);
    int size = 0;

    *der = slice_make(out, 0);
    if (raw.size == 2 * P256_BYTES) {
        r = BN_bin2bn(bytes, P256_BYTES, NULL);
        s = BN_bin2bn(bytes + P256_BYTES, P256_BYTES, NULL);
    }
    if (r && s && signature && ECDSA_SIG_set0(signature, r, s) == 1) {
        r = s = NULL; /* which are the signature's now */
        size = i2d_ECDSA_SIG(signature, &out);
    }
    der->size = size > 0 ? (size_t)size : 0;
    BN_free(r);
    BN_free(s);
    ECDSA_SIG_free(signature);
    return size > 0;
}

static bool verify(struct op *op, const struct jwt_key *key, const struct jwt *jwt)
{
    EVP_MD_CTX *context = EVP_MD_CTX_new();
    struct slice signature;
    bool good;

    good = context && jwt_decode(&op->arena, jwt->signature, &signature) &&
           (key->algorithm != ES256 || der_of(op, signature, &signature)) &&
           EVP_DigestVerifyInit(context, NULL, EVP_sha256(), NULL, key->key) == 1 &&
           EVP_DigestVerify(context, (const unsigned char *)signature.data, signature.size,
                            (const unsigned char *)jwt->signed_text.data, jwt->signed_text.size) == 1;
    EVP_MD_CTX_free(context);
    return good;
}

/* The key of this kid whose own algorithm is the one that the token names. */
static const struct jwt_key *find_key(const struct jwt_keys *keys, struct slice kid, struct slice algorithm)
{
    for (size_t i = 0; i < keys->count; i++)
        if (slice_is(kid, keys->item[i].kid) && slice_is(algorithm, algorithm_names[keys->item[i].algorithm]))
            return &keys->item[i];
    return NULL;
}

static bool has_seen(struct jwt_keys *keys, const uint8_t digest[DIGEST_BYTES])
{
    bool seen;

    pthread_mutex_lock(&keys->lock);
    seen = memcmp(keys->seen[digest[0]], digest, DIGEST_BYTES) == 0;
    pthread_mutex_unlock(&keys->lock);
    return seen;
}

static void remember(struct jwt_keys *keys, const uint8_t digest[DIGEST_BYTES])
{
    pthread_mutex_lock(&keys->lock);
    memcpy(keys->seen[digest[0]], digest, DIGEST_BYTES);
    pthread_mutex_unlock(&keys->lock);
}

/* Verifies what was not verified before, to the last byte the same. */
static bool verify_once(struct op *op, struct jwt_keys *keys, const struct jwt_key *key,
                        const struct jwt *jwt)
{
    uint8_t digest[DIGEST_BYTES];

    if (EVP_Digest(jwt->text.data, jwt->text.size, digest, NULL, EVP_sha256(), NULL) != 1)
        return false;
    if (has_seen(keys, digest))
        return true;
    if (!verify(op, key, jwt))
        return false;
    remember(keys, digest);
    return true;
}

enum status jwt_check_signature(struct op *op, const struct jwt *jwt, struct jwt_keys *keys)
{
    const struct jwt_key *key = find_key(keys, jwt_text(jwt->header, "kid"), jwt_text(jwt->header, "alg"));

    if (!key || json_kind(json_get(jwt->header, "crit")) !=
                    JSON_UNDEFINED) /* what it says must be understood is not */
        return op_fail(op, ST_TOKEN_KEY,
                       AUTH_BLOCKED
                       "Provided AAD token is signed with a key or an algorithm that is not known here.");
    if (!verify_once(op, keys, key, jwt))
        return op_fail(op, ST_TOKEN_SIGNATURE,
                       AUTH_BLOCKED
                       "Provided token does not have a valid signature. Please ensure that the AAD token "
                       "is not being modified before use.");
    return ST_OK;
}
