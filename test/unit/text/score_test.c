/* test/unit/text/score_test.c - scores of the worked examples. */
#include <math.h>

#include "test.h"
#include "text/score.h"

static const char *const texts[] = { "The quick brown fox", "A quick dog and a quick cat",
                                     "Lazy dogs sleep; foxes run quickly",
                                     "Running shoes for the lazy runner",
                                     "Brown bears, brown foxes, brown dogs" };

/* Of the five texts, 23 words long together. */
static bool scores_are(const char *one, const char *two, const double *hits, const double *expected)
{
    struct op *op = test_op();
    struct text_statistics statistics = { .documents = 5, .words = 23, .hits = hits };
    struct text_search search;
    bool all = true;

    text_search_begin(&search, TEXT_ENGLISH, &op->arena);
    all &= text_search_add(&search, slice_of(one), 0) && (!two || text_search_add(&search, slice_of(two), 0));
    for (size_t i = 0; i < 5; i++) {
        struct text_hits found;

        all &= text_search_look(&search, slice_of(texts[i]), &op->arena, &found) &&
               fabs(text_score(&statistics, &found, search.keyword_count) - expected[i]) < 1e-6;
    }
    return all;
}

TEST(the_worked_examples_have_these_scores)
{
    CHECK(scores_are("quick", "fox", (double[]){ 3, 3 },
                     (double[]){ 1.256831, 0.769343, 0.958637, 0, 0.479319 }));
    CHECK(scores_are("brown fox", NULL, (double[]){ 2 }, (double[]){ 1.020708, 0, 0, 0, 0.778536 }));
    CHECK(scores_are("lazy dogs", "running", (double[]){ 1, 2 }, (double[]){ 0, 0, 2.011339, 0.924817, 0 }));
}

TEST(texts_without_words_have_no_score_and_do_no_harm)
{
    struct text_statistics statistics = { .documents = 0, .words = 0, .hits = (double[]){ 0 } };
    struct text_hits hits = { .length = 0, .frequency = (uint32_t[]){ 0 } };

    CHECK(text_score(&statistics, &hits, 1) == 0);
    hits.frequency[0] = 1;
    CHECK(isfinite(text_score(&statistics, &hits, 1)));
}
