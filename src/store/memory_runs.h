/* src/store/memory_runs.h - the run space (packed/run_space.h) of the backend in memory, for memory.c only. */
#pragma once
#include "packed/run_space.h"

struct backend;
struct memory_runs;
struct memory_runs_list;

struct memory_runs *memory_runs_new(struct backend *backend); /* the backend owns the runs, and frees them */
void memory_runs_free(struct memory_runs *runs);
struct run_space *memory_runs_space(struct memory_runs *runs);
uint64_t memory_runs_bytes(struct memory_runs *runs);

/* Between the two no run comes or goes. */
void memory_runs_freeze(struct memory_runs *runs);
void memory_runs_thaw(struct memory_runs *runs);

/* The runs that there are, which stay in memory until the list is released; while they are frozen. */
struct memory_runs_list *memory_runs_list(struct memory_runs *runs);
void memory_runs_release(struct memory_runs_list *list); /* NULL is welcome */

/* There are again those of the list and no others. The list stays. */
void memory_runs_restore(struct memory_runs *runs, const struct memory_runs_list *list);
