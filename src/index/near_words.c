/* src/index/near_words.c - from word to word through an index, past all that are too far away. */
#include "index/near_words.h"
#include "index/set.h"
#include "index/text_terms.h"

struct search {
    struct op *op;
    const struct text_term *term;
    struct near_words *near;
};

static enum status add(struct search *search, struct slice prefix)
{
    struct near_words *near = search->near;
    struct arena *arena = &search->op->arena;

    if (!arena_list_reserve(arena, &near->prefix, &near->capacity, near->count + 1, sizeof(*near->prefix)))
        return op_fail_as(search->op, ST_QUERY_MEMORY);
    near->prefix[near->count++] = arena_copy(arena, prefix);
    return ST_OK;
}

/* Stems and forms end with 00. */
static struct slice word_of(struct slice term)
{
    struct slice bytes = slice_after(term, TERM_PATH_BYTES);
    const char *end = memchr(bytes.data, 0, bytes.size);

    return slice_make(bytes.data, end ? (size_t)(end - bytes.data) : bytes.size);
}

/* The word at hand, and how much of it the next one does not begin with: its end included, or less. */
static enum status look_at(struct search *search, struct slice term, size_t *passed)
{
    struct slice word = word_of(term);
    size_t ruled_out;

    *passed = TERM_PATH_BYTES + word.size + 1;
    if (word.size == 0) /* texts as a whole */
        return ST_OK;
    if (text_is_near(word, search->term->word, search->term->distance, &ruled_out))
        return add(search, slice_make(term.data, *passed));
    if (ruled_out)
        *passed = TERM_PATH_BYTES + ruled_out;
    return ST_OK;
}

static enum status walk(struct search *search, const struct view *view, path_id path)
{
    struct op *op = search->op;
    uint8_t bytes[TERM_PATH_BYTES];
    struct index_walk range = { .last = UINT64_MAX };
    struct index_cursor *cursor = NULL;
    struct index_block block;
    size_t passed;
    enum status st;

    term_put_path(bytes, path);
    range.from = slice_make(bytes, sizeof(bytes));
    range.to = index_prefix_end(&op->arena, range.from);
    TRY(index_cursor_open(op, view, &range, &cursor));
    for (;;) {
        TRY(op_check(op));
        TRY(index_cursor_next(op, cursor, &block));
        if (block.count == 0)
            break;
        TRY(look_at(search, block.term, &passed));
        TRY(index_cursor_seek(op, cursor, index_prefix_end(&op->arena, slice_make(block.term.data, passed)),
                              0));
    }
out:
    index_cursor_close(cursor);
    return st;
}

enum status near_words_find(struct op *op, const struct view *view, const struct index_text *text,
                            const struct text_term *term, struct near_words *near)
{
    struct search search = { op, term, near };
    uint64_t read = op->work.entries_read;
    uint8_t stem[TEXT_PREFIX_BYTES_MAX];
    size_t ruled_out;
    enum status st = ST_OK;

    *near = (struct near_words){ 0 };
    if (!text_is_near(term->stem, term->word, term->distance, &ruled_out))
        TRY(add(&search, slice_make(stem, text_term_prefix(stem, text->id, term->stem))));
    TRY(walk(&search, view, text->id));
    TRY(walk(&search, view, text->forms));
    op->work.entries_read = read + near->count; /* and not those that were passed over */
out:
    return st;
}
