/*
 * src/source/item_index_private.h - the index that a container's items have, as a query asks for it. For this folder
 * alone.
 */
#pragma once
#include "partition/scan.h"
#include "query/query.h"

struct item_index {
    struct query_index base; /* first: the query knows no more of it */
    const struct container *container;
    const struct partition_scope *scope; /* whose items the query reads */
    bool lacks_time; /* the scan has items that are not committed: their _ts is not known yet */
    struct word_list *
        *held; /* that the query was given; they are done with when the source is closed. Of the heap */
    size_t held_count, held_capacity;
};

/*
 * Offers the index to a query, once the scan is open. `offered` is left alone when there is no index, when its
 * documents were not counted, or when the scope holds nothing.
 */
enum status item_index_offer(struct op *op, const struct partition_scan *scan, struct item_index *index,
                             const struct query_index **offered);

/* What a document has at a path of members. */
struct json item_value_at(struct json document, const struct index_path *path);

/* For the table of what an index offers: vectors.c, words.c, tally.c. */
enum status item_vectors(struct op *op, const struct query_index *index, const struct index_path *path,
                         const struct vector_key *key, struct query_vectors *vectors);
void item_vectors_end(struct query_vectors *vectors);
enum status item_words(struct op *op, const struct query_index *index, const struct words_question *question,
                       struct query_words *words);

/* What an item has of the question. The hits lie in the op's arena. */
enum status item_text(struct op *op, const struct words_question *question, const struct record *item,
                      struct query_text *text);
enum status item_tally(struct op *op, const struct query_index *index, const struct words_question *question,
                       struct query_tally *tally);
void item_words_end(struct item_index *index);
