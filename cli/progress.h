/*
 * cli/progress.h - how far a long command is, on standard error: a bar on a terminal, which is drawn again and again;
 * otherwise a line every ten seconds. At the end there is one line of what was done.
 */
#pragma once
#include <stdbool.h>
#include <stdint.h>

struct progress {
    const char *verb; /* "imported" */
    bool quiet, terminal;
    int64_t began_us, told_us;
    uint64_t items, bytes;    /* of text */
    uint64_t at, size;        /* in the file or in what is known to come; size 0: nobody knows */
    uint64_t skipped, failed; /* told at the end, if there are any */
    double charge;
    bool drawn;
};

void progress_begin(struct progress *progress, const char *verb, bool quiet);
void progress_look(struct progress *progress); /* draws if it is time */
void progress_end(struct progress *progress);
