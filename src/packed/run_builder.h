/*
 * src/packed/run_builder.h - writes a run: marks in order become pages, and a filter behind them.
 *
 * Ownership. run_builder_finish() and run_builder_abort() end the builder.
 * Threads. Used by one thread.
 */
#pragma once
#include "packed/run.h"

struct run_builder;

/* `terms_max`: no more than so many, for the filter's size. */
enum status run_builder_begin(struct op *op, struct run_space *space, uint64_t id, uint64_t terms_max,
                              struct run_builder **builder);

/* Marks of one place (bucket and term), rising, behind all that came before. */
enum status run_builder_add(struct op *op, struct run_builder *builder, struct slice place,
                            const uint64_t *number, const bool *gone, size_t count);

/*
 * The run is then durable, and in no manifest yet. Without marks there is no run, and facts->marks is 0. The caller
 * owns the filter.
 */
enum status run_builder_finish(struct op *op, struct run_builder *builder, struct run_facts *facts,
                               struct filter **filter);
void run_builder_abort(struct run_builder *builder); /* NULL is welcome */
