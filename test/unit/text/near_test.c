/* test/unit/text/near_test.c - letters apart, and beginnings that rule words out. */
#include "test.h"
#include "text/near.h"

enum { LETTERS_MAX = 8 };

/* By definition: the last letters are the same, or one of the two goes, or one becomes the other. */
static uint32_t apart(struct slice a, struct slice b)
{
    struct slice shorter_a = { a.data, a.size - 1 }, shorter_b = { b.data, b.size - 1 };
    uint32_t changed, less;

    if (a.size == 0 || b.size == 0)
        return (uint32_t)(a.size + b.size);
    changed = apart(shorter_a, shorter_b) + (a.data[a.size - 1] != b.data[b.size - 1]);
    less = apart(shorter_a, b) < apart(a, shorter_b) ? apart(shorter_a, b) : apart(a, shorter_b);
    return changed < less + 1 ? changed : less + 1;
}

static struct slice draw(char *letter)
{
    size_t size = test_random() % (LETTERS_MAX - 2);

    for (size_t i = 0; i < size; i++)
        letter[i] = (char)('a' + test_random() % 3);
    return slice_make(letter, size);
}

TEST(words_are_near_as_the_definition_says_and_ruled_out_beginnings_are_those_of_no_near_word)
{
    char a[LETTERS_MAX], b[LETTERS_MAX], c[LETTERS_MAX];
    size_t ruled, unused;

    for (int i = 0; i < 3000; i++) {
        struct slice word = draw(a), to = draw(b), other = draw(c);
        uint32_t most = (uint32_t)(1 + test_random() % TEXT_DISTANCE_MAX);
        bool is_near = text_is_near(word, to, most, &ruled);

        CHECK(is_near == (apart(word, to) <= most) && ruled <= word.size && !(is_near && ruled));
        if (ruled && other.size >= ruled) {
            memcpy(c, a, ruled);
            CHECK(!text_is_near(other, to, most, &unused));
        }
    }
}

TEST(letters_are_characters_and_not_bytes)
{
    size_t ruled;

    CHECK(text_is_near(slice_of("\u00e9t\u00e9"), slice_of("ete"), 2, &ruled));
    CHECK(!text_is_near(slice_of("\u00e9\u00e8t"), slice_of("xyz"), 1, &ruled) && ruled == 4);
}
