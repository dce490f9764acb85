/* src/index/text_terms.c - a text as terms: its words with their places. */
#include <stdlib.h>

#include "base/limits.h"
#include "index/text_terms.h"

enum { LENGTH_BYTES = 3, VARINT_BYTES_MAX = 5, FREQUENCY_SHOWN_MAX = 255 };
enum { HEAD_BYTES_MAX = 1 + LENGTH_BYTES + 2 * VARINT_BYTES_MAX };

struct placed {
    struct slice stem;
    uint32_t place;
};

struct placed_list {
    struct arena memory;
    struct placed *word;
    size_t count, capacity;
};

static int by_stem(const void *a, const void *b)
{
    const struct placed *x = a, *y = b;
    int order = slice_compare(x->stem, y->stem);

    if (order)
        return order;
    return x->place < y->place ? -1 : x->place > y->place;
}

/* One that is there twice is dropped when terms are sorted. */
static void add_form(struct terms *terms, path_id forms, struct slice word)
{
    uint8_t *to = terms_begin(terms, forms, word.size + 1);

    if (!to)
        return;
    memcpy(to, word.data, word.size);
    to[word.size] = 0;
    terms_end(terms, word.size + 1);
}

static bool gather(struct placed_list *list, struct terms *terms, const struct index_text *where,
                   struct slice text)
{
    struct text_words words;

    text_words_begin(&words, where->language, text);
    while (text_words_next(&words)) {
        struct slice stem = text_word_stem(&words);
        char *copy = arena_try_alloc(&list->memory, stem.size + 1);

        if (!copy || !arena_list_reserve(&list->memory, &list->word, &list->capacity, list->count + 1,
                                         sizeof(*list->word)))
            return false;
        memcpy(copy, stem.data, stem.size);
        if (stem.size > TEXT_WORD_BYTES_MAX)
            stem.size = TEXT_WORD_BYTES_MAX;
        list->word[list->count++] = (struct placed){ slice_make(copy, stem.size), words.position };
        if (where->has_forms && !slice_equal(stem, text_word(&words)))
            add_form(terms, where->forms, text_word(&words));
    }
    return true;
}

static size_t put_varint(uint8_t *to, uint32_t number)
{
    size_t size = 0;

    for (; number >= 0x80; number >>= 7)
        to[size++] = (uint8_t)(number | 0x80);
    to[size++] = (uint8_t)number;
    return size;
}

static void put_length(uint8_t to[LENGTH_BYTES], size_t length)
{
    to[0] = (uint8_t)(length >> 16);
    to[1] = (uint8_t)(length >> 8);
    to[2] = (uint8_t)length;
}

/* The places of one stem, as far as there is room: how many they are stands before them. */
static size_t put_places(uint8_t *to, const struct placed *word, size_t count)
{
    uint8_t bytes[TEXT_PLACES_BYTES_MAX];
    size_t size = 0, put = 0, head;
    uint32_t last = 0;

    for (; put < count && size + VARINT_BYTES_MAX <= sizeof(bytes); put++) {
        size += put_varint(bytes + size, word[put].place - last);
        last = word[put].place;
    }
    head = put_varint(to, (uint32_t)put);
    memcpy(to + head, bytes, size);
    return head + size;
}

static void add_word(struct terms *terms, path_id path, const struct placed *word, size_t count,
                     size_t length)
{
    struct slice stem = word->stem;
    uint8_t *to = terms_begin(terms, path, stem.size + 1 + HEAD_BYTES_MAX + TEXT_PLACES_BYTES_MAX);
    size_t size = stem.size;

    if (!to)
        return;
    memcpy(to, stem.data, stem.size);
    to[size++] = 0;
    to[size++] = (uint8_t)(FREQUENCY_SHOWN_MAX - (count < FREQUENCY_SHOWN_MAX ? count : FREQUENCY_SHOWN_MAX));
    put_length(to + size, length);
    size += LENGTH_BYTES;
    size += put_varint(to + size, (uint32_t)count);
    size += put_places(to + size, word, count);
    terms_end(terms, size);
}

static void add_text(struct terms *terms, path_id path, size_t length)
{
    uint8_t *to = terms_begin(terms, path, 1 + LENGTH_BYTES);

    if (!to)
        return;
    to[0] = 0;
    put_length(to + 1, length);
    terms_end(terms, 1 + LENGTH_BYTES);
}

void text_terms_add(struct op *op, struct terms *terms, const struct index_text *where, struct slice text)
{
    struct placed_list list = { 0 };

    op_arena(op, &list.memory, OP_MEMORY_BYTES_MAX);
    if (!gather(&list, terms, where, text))
        terms->failed = true;
    else if (list.count)
        qsort(list.word, list.count, sizeof(*list.word), by_stem);
    for (size_t i = 0, next; i < list.count && !terms->failed; i = next) {
        for (next = i + 1; next < list.count && slice_equal(list.word[i].stem, list.word[next].stem);)
            next++;
        if (list.word[i].stem.size) /* of nothing nothing is found */
            add_word(terms, where->id, &list.word[i], next - i, list.count);
    }
    if (!terms->failed)
        add_text(terms, where->id, list.count);
    arena_free(&list.memory);
}

size_t text_term_prefix(uint8_t out[TEXT_PREFIX_BYTES_MAX], path_id path, struct slice stem)
{
    term_put_path(out, path);
    memcpy(out + TERM_PATH_BYTES, stem.data, stem.size);
    out[TERM_PATH_BYTES + stem.size] = 0;
    return TERM_PATH_BYTES + stem.size + 1;
}

static bool get_varint(const uint8_t **at, const uint8_t *end, uint32_t *number)
{
    unsigned shift = 0;

    *number = 0;
    for (; *at < end && shift < 32; shift += 7) {
        uint8_t byte = *(*at)++;

        *number |= (uint32_t)(byte & 0x7f) << shift;
        if (!(byte & 0x80))
            return true;
    }
    return false;
}

static uint32_t get_length(const uint8_t *at)
{
    return (uint32_t)at[0] << 16 | (uint32_t)at[1] << 8 | at[2];
}

bool text_length_read(struct slice bytes, uint32_t *length)
{
    if (bytes.size != LENGTH_BYTES)
        return false;
    *length = get_length((const uint8_t *)bytes.data);
    return true;
}

bool text_posting_read(struct slice bytes, struct text_posting *posting)
{
    const uint8_t *at = (const uint8_t *)bytes.data;

    posting->end = at + bytes.size;
    if (bytes.size < 1 + LENGTH_BYTES)
        return false;
    posting->length = get_length(at + 1);
    at += 1 + LENGTH_BYTES;
    if (!get_varint(&at, posting->end, &posting->frequency) ||
        !get_varint(&at, posting->end, &posting->place_count))
        return false;
    posting->place = at;
    return posting->place_count <= posting->frequency &&
           posting->place_count <= (size_t)(posting->end - posting->place);
}

bool text_posting_places(const struct text_posting *posting, uint32_t *place)
{
    const uint8_t *at = posting->place;
    uint32_t last = 0, apart;

    for (uint32_t i = 0; i < posting->place_count; i++) {
        if (!get_varint(&at, posting->end, &apart))
            return false;
        place[i] = last += apart;
    }
    return at == posting->end;
}
