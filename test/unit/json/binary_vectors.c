/* test/unit/json/binary_vectors.c - reads binary_vectors.txt. */
#include "binary_vectors.h"
#include "base/buf.h"
#include "test.h"

enum { BLOCK_BYTES = 64 * 1024 };

static bool unpack(struct buf *out)
{
    char command[5000];
    size_t size;
    FILE *file;

    snprintf(command, sizeof(command), "base64 -d '%s' | xz -dc",
             test_source_path("test/unit/json/binary_vectors.txt"));
    file = popen(command, "r");
    if (!file)
        return false;
    do {
        char *to = buf_reserve(out, BLOCK_BYTES);

        size = to ? fread(to, 1, BLOCK_BYTES, file) : 0;
        out->size += size;
    } while (size);
    return pclose(file) == 0 && !out->failed;
}

static bool take(struct slice *left, size_t size, struct slice *part)
{
    if (left->size < size)
        return false;
    *part = slice_make(left->data, size);
    *left = slice_after(*left, size);
    return true;
}

static bool take_sized(struct slice *left, struct slice *part)
{
    struct slice size;
    uint32_t bytes;

    if (!take(left, sizeof(bytes), &size))
        return false;
    memcpy(&bytes, size.data, sizeof(bytes));
    return take(left, bytes, part);
}

bool vectors_load(struct op *op, struct vector vectors[VECTOR_COUNT])
{
    struct slice left, kind;
    struct buf all;

    buf_init(&all, &op->arena);
    if (!unpack(&all))
        return false;
    left = buf_as_slice(&all);
    for (size_t i = 0; i < VECTOR_COUNT; i++) {
        if (!take(&left, 1, &kind) || !take_sized(&left, &vectors[i].bytes) ||
            !take_sized(&left, &vectors[i].text))
            return false;
        vectors[i].kind = (enum vector_kind)kind.data[0];
    }
    return left.size == 0;
}
