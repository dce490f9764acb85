/*
 * src/words/best.h - the texts that fit best, from the lists of the keywords, without a score for every text.
 *     words_score(&asked, number)
 *     words_best(&asked, memory, &best)
 * Layers are looked through by how much they can add, the most first. A text is scored when it is first met, by looking
 * it up in the lists of the other keywords. Texts that were not met are in none of the layers that were looked through: as
 * soon as what the others can add together is less than the worst of the best, there is nothing left to find.
 *
 * Promises
 * 1. The best are those that scoring every text gives, and so are their scores, to the bit.     best_test.c
 */
#pragma once
#include "base/arena.h"
#include "words/list.h"

struct words_span {
    uint64_t from, to; /* numbers: [from, to) */
};

struct words_asked {
    const struct word_list *const *list; /* of each keyword */
    const double *rarity;                /* of each, as text/score.h has it */
    size_t count;
    double documents, words;       /* of all texts that are ranked together */
    const struct words_span *span; /* rising; texts outside are not wanted */
    size_t span_count;
    const uint64_t *doubtful; /* rising; nor these */
    size_t doubtful_count;
    bool by_creation; /* texts of equal scores come by number_by_creation(), and not by their numbers */
    bool ties_fall;   /* and the last of them first */
};

struct words_found {
    double score;
    uint64_t tie, number; /* of equal scores the lesser tie is better */
};

struct words_best {
    struct words_found *found; /* room for `wanted` */
    size_t count, wanted;
    uint64_t scored; /* texts, in the end */
};

/* 0: none of the keywords is in it. */
double words_score(const struct words_asked *asked, uint64_t number);

/* What is known from elsewhere; whether it would be among the best. */
bool words_takes(const struct words_asked *asked, const struct words_best *best, uint64_t number,
                 double score);
void words_offer(const struct words_asked *asked, struct words_best *best, uint64_t number, double score);

/* The best of what was offered first. */
void words_sort(struct words_best *best);

/* Adds to what was offered. The best first. False: memory has ended. */
bool words_best(const struct words_asked *asked, struct arena *memory, struct words_best *best);
