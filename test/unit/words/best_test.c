/* test/unit/words/best_test.c - the best texts of lists, against a score for every text. */
#include <stdlib.h>

#include "test.h"
#include "text/score.h"
#include "words/best.h"
#include "words/lists.h"

enum { KEYWORDS = 3, TEXTS_MAX = 6000 };

static uint64_t state = 7;

static uint64_t draw(uint64_t below)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (state >> 33) % below;
}

/* The texts, as a naive search has them. */
static struct {
    uint64_t number;
    uint32_t length, frequency[KEYWORDS];
} texts[TEXTS_MAX];
static size_t text_count;

/* Many have a keyword once, few have it often; some lengths are rare. */
static void draw_texts(size_t count, uint64_t lengths)
{
    text_count = count;
    for (size_t i = 0; i < count; i++) {
        texts[i].number = i * 1000 + 1 + draw(900);
        texts[i].length = (uint32_t)(20 + draw(lengths));
        for (size_t k = 0; k < KEYWORDS; k++) {
            uint32_t *frequency = &texts[i].frequency[k];

            for (*frequency = draw(3 + 4 * k) == 0; *frequency && draw(6) == 0;)
                ++*frequency;
        }
    }
}

static struct word_list *list_of(size_t keyword, double average)
{
    struct word_list *list = word_list_new(NULL);

    for (size_t n = 0; n < text_count; n++) {
        size_t i = (n * 7919) % text_count; /* in no order, if it has no part of that prime */
        struct word_text text = { texts[i].number, texts[i].frequency[keyword], texts[i].length };

        if (text.frequency)
            CHECK(word_list_add(list, &text));
    }
    word_list_close(list, average);
    return list;
}

static bool is_wanted(const struct words_asked *asked, uint64_t number)
{
    bool inside = false;

    for (size_t i = 0; i < asked->span_count; i++)
        inside |= number >= asked->span[i].from && number < asked->span[i].to;
    for (size_t i = 0; i < asked->doubtful_count; i++)
        inside &= asked->doubtful[i] != number;
    return inside;
}

static int by_worth(const void *a, const void *b)
{
    const struct words_found *x = a, *y = b;

    if (x->score != y->score)
        return x->score > y->score ? -1 : 1;
    return x->tie < y->tie ? -1 : 1;
}

/* By text_score(), of every text. */
static size_t naive(const struct words_asked *asked, const struct text_statistics *statistics,
                    struct words_found *found)
{
    size_t count = 0;

    for (size_t i = 0; i < text_count; i++) {
        struct text_hits hits = { texts[i].length, texts[i].frequency };
        double score = text_score(statistics, &hits, KEYWORDS);

        CHECK(words_score(asked, texts[i].number) == score);
        if (score > 0 && is_wanted(asked, texts[i].number))
            found[count++] = (struct words_found){ score, texts[i].number, texts[i].number };
    }
    qsort(found, count, sizeof(*found), by_worth);
    return count;
}

static void compare(struct words_asked *asked, const struct text_statistics *statistics, size_t wanted)
{
    static struct words_found expected[TEXTS_MAX], found[TEXTS_MAX];
    struct words_best best = { .found = found, .wanted = wanted };
    size_t count = naive(asked, statistics, expected);

    CHECK(words_best(asked, &test_op()->arena, &best));
    CHECK(best.count == (count < wanted ? count : wanted));
    for (size_t i = 0; i < best.count; i++)
        CHECK(best.found[i].number == expected[i].number && best.found[i].score == expected[i].score);
    if (text_count == TEXTS_MAX && wanted <= 10 && asked->span_count == 1 && !asked->doubtful_count)
        CHECK(best.scored < count / 2); /* not every text */
}

static void compare_all(struct words_asked *asked, const struct text_statistics *statistics)
{
    static const struct words_span everything = { 0, UINT64_MAX },
                                   some[] = { { 0, 5000 }, { 70000, 70001 }, { 100000, 3000000 } };
    uint64_t doubtful[] = { texts[1].number, texts[text_count / 2].number, texts[text_count - 1].number };

    asked->span = &everything;
    asked->span_count = 1;
    compare(asked, statistics, 1);
    compare(asked, statistics, 10);
    compare(asked, statistics, text_count);
    asked->doubtful = doubtful;
    asked->doubtful_count = 3;
    compare(asked, statistics, 25);
    asked->span = some;
    asked->span_count = 3;
    compare(asked, statistics, 25);
    asked->span_count = 0;
    compare(asked, statistics, 25);
}

TEST(the_best_are_those_that_scoring_every_text_gives)
{
    for (int round = 0; round < 30; round++) {
        const struct word_list *list[KEYWORDS];
        double hits[KEYWORDS], rarity[KEYWORDS], words = 0;
        struct words_asked asked = { .list = list, .rarity = rarity, .count = KEYWORDS };
        struct text_statistics statistics = { .hits = hits };

        draw_texts(round % 3 ? 5 + draw(400) : TEXTS_MAX, round % 2 ? 3 : 300);
        for (size_t i = 0; i < text_count; i++)
            words += texts[i].length;
        asked.documents = statistics.documents = (double)text_count + (double)draw(100);
        asked.words = statistics.words = words;
        for (size_t k = 0; k < KEYWORDS; k++) {
            list[k] = list_of(k, words / asked.documents *
                                     (round % 5 ? 1 : 0.3)); /* texts may have become longer */
            hits[k] = (double)list[k]->count;
            rarity[k] = text_rarity(asked.documents, hits[k]);
        }
        compare_all(&asked, &statistics);
        for (size_t k = 0; k < KEYWORDS; k++)
            word_list_done((struct word_list *)list[k]);
    }
}

TEST(of_equal_scores_the_one_that_was_made_first_is_better_if_asked_so)
{
    static const struct words_span everything = { 0, UINT64_MAX };
    struct word_list *list = word_list_new(NULL);
    uint64_t late = 5, early = (uint64_t)1 << 50 | 3;
    struct words_found found[1];
    struct words_asked asked = { .list = (const struct word_list *const *)&list,
                                 .rarity = (double[]){ 1 },
                                 .count = 1,
                                 .documents = 2,
                                 .words = 8,
                                 .span = &everything,
                                 .span_count = 1 };
    struct words_best best = { .found = found, .wanted = 1 };

    CHECK(word_list_add(list, &(struct word_text){ late, 1, 4 }));
    CHECK(word_list_add(list, &(struct word_text){ early, 1, 4 }));
    word_list_close(list, 4);
    CHECK(words_best(&asked, &test_op()->arena, &best) && best.count == 1 && found[0].number == late);
    asked.by_creation = true;
    best.count = 0;
    CHECK(words_best(&asked, &test_op()->arena, &best) && best.count == 1 && found[0].number == early);
    word_list_done(list);
}
