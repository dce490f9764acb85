/* cli/progress.c - how far a long command is. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "connect.h"
#include "progress.h"

enum { BAR_US = 200000, LINE_US = 10000000, BAR_CELLS = 20 };

void progress_begin(struct progress *progress, const char *verb, bool quiet)
{
    *progress = (struct progress){ .verb = verb, .quiet = quiet, .terminal = isatty(STDERR_FILENO) };
    progress->began_us = progress->told_us = clock_us();
}

static double seconds(const struct progress *progress)
{
    double us = (double)(clock_us() - progress->began_us);

    return us > 1 ? us / 1e6 : 1e-6;
}

static void print_figures(const struct progress *progress)
{
    double took = seconds(progress);

    fprintf(stderr, "%llu items, %.1f MB, %.1f MB/s", (unsigned long long)progress->items,
            (double)progress->bytes / 1e6, (double)progress->bytes / 1e6 / took);
    if (progress->charge > 0)
        fprintf(stderr, ", %.0f RU", progress->charge);
}

static void print_bar(const struct progress *progress)
{
    double part = (double)progress->at / (double)progress->size;
    int cells = (int)(part * BAR_CELLS);

    fprintf(stderr, "[%.*s%*s] %3.0f%% ", cells, "####################", BAR_CELLS - cells, "", part * 100);
}

static void print_rest(const struct progress *progress)
{
    double part = (double)progress->at / (double)progress->size;

    if (part > 0)
        fprintf(stderr, ", %.0f s left", seconds(progress) * (1 - part) / part);
}

void progress_look(struct progress *progress)
{
    int64_t now = clock_us();
    bool knows = progress->size && progress->at <= progress->size;

    if (progress->quiet || now - progress->told_us < (progress->terminal ? BAR_US : LINE_US))
        return;
    progress->told_us = now;
    if (progress->terminal)
        fputs("\r", stderr);
    if (progress->terminal && knows)
        print_bar(progress);
    print_figures(progress);
    if (knows)
        print_rest(progress);
    fputs(progress->terminal ? "\033[K" : "\n", stderr);
    progress->drawn = progress->terminal;
    fflush(stderr);
}

void progress_end(struct progress *progress)
{
    if (progress->quiet)
        return;
    if (progress->drawn)
        fputs("\r\033[K", stderr);
    fprintf(stderr, "%s ", progress->verb);
    print_figures(progress);
    if (progress->skipped)
        fprintf(stderr, ", %llu were there already", (unsigned long long)progress->skipped);
    if (progress->failed)
        fprintf(stderr, ", %llu REJECTED", (unsigned long long)progress->failed);
    fputc('\n', stderr);
}
