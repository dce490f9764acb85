/* src/text/score.c - BM25. */
#include <math.h>

#include "text/score.h"

/* How soon more hits stop counting; how much the length of a text counts. */
static const double k1 = 1.2, b = 0.75;

static double rarity(double documents, double hits)
{
    return log(1 + (documents - hits + 0.5) / (hits + 0.5));
}

double text_score(const struct text_statistics *statistics, const struct text_hits *hits,
                  size_t keyword_count)
{
    double length = statistics->words > 0 ? hits->length * statistics->documents / statistics->words : 1;
    double damping = k1 * (1 - b + b * length), score = 0;

    for (size_t i = 0; i < keyword_count; i++) {
        double frequency = hits->frequency[i];

        if (frequency > 0)
            score += rarity(statistics->documents, statistics->hits[i]) * frequency * (k1 + 1) /
                     (frequency + damping);
    }
    return score;
}
