/*
 * test/fuzz/like_fuzz.c - LIKE against a slow and simple model of it.
 * The first byte chooses the escape and where the pattern ends; the rest is mapped to the characters that
 * matter, so that almost every input is a pattern worth trying. The bytes as they are must do no harm.
 */
#include <stdlib.h>

#include "query/eval/like.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { SMALL_MAX = 24 };

/* Each character is one byte, so that the model needs no decoding. */
static bool in_set(const char *set, const char *end, char escape, char c)
{
    while (set < end) {
        char low, high;

        set += *set == escape;
        low = high = *set++;
        if (end - set > 1 && *set == '-') {
            set++;
            set += *set == escape;
            high = *set++;
        }
        if (c >= low && c <= high)
            return true;
    }
    return false;
}

static const char *set_end(const char *at, const char *end, char escape)
{
    while (at < end && *at != ']')
        at += *at == escape ? 2 : 1;
    return at < end ? at : NULL;
}

static bool model(const char *text, const char *text_end, const char *at, const char *end, char escape)
{
    const char *close;
    bool here = text < text_end;

    if (at == end)
        return !here;
    if (*at == escape)
        return at + 1 < end && here && *text == at[1] && model(text + 1, text_end, at + 2, end, escape);
    if (*at == '%')
        return model(text, text_end, at + 1, end, escape) ||
               (here && model(text + 1, text_end, at, end, escape));
    if (*at == '_')
        return here && model(text + 1, text_end, at + 1, end, escape);
    close = *at == '[' ? set_end(at + 1, end, escape) : NULL;
    if (close) {
        bool negated = at[1] == '^';

        return here && in_set(at + 1 + negated, close, escape, *text) != negated &&
               model(text + 1, text_end, close + 1, end, escape);
    }
    return here && *text == *at && model(text + 1, text_end, at + 1, end, escape);
}

static void compare(struct eval *eval, struct slice text, struct slice pattern, char escape)
{
    bool got = like_match(eval, text, pattern, slice_make(&escape, escape != '\0'));

    if (got != model(text.data, text.data + text.size, pattern.data, pattern.data + pattern.size, escape))
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char alphabet[16] = "aabbc%%__[]^-!!d";
    struct eval eval = { 0 };
    char small[SMALL_MAX];
    struct op op;
    size_t cut;

    if (size < 2)
        return 0;
    op_init(&op, env_system(), OP_MEMORY_BYTES_MAX);
    eval.op = &op;
    cut = 1 + (data[0] >> 1) % (size - 1);
    like_match(&eval, slice_make(data + cut, size - cut), slice_make(data + 1, cut - 1),
               slice_make(data, data[0] & 1));
    size = size - 1 < SMALL_MAX ? size - 1 : SMALL_MAX;
    cut = (data[0] >> 1) % (size + 1);
    for (size_t i = 0; i < size; i++)
        small[i] = alphabet[data[i + 1] % sizeof(alphabet)];
    compare(&eval, slice_make(small + cut, size - cut), slice_make(small, cut), data[0] & 1 ? '!' : '\0');
    op_free(&op);
    return 0;
}
