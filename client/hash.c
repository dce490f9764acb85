/* client/hash.c - the hashes that rings are made of by name: Murmur3 and MD5. */
#include <openssl/evp.h>

#include "base/hash.h"
#include "hash_ring.h"

enum { MURMUR3_BYTES = 4, MD5_BYTES = 16 };

static orrery_status murmur3(void *context, const void *bytes, size_t size, unsigned char *digest)
{
    uint32_t hash = murmur3_32(bytes, size);

    (void)context;
    for (int i = 0; i < MURMUR3_BYTES; i++)
        digest[i] = (unsigned char)(hash >> (8 * i));
    return ORRERY_OK;
}

static orrery_status md5(void *context, const void *bytes, size_t size, unsigned char *digest)
{
    unsigned int written = 0;

    (void)context;
    if (EVP_Digest(bytes, size, digest, &written, EVP_md5(), NULL) != 1 || written != MD5_BYTES)
        return ORRERY_EUNSUPPORTED; /* where the machine's rules forbid MD5 */
    return ORRERY_OK;
}

const orrery_hash orrery_hash_murmur3 = {
    .size = sizeof(orrery_hash), MURMUR3_BYTES, 0, NULL, murmur3, "murmur3"
};
const orrery_hash orrery_hash_md5 = { .size = sizeof(orrery_hash), MD5_BYTES, 0, NULL, md5, "md5" };

const orrery_hash *hash_by_name(struct slice name)
{
    static const orrery_hash *const known[] = { &orrery_hash_murmur3, &orrery_hash_md5 };

    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
        if (slice_is(name, known[i]->name))
            return known[i];
    return NULL;
}
