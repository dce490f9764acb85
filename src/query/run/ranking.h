/*
 * src/query/run/ranking.h - ORDER BY RANK: the scores that a statement ranks by, and what they are measured with.
 *     ranking_make(op, select, &ranking);
 *     ranking_count(&ranking, &cursor);            every row, passed by the filter or not: how rare are the keywords
 *     ranking_score(&ranking, &eval, number, score);     the row in the slots
 *     ranking_fuse(...)                            many scores to one order
 * A score is the greater, the better, and -INFINITY where a row has none.
 *
 * Ownership. A ranking lies in the arena of the op that made it.
 */
#pragma once
#include "query/run/cursor.h"
#include "text/score.h"
#include "words/best.h"

/* One score of the clause. */
struct ranking_part {
    const struct expr *call;
    bool is_text, turned; /* turned: a negative weight, so that the least is best */
    bool falls;           /* of vectors: what is near is less */
    double weight;        /* without its sign */
    struct text_search search;
    bool is_given; /* the statistics are the statement's, and no index is asked for them */
    struct text_statistics statistics;
    double *hits;             /* the statistics' own */
    struct query_words words; /* where an index told: postings.h */
    struct words_asked asked;
};

struct ranking {
    struct ranking_part *part;
    size_t count;
    bool is_counted;
    bool is_indexed;       /* an index tells the scores of texts */
    uint64_t entries_read; /* for that */
};

enum status ranking_make(struct op *op, const struct select *select, struct ranking *ranking);

/* Whether rows are to be counted before any is scored. */
bool ranking_needs_counts(const struct ranking *ranking);

/* Over the cursor's rows, from the beginning; the cursor's statement has no filter. */
enum status ranking_count(struct ranking *ranking, struct cursor *cursor);

/* As many scores as there are parts, of the item with that number. What goes wrong is kept in eval. */
void ranking_score(const struct ranking *ranking, struct eval *eval, uint64_t number, double *score);

/* A row of a ranking, with the scores behind it. */
struct ranked_row {
    uint64_t number;
    uint64_t tie; /* orders rows whose scores are equal, as the _rids of their items do */
    double fused;
    double score[];
};

/* Of rows in the order of their numbers: the best first. `room` is as long as the list. */
void ranking_fuse(const struct ranking *ranking, struct ranked_row **row, size_t count,
                  struct ranked_row **room);

/* The order of one part: the best first, and equal ones in the order of their ties. */
int ranking_compare(const struct ranking_part *part, size_t index, const struct ranked_row *a,
                    const struct ranked_row *b);
