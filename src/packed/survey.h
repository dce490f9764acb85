/*
 * src/packed/survey.h - how much of a run belongs to buckets that were dropped, which a merge would leave out.
 */
#pragma once
#include "packed/run.h"

/* Adds to what the run knows: the pages of one bucket. */
enum status survey_bucket(struct op *op, struct run_space *space, struct run *run, uint64_t bucket);

/*
 * Adds the pages of all dropped buckets, which are those without a settled LSN. For runs that were there when the
 * store was opened.
 */
enum status survey_run(struct op *op, struct run_space *space, struct run *run);

/* A bucket that has entries in runs has a settled LSN, until it is dropped. */
enum status survey_is_dropped(struct op *op, struct run_space *space, uint64_t bucket, bool *dropped);
