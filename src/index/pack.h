/*
 * src/index/pack.h - a delta that takes no more entries becomes a run: path by path, sorted, what cancels left out.
 * Threads. Readers of the delta go on meanwhile.
 */
#pragma once
#include "index/delta.h"
#include "index/run.h"

/* As run_builder_finish(): without anything to write facts->marks is 0. */
enum status pack_delta(struct op *op, struct backend *backend, struct delta *delta, uint64_t id,
                       struct run_facts *facts, struct filter **filter);
