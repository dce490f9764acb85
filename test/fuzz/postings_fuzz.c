/*
 * test/fuzz/postings_fuzz.c - a language and any bytes: as a text whose words become entries, and as an entry that a damaged
 * disk gave back. What entries tell of a text is what its words are, one after the other.
 */
#include <assert.h>
#include <stdlib.h>

#include "base/limits.h"
#include "base/op.h"
#include "index/text_terms.h"
#include "text/match.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { PATH = 7, WORDS_LOOKED_AT = 50 };

static void must(bool holds)
{
    if (!holds)
        abort();
}

/* Whatever it is, what is read of it lies within it. */
static void read_damaged(struct op *op, const uint8_t *data, size_t size)
{
    uint8_t *copy = malloc(size + 1);
    struct text_posting posting;
    uint32_t length;

    must(copy);
    memcpy(copy, data, size);
    text_length_read(slice_make(copy, size), &length);
    if (text_posting_read(slice_make(copy, size), &posting))
        text_posting_places(&posting, arena_alloc(&op->arena, (posting.place_count + 1) * sizeof(uint32_t)));
    free(copy);
}

/* The posting of a stem, of all its terms; false: it has none. */
static bool find(const struct terms *terms, struct slice stem, struct text_posting *posting)
{
    uint8_t prefix[TEXT_PREFIX_BYTES_MAX];
    size_t size = text_term_prefix(prefix, PATH, stem);

    for (size_t i = 0; i < terms->count; i++) {
        struct slice term = found_term(&terms->found[i]);

        if (term.size > size && memcmp(term.data, prefix, size) == 0)
            return text_posting_read(slice_after(term, size), posting);
    }
    return false;
}

/* Words have as many places together as the text has words, but for those without a stem. */
static void check_sum(const struct terms *terms, uint32_t length)
{
    uint64_t places = 0;

    for (size_t i = 0; i < terms->count; i++) {
        struct slice term = slice_after(found_term(&terms->found[i]), TERM_PATH_BYTES);
        const char *end = memchr(term.data, 0, term.size);
        struct text_posting posting;
        uint32_t told;

        must(end != NULL);
        if (end == term.data) {
            must(text_length_read(slice_after(term, 1), &told) && told == length);
            continue;
        }
        must(text_posting_read(slice_after(term, (size_t)(end - term.data) + 1), &posting));
        must(posting.length == length && posting.frequency > 0);
        places += posting.frequency;
    }
    must(places <= length);
}

static void check_place(struct op *op, const struct terms *terms, struct slice stem, uint32_t position)
{
    struct text_posting posting;
    uint32_t *place;
    bool is_there = false;

    must(find(terms, stem, &posting));
    place = arena_alloc(&op->arena, (posting.place_count + 1) * sizeof(*place));
    must(text_posting_places(&posting, place));
    for (uint32_t i = 0; i < posting.place_count; i++) {
        must(i == 0 || place[i] > place[i - 1]);
        is_there |= place[i] == position;
    }
    must(is_there || posting.place_count < posting.frequency);
}

/* A word alone, as it stands in the text, is found there. */
static void check_found(struct op *op, enum text_language language, struct slice word, struct slice text)
{
    struct text_search search;
    struct text_hits hits;

    text_search_begin(&search, language, &op->arena);
    must(text_search_add(&search, word, 0) && text_search_look(&search, text, &op->arena, &hits));
    must(search.term_count != 1 || search.term[0].stem.size == 0 || hits.frequency[0] > 0);
}

static void check_text(struct op *op, enum text_language language, struct slice text)
{
    struct text_words words;
    struct terms terms;

    terms_init(op, &terms, OP_MEMORY_BYTES_MAX);
    text_terms_add(op, &terms, &(struct index_text){ .id = PATH, .language = language }, text);
    must(!terms.failed);
    terms_sort(&terms);
    check_sum(&terms, text_length(language, text));
    text_words_begin(&words, language, text);
    for (size_t i = 0; i < WORDS_LOOKED_AT && text_words_next(&words); i++) {
        struct slice stem = text_word_stem(&words);

        if (stem.size == 0 || stem.size > TEXT_WORD_BYTES_MAX)
            continue;
        check_place(op, &terms, arena_copy(&op->arena, stem), words.position);
        check_found(op, language, arena_copy(&op->arena, text_word(&words)), text);
    }
    terms_free(&terms);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct op op;

    if (size == 0)
        return 0;
    op_init(&op, env_system(), OP_MEMORY_BYTES_MAX);
    op_begin(&op, OP_TIMEOUT_MS);
    read_damaged(&op, data + 1, size - 1);
    check_text(&op, (enum text_language)(data[0] % TEXT_LANGUAGE_COUNT), slice_make(data + 1, size - 1));
    op_free(&op);
    return 0;
}
