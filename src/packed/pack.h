/*
 * src/packed/pack.h - a sealed delta becomes a run: path by path, sorted, without entries that cancel.
 * Threads. Readers of the delta go on meanwhile.
 */
#pragma once
#include "packed/delta.h"
#include "packed/run.h"

/* As run_builder_finish(): without anything to write facts->marks is 0. */
enum status pack_delta(struct op *op, struct run_space *space, struct delta *delta, uint64_t id,
                       struct run_facts *facts, struct filter **filter);
