/* src/query/plan/predicate_text.c - from a word of a filter to the range of its terms. */
#include <assert.h>

#include "index/set.h"
#include "index/text_terms.h"
#include "query/plan/predicate_text.h"

struct access *access_word(struct planner *planner, const struct filter *filter)
{
    const struct index_path *path = &filter->path.steps;
    struct access access = { .kind = ACCESS_RANGE, .exact = true, .is_words = true, .path = *path };
    uint8_t prefix[TEXT_PREFIX_BYTES_MAX];
    struct index_text text;
    size_t size;

    assert(filter->kind == FILTER_WORD);
    if (filter->path.traits.computed || filter->path.traits.has_place || !planner->index->has_text ||
        !planner->index->has_text(planner->index, path) ||
        !index_policy_text(planner->index->policy, path, &text) || text.language != filter->language ||
        filter->stem.size == 0 || filter->stem.size > TEXT_WORD_BYTES_MAX)
        return access_any();
    size = text_term_prefix(prefix, text.id, filter->stem);
    access.from = arena_copy(&planner->op->arena, slice_make(prefix, size));
    access.to = index_prefix_end(&planner->op->arena, access.from);
    access.stem = filter->stem;
    return access_new(planner, access);
}
