/*
 * src/query/run/postings.h - scores of texts from an index, without the texts.
 *     postings_serve(select, ranking, index)            whether the index has all that the ranking asks of texts
 *     postings_load(op, memory, ranking, index)         statistics, and the score of every text that has a hit
 * Scores are those of the texts themselves, to the bit.
 */
#pragma once
#include "query/run/ranking.h"

bool postings_serve(struct op *op, const struct select *select, const struct ranking *ranking,
                    const struct query_index *index);

/* `served` false: a text has a word in more places than its entry tells, and must be looked at. */
enum status postings_load(struct op *op, struct arena *memory, struct ranking *ranking,
                          const struct query_index *index, bool *served);

/* The text's score, if it has a hit. */
const struct scored_text *postings_find(const struct ranking_part *part, uint64_t number);
