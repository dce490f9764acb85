/* src/partition/sample.c - a few of many keys, each with the same chance, and the middle of them. */
#include <assert.h>
#include <stdlib.h>

#include "base/env.h"
#include "partition/sample.h"

void sample_add(struct op *op, struct sample *sample, struct slice epk)
{
    size_t at = sample->count;

    assert(sample->count <= SAMPLE_MAX);
    assert(epk.size <= EPK_BYTES_MAX);
    sample->seen++;
    if (at == SAMPLE_MAX)
        at = (size_t)(env_random_u64(op->env) % sample->seen);
    else
        sample->count++;
    if (at >= SAMPLE_MAX)
        return;
    sample->epk[at].size = (uint16_t)epk.size;
    memcpy(sample->epk[at].bytes, epk.data, epk.size);
}

static int by_epk(const void *a, const void *b)
{
    return slice_compare(epk_slice(a), epk_slice(b));
}

void sample_sort(struct sample *sample)
{
    qsort(sample->epk, sample->count, sizeof(*sample->epk), by_epk);
}

static bool is_sorted(const struct sample *sample)
{
    for (size_t i = 1; i < sample->count; i++)
        if (by_epk(&sample->epk[i - 1], &sample->epk[i]) > 0)
            return false;
    return true;
}

/* How many lie before a key. */
static size_t count_before(const struct sample *sample, const struct epk *epk)
{
    size_t count = 0;

    while (count < sample->count && by_epk(&sample->epk[count], epk) < 0)
        count++;
    return count;
}

bool sample_cut(const struct sample *sample, const struct epk *min, const struct epk *max, struct epk *cut)
{
    size_t from = count_before(sample, min), to = count_before(sample, max);

    assert(is_sorted(sample)); /* by sample_sort() */
    assert(from <= to);
    for (size_t i = from + (to - from) / 2; i < to; i++)
        if (by_epk(&sample->epk[i], &sample->epk[from]) > 0) {
            *cut = sample->epk[i];
            return true;
        }
    return false;
}
