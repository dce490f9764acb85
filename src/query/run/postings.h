/*
 * src/query/run/postings.h - scores of texts from an index, without the texts.
 *     postings_serve(op, select, ranking, index)     whether the index has all that the ranking asks of texts
 *     postings_load(op, memory, ranking, index)      statistics, and the lists that scores are made of
 *     postings_score(part, number)                   of any item
 *     postings_best(op, memory, part, ...)           the best of all, without scoring the others (words/best.h)
 *     postings_least(op, memory, part, ...)          the other end, for parts that are turned
 * Scores are those of the texts themselves, to the bit.
 */
#pragma once
#include "query/run/ranking.h"
#include "words/best.h"

/* Whether all items have entries of the text that a full-text function is called for: where, and in which language. */
bool postings_text(struct op *op, const struct expr *call, const struct query_index *index,
                   struct index_path *path, struct index_text *text);

/* Whether such entries tell which texts have the keywords. */
bool postings_tell(const struct index_text *text, const struct text_search *search);

bool postings_serve(struct op *op, const struct select *select, const struct ranking *ranking,
                    const struct query_index *index);

/* `served` false: a text has a word in more places than its entry tells, and must be looked at. */
enum status postings_load(struct op *op, struct arena *memory, struct ranking *ranking,
                          const struct query_index *index, bool *served);

/* 0: the text has no hit, or there is none. */
double postings_score(const struct ranking_part *part, uint64_t number);

/* As postings_best(), with the texts that have no hit behind those that have one. */
enum status postings_first(struct op *op, struct arena *memory, const struct ranking_part *part,
                           const struct query_index *index, bool by_creation, size_t wanted,
                           struct words_best *best);

/* Whether all that the part asks for was loaded: a turned one begins with items that have no text. */
bool postings_tell_first(const struct ranking_part *part);

/* Of a turned part: items without a text, texts without a hit, then those that score least. They are all items there are. */
enum status postings_least(struct op *op, struct arena *memory, const struct ranking_part *part,
                           const struct query_index *index, bool by_creation, size_t wanted,
                           struct words_best *best);

/* The best texts that have a hit and lie where the scope's items lie, at most `wanted`, the best first. */
enum status postings_best(struct op *op, struct arena *memory, const struct ranking_part *part,
                          const struct query_index *index, bool by_creation, size_t wanted,
                          struct words_best *best);
