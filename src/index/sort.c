/* src/index/sort.c - the terms of one document, gathered as they come, then sorted, each once. */
#include <assert.h>

#include "index/sort.h"

enum { AREA_FIRST = 4 * 1024, AREA_MAX = 256 * 1024 };
enum { FOUND_FIRST = 64, INSERTION_MAX = 24 };

static const uint16_t date_descending = 0x8000;

/* ------- an area ------- */

void area_init(struct area *area, struct arena *arena)
{
    *area = (struct area){ .arena = arena };
}

uint8_t *area_room(struct area *area, size_t bytes)
{
    if (area->left < bytes) {
        size_t size = area->at ? AREA_MAX : AREA_FIRST;

        if (size < bytes)
            size = bytes;
        area->at = arena_try_alloc(area->arena, size);
        area->left = area->at ? size : 0;
    }
    return area->at;
}

/* ------- gathering ------- */

void terms_init(struct terms *terms, struct arena *arena)
{
    *terms = (struct terms){ .arena = arena };
    area_init(&terms->area, arena);
}

static void grow(struct terms *terms, size_t capacity)
{
    size_t old_bytes = terms->capacity * sizeof(*terms->found), bytes = capacity * sizeof(*terms->found);
    struct found *larger;

    if (!arena_try_extend(terms->arena, terms->found, old_bytes, bytes)) {
        larger = arena_try_alloc(terms->arena, bytes);
        terms->failed |= !larger;
        if (!larger)
            return;
        if (terms->count)
            memcpy(larger, terms->found, terms->count * sizeof(*larger));
        terms->found = larger;
    }
    terms->capacity = capacity;
}

/* With a few to spare, so that what follows a long array does not make all of it move. */
void terms_expect(struct terms *terms, size_t more)
{
    if (!terms->failed && terms->count + more > terms->capacity)
        grow(terms, terms->count + more + FOUND_FIRST);
}

uint8_t *terms_begin(struct terms *terms, path_id path, size_t bytes_max)
{
    struct found_bytes *bytes;

    if (terms->count == terms->capacity)
        terms_expect(terms, terms->count / 2 + 1);
    bytes = (struct found_bytes *)area_room(&terms->area, sizeof(*bytes) + TERM_PATH_BYTES + bytes_max + 1);
    terms->failed |= !bytes;
    if (terms->failed)
        return NULL;
    bytes->date = 0;
    term_put_path(bytes->term, path);
    terms->found[terms->count] = (struct found){ path, bytes };
    return bytes->term + TERM_PATH_BYTES;
}

static struct found_bytes *last_bytes(struct terms *terms)
{
    return (struct found_bytes *)terms->area.at;
}

void terms_date(struct terms *terms, size_t offset, bool descending)
{
    last_bytes(terms)->date = (uint16_t)((offset + 1) | (descending ? date_descending : 0));
}

void terms_end(struct terms *terms, size_t bytes)
{
    size_t size = TERM_PATH_BYTES + bytes, taken = sizeof(struct found_bytes) + size;

    last_bytes(terms)->size = (uint16_t)size;
    area_use(&terms->area, taken + taken % 2); /* the next one begins with 16-bit numbers */
    terms->count++;
}

/* ------- sorting ------- */

int found_compare(const struct found *a, const struct found *b)
{
    size_t common = a->bytes->size < b->bytes->size ? a->bytes->size : b->bytes->size;
    int order;

    if (a->path != b->path)
        return a->path < b->path ? -1 : 1;
    order = memcmp(a->bytes->term, b->bytes->term, common);
    return order ? order : (int)a->bytes->size - (int)b->bytes->size;
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

/* The left half waits in `spare` while both are merged into place. */
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
    struct found *spare = NULL;

    if (terms->count > INSERTION_MAX) {
        spare = arena_try_alloc(terms->arena, terms->count / 2 * sizeof(*spare));
        terms->failed |= !spare;
    }
    if (terms->failed)
        return;
    sort(terms->found, terms->count, spare);
    drop_equal(terms);
}

/* ------- what is found ------- */

struct slice found_term(const struct found *found)
{
    return slice_make(found->bytes->term, found->bytes->size);
}

bool found_is_dated(const struct found *found, size_t *offset, bool *descending)
{
    uint16_t date = found->bytes->date;

    if (date == 0)
        return false;
    *descending = date & date_descending;
    *offset = (size_t)(date & ~date_descending) - 1;
    return true;
}
