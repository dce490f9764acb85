/* src/index/sort.c - the terms of one document, gathered as they come, then sorted, each once. */
#include <assert.h>

#include "index/sort.h"

enum { BLOCK_BYTES = 256 * 1024, INSERTION_MAX = 24 };

static const uint16_t date_descending = 0x8000;

/* ------- gathering ------- */

void terms_init(struct op *op, struct terms *terms, size_t limit_bytes)
{
    op_arena(op, &terms->memory, limit_bytes);
    terms->found = terms->local;
    terms->count = 0;
    terms->capacity = TERMS_LOCAL;
    terms->next = terms->local_bytes;
    terms->left = TERMS_LOCAL_BYTES;
    terms->failed = false;
}

void terms_free(struct terms *terms)
{
    arena_free(&terms->memory);
}

static void grow(struct terms *terms, size_t capacity)
{
    struct found *larger = arena_try_alloc(&terms->memory, capacity * sizeof(*larger));

    assert(capacity > terms->capacity);
    terms->failed |= !larger;
    if (!larger)
        return;
    memcpy(larger, terms->found, terms->count * sizeof(*larger));
    terms->found = larger;
    terms->capacity = capacity;
}

/* Leaves some room to spare, so that the next terms after a long array do not move the whole list again. */
void terms_expect(struct terms *terms, size_t more)
{
    if (!terms->failed && terms->count + more > terms->capacity)
        grow(terms, terms->count + more + TERMS_LOCAL);
}

static struct found_bytes *room(struct terms *terms, size_t bytes)
{
    if (terms->left < bytes) {
        size_t size = bytes > BLOCK_BYTES ? bytes : BLOCK_BYTES;

        terms->next = arena_try_alloc(&terms->memory, size);
        terms->left = terms->next ? size : 0;
        terms->failed |= !terms->next;
    }
    return (struct found_bytes *)terms->next;
}

/* Every term begins at an even address, because it begins with 16-bit numbers. */
static size_t even(size_t bytes)
{
    return bytes + bytes % 2;
}

uint8_t *terms_begin(struct terms *terms, path_id path, size_t bytes_max)
{
    struct found_bytes *bytes = room(terms, even(sizeof(*bytes) + TERM_PATH_BYTES + bytes_max));

    if (terms->count == terms->capacity)
        terms_expect(terms, terms->count / 2);
    if (terms->failed)
        return NULL;
    bytes->date = 0;
    term_put_path(bytes->at, path);
    terms->found[terms->count] = (struct found){ path, bytes };
    return bytes->at + TERM_PATH_BYTES;
}

void terms_date(struct terms *terms, size_t offset, bool descending)
{
    struct found_bytes *bytes = (struct found_bytes *)terms->next;

    bytes->date = (uint16_t)((offset + 1) | (descending ? date_descending : 0));
}

void terms_end(struct terms *terms, size_t bytes)
{
    struct found_bytes *last = (struct found_bytes *)terms->next;
    size_t taken = even(sizeof(*last) + TERM_PATH_BYTES + bytes);

    last->size = (uint16_t)(TERM_PATH_BYTES + bytes);
    terms->next += taken;
    terms->left -= taken;
    terms->count++;
}

/* ------- sorting ------- */

int found_compare(const struct found *a, const struct found *b)
{
    if (a->path != b->path)
        return a->path < b->path ? -1 : 1;
    return slice_compare(found_term(a), found_term(b));
}

static void sort_few(struct found *list, size_t count)
{
    for (size_t i = 1; i < count; i++) {
        struct found moving = list[i];
        size_t to = i;

        for (; to > 0 && found_compare(&moving, &list[to - 1]) < 0; to--)
            list[to] = list[to - 1];
        list[to] = moving;
    }
}

/* Copies the left half to `spare`, and merges both halves into place. */
static void merge(struct found *list, size_t left, size_t count, struct found *spare)
{
    size_t i = 0, j = left, to = 0;

    memcpy(spare, list, left * sizeof(*list));
    while (i < left && j < count)
        list[to++] = found_compare(&list[j], &spare[i]) < 0 ? list[j++] : spare[i++];
    memcpy(list + to, spare + i, (left - i) * sizeof(*list));
}

static void sort(struct found *list, size_t count, struct found *spare)
{
    size_t left = count / 2;

    if (count <= INSERTION_MAX) {
        sort_few(list, count);
        return;
    }
    sort(list, left, spare);
    sort(list + left, count - left, spare);
    if (found_compare(&list[left - 1], &list[left]) > 0)
        merge(list, left, count, spare);
}

static void drop_equal(struct terms *terms)
{
    size_t kept = 0;

    for (size_t i = 0; i < terms->count; i++)
        if (i == 0 || found_compare(&terms->found[i], &terms->found[kept - 1]) != 0)
            terms->found[kept++] = terms->found[i];
    terms->count = kept;
}

void terms_sort(struct terms *terms)
{
    struct found few[TERMS_LOCAL / 2], *spare = few;

    if (terms->count > TERMS_LOCAL)
        spare = arena_try_alloc(&terms->memory, terms->count / 2 * sizeof(*spare));
    terms->failed |= !spare;
    if (terms->failed)
        return;
    assert(terms->count <= terms->capacity);
    sort(terms->found, terms->count, spare);
    drop_equal(terms);
}

struct slice found_term(const struct found *found)
{
    return slice_make(found->bytes->at, found->bytes->size);
}

bool found_is_dated(const struct found *found, size_t *offset, bool *descending)
{
    uint16_t date = found->bytes->date;

    if (date == 0)
        return false;
    *descending = date & date_descending;
    *offset = TERM_PATH_BYTES + (size_t)(date & ~date_descending) - 1;
    return true;
}
