/*
 * src/query/function/full_text.h - the full-text functions: what the binder and ORDER BY RANK need to know of them.
 * A text is in the language that the container's policy names for its path, else in the policy's own, else in English.
 */
#pragma once
#include "query/query.h"
#include "query/value/tree.h"
#include "text/match.h"

/* What the binder leaves in a call's memo. */
struct full_text_call {
    bool prepared; /* false: set by fn_text.c alone, in a copy of its own */
    enum text_language language;
};

enum text_language full_text_language(const struct expr *text, struct json policy);

/* A keyword is a string, or {"term": string, "distance": 0 to 2}. False when it is none. */
bool full_text_keyword(struct value value, struct slice *word, uint32_t *distance);

/* What the binder does with a call: it leaves the language in its memo; and of FullTextScore checks the keywords. */
enum status full_text_bind(struct op *op, const struct query_options *options, struct expr *call);
enum status full_text_bind_score(struct op *op, const struct query_options *options, struct expr *call);

/* Of _FullTextScore, which plans write: constants but for the text. */
enum status full_text_bind_rewritten(struct op *op, const struct query_options *options, struct expr *call);
