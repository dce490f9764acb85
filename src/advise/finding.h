/*
 * src/advise/finding.h - writes a finding:
 *     struct finding_writer w = finding_begin(op, rule, severity, look, tree, node);
 *     finding_number(&w, "items", n); ...                         members of its evidence
 *     return finding_end(op, advice, &w, cost, "what to do");
 */
#pragma once
#include "advise/rules.h"

struct finding_writer {
    const struct rule *rule;
    enum severity severity;
    struct json_builder out;
    struct json plan; /* undefined: it proposes none */
};

/* Where it was found. Tree and node may be NULL. */
struct finding_place {
    const struct look *look;
    const struct tree *tree;
    const struct node *node;
    struct slice path; /* where there is no node */
};

void finding_begin(struct op *op, struct finding_writer *writer, const struct rule *rule,
                   enum severity severity, struct finding_place place);
void finding_number(struct finding_writer *writer, const char *name, uint64_t number);
void finding_share(struct finding_writer *writer, const char *name, double share); /* to a thousandth */
void finding_units(struct finding_writer *writer, const char *name, double units); /* to a hundredth */
void finding_text(struct finding_writer *writer, const char *name, struct slice text);
void finding_ids(struct finding_writer *writer, const char *name, const struct slice *id, size_t count);

/* What could be tried (docs/modelling/rules.md, "What if"): members of the container's definition, as JSON text. */
enum status finding_plan(struct op *op, struct finding_writer *writer, const struct container *container,
                         struct slice members);

/* Request units of writing an item of so many bytes anew, without its index entries; 0: the finding has no such cost. */
enum status finding_end(struct op *op, struct advice *advice, struct finding_writer *writer,
                        uint64_t rewritten_bytes, const char *what_to_do);
