/* src/store/memory_runs.h - the run space (packed/run_space.h) of the backend in memory, for memory.c only. */
#pragma once
#include "packed/run_space.h"

struct backend;
struct memory_runs;

struct memory_runs *memory_runs_new(struct backend *backend); /* the backend owns the runs, and frees them */
void memory_runs_free(struct memory_runs *runs);
struct run_space *memory_runs_space(struct memory_runs *runs);
uint64_t memory_runs_bytes(struct memory_runs *runs);
