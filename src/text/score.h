/*
 * src/text/score.h - how well a text fits, by BM25: rare keywords count for more, and so do hits in short texts.
 * The same numbers give the same score to the bit, whoever computes it: clients add up what ranges counted, and hand the
 * sums back. A score is the sum of what its keywords add, in their order.
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

/* What a score is made of: how much a keyword counts for, how much a text's length takes away, what a keyword adds. */
double text_rarity(double documents, double hits);
double text_damping(double documents, double words, uint32_t length);
double text_added(double rarity, double frequency, double damping);
