/* test/unit/index/text_terms_test.c - a text as terms, and back. */
#include "index/text_terms.h"
#include "test.h"

/* The terms of a text; freed by the caller. */
static void make(struct terms *terms, const char *text, size_t size)
{
    terms_init(test_op(), terms, SIZE_MAX / 2);
    text_terms_add(test_op(), terms, &(struct index_text){ .id = 7, .language = TEXT_ENGLISH },
                   slice_make(text, size));
    terms_sort(terms);
}

/* The posting of a stem among them. */
static bool find(const struct terms *terms, const char *stem, struct text_posting *posting)
{
    uint8_t prefix[TEXT_PREFIX_BYTES_MAX];
    size_t size = text_term_prefix(prefix, 7, slice_of(stem));

    for (size_t i = 0; i < terms->count; i++) {
        struct slice term = found_term(&terms->found[i]);

        if (term.size > size && memcmp(term.data, prefix, size) == 0)
            return text_posting_read(slice_after(term, size), posting);
    }
    return false;
}

TEST(a_text_has_a_term_for_each_word_and_one_for_its_length)
{
    static const char text[] = "Brown bears, brown foxes, the brown dogs";
    uint32_t place[3], length;
    struct text_posting posting;
    struct terms terms;

    make(&terms, text, strlen(text));
    REQUIRE(terms.count == 5); /* brown, bear, fox, dog, and the text */
    REQUIRE(find(&terms, "brown", &posting) && posting.place_count == 3);
    CHECK(posting.frequency == 3 && posting.length == 6);
    CHECK(text_posting_places(&posting, place) && place[0] == 0 && place[1] == 2 && place[2] == 4);
    CHECK(text_length_read(slice_after(found_term(&terms.found[0]), TERM_PATH_BYTES + 1), &length) &&
          length == 6);
    terms_free(&terms);
    make(&terms, "the", 3);
    CHECK(terms.count == 1);
    terms_free(&terms);
}

TEST(terms_of_a_word_sort_by_what_its_score_depends_on)
{
    static const char *const texts[] = { "fox fox fox a b c owl owl", "fox fox", "fox fox owl", "fox",
                                         "fox owl" };
    struct terms terms[5];
    struct slice last = slice_of("");
    uint8_t prefix[TEXT_PREFIX_BYTES_MAX];
    size_t size = text_term_prefix(prefix, 7, slice_of("fox"));

    for (size_t i = 0; i < 5; i++) {
        make(&terms[i], texts[i], strlen(texts[i]));
        for (size_t k = 0; k < terms[i].count; k++) {
            struct slice term = found_term(&terms[i].found[k]);

            if (term.size <= size || memcmp(term.data, prefix, size) != 0)
                continue;
            CHECK(slice_compare(last, term) < 0);
            last = term;
        }
    }
    for (size_t i = 0; i < 5; i++)
        terms_free(&terms[i]);
}

TEST(a_word_in_very_many_places_has_the_first_of_them)
{
    static char text[8 * 30000];
    struct text_posting posting;
    uint32_t place[TEXT_PLACES_BYTES_MAX];
    struct terms terms;

    for (size_t i = 0; i < sizeof(text); i += 8)
        memcpy(text + i, "fox owl ", 8);
    make(&terms, text, sizeof(text));
    REQUIRE(find(&terms, "owl", &posting) && posting.frequency == 30000 && posting.length == 60000);
    REQUIRE(posting.place_count < posting.frequency && posting.place_count <= TEXT_PLACES_BYTES_MAX);
    CHECK(text_posting_places(&posting, place) && place[0] == 1 && place[1] == 3);
    terms_free(&terms);
}

TEST(damaged_bytes_are_told)
{
    for (int round = 0; round < 20000; round++) {
        uint8_t bytes[24];
        uint32_t place[64];
        struct text_posting posting;
        size_t size = test_random() % sizeof(bytes);

        for (size_t i = 0; i < size; i++)
            bytes[i] = (uint8_t)(test_random() % 4 ? test_random() % 16 : test_random());
        if (text_posting_read(slice_make(bytes, size), &posting)) {
            REQUIRE(posting.place_count <= size);
            if (text_posting_places(&posting, place))
                CHECK(posting.place_count <= posting.frequency);
        }
    }
}

TEST(a_word_that_is_not_its_stem_has_a_term_as_it_was_written)
{
    struct index_text where = { .id = 7, .forms = 8, .language = TEXT_ENGLISH, .has_forms = true };
    uint8_t prefix[TEXT_PREFIX_BYTES_MAX];
    struct slice form = slice_make(prefix, text_term_prefix(prefix, 8, slice_of("foxes")));
    struct terms terms;
    size_t found = 0;

    terms_init(test_op(), &terms, SIZE_MAX / 2);
    text_terms_add(test_op(), &terms, &where, slice_of("Foxes, foxes and an owl"));
    terms_sort(&terms);
    CHECK(terms.count == 4); /* fox, owl, the text, and the form */
    for (size_t i = 0; i < terms.count; i++)
        found += slice_equal(found_term(&terms.found[i]), form);
    CHECK(found == 1);
    terms_free(&terms);
}
