/* src/text/score.c - BM25. */
#include <math.h>

#include "text/score.h"

/* How soon more hits stop counting; how much the length of a text counts. */
static const double k1 = 1.2, b = 0.75;

double text_rarity(double documents, double hits)
{
    return log(1 + (documents - hits + 0.5) / (hits + 0.5));
}

double text_damping(double documents, double words, uint32_t length)
{
    double relative = words > 0 ? length * documents / words : 1;

    return k1 * (1 - b + b * relative);
}

double text_added(double rarity, double frequency, double damping)
{
    return rarity * frequency * (k1 + 1) / (frequency + damping);
}

double text_score(const struct text_statistics *statistics, const struct text_hits *hits,
                  size_t keyword_count)
{
    double damping = text_damping(statistics->documents, statistics->words, hits->length), score = 0;

    for (size_t i = 0; i < keyword_count; i++)
        if (hits->frequency[i] > 0)
            score += text_added(text_rarity(statistics->documents, statistics->hits[i]), hits->frequency[i],
                                damping);
    return score;
}
