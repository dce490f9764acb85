/* src/store/memory_runs.h - the runs (runs.h) of the backend in memory, for memory.c only. */
#pragma once
#include "store/runs.h"

struct memory_runs;

struct memory_runs *memory_runs_new(void);
void memory_runs_free(struct memory_runs *runs);
uint64_t memory_runs_bytes(struct memory_runs *runs);

/* memory.c knows where they are. */
struct memory_runs *memory_runs_of(struct backend *backend);

extern const struct run_ops memory_run_ops;
