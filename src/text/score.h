/*
 * src/text/score.h - how well a text fits, by BM25: rare keywords count for more, and so do hits in short texts.
 * The same numbers give the same score to the bit, whoever computes it: clients add up what ranges counted, and hand the
 * sums back.
 */
#pragma once
#include "text/match.h"

/* Of all texts that are ranked together. */
struct text_statistics {
    double documents;   /* with or without a text */
    double words;       /* of all texts */
    const double *hits; /* of each keyword: in how many texts it is */
};

double text_score(const struct text_statistics *statistics, const struct text_hits *hits,
                  size_t keyword_count);
