/*
 * test/sim/main.c - runs seeds and counts them as tests.
 * usage: test-sim [SEEDS [FIRST]]     200 seeds from 1 by default
 * ORRERY_SIM_SEED=n replays one; a seed that fails says so, what happened before, and the command that repeats it.
 */
#include <fcntl.h>
#include <signal.h>
#include <stddef.h>
#include <stdlib.h>
#include <unistd.h>

#include "sim.h"

enum { SEEDS = 200, STEPS = 160 };

/* The sanitizers' own; not there without them. */
void __sanitizer_set_report_fd(void *file) __attribute__((weak));
void __sanitizer_set_death_callback(void (*callback)(void)) __attribute__((weak));

static struct sim sim;
static struct tally total;
static const char *program;

static void print_trace(void)
{
    uint64_t from = sim.traced > TRACE_LINES ? sim.traced - TRACE_LINES : 0;

    for (uint64_t i = from; i < sim.traced; i++)
        printf("    %s\n", sim.trace[i % TRACE_LINES]);
    printf("seed %llu: %s\nrepeat: ORRERY_SIM_SEED=%llu %s\n", (unsigned long long)sim.seed,
           sim.why[0] ? sim.why : "the process ended", (unsigned long long)sim.seed, program);
    fflush(stdout);
}

static void on_abort(int signal)
{
    (void)signal;
    print_trace();
}

static const struct {
    const char *what;
    size_t at;
} tallied[] = {
    { "requests", offsetof(struct tally, requests) },
    { "interrupted by another", offsetof(struct tally, interruptions) },
    { "commits refused as conflicts", offsetof(struct tally, conflicts) },
    { "answers of 503", offsetof(struct tally, refusals) },
    { "power cuts", offsetof(struct tally, cuts) },
    { "power cuts during a start", offsetof(struct tally, starts_cut) },
    { "writes in doubt that took place", offsetof(struct tally, took_place) },
    { "writes in doubt that did not", offsetof(struct tally, did_not) },
    { "expired items removed", offsetof(struct tally, expired) },
    { "index entries compared", offsetof(struct tally, entries) },
};

enum { TALLIED = sizeof(tallied) / sizeof(tallied[0]) };

static uint64_t *tally_at(struct tally *tally, size_t which)
{
    return (uint64_t *)((char *)tally + tallied[which].at);
}

/* False when something was never met: many seeds like that have not been where they should have. */
static bool print_tally(void)
{
    bool met = true;

    for (size_t i = 0; i < TALLIED; i++) {
        printf("%9llu %s\n", (unsigned long long)*tally_at(&total, i), tallied[i].what);
        met = met && *tally_at(&total, i);
    }
    return met;
}

static bool run(uint64_t seed)
{
    sim_run(&sim, seed, STEPS);
    for (size_t i = 0; i < TALLIED; i++)
        *tally_at(&total, i) += *tally_at(&sim.tally, i);
    if (sim.failed)
        print_trace();
    return !sim.failed;
}

/* What the seed is worth: the same run again. */
static bool replays(uint64_t seed)
{
    uint64_t digest;

    sim_run(&sim, seed, STEPS);
    digest = sim.digest;
    sim_run(&sim, seed, STEPS);
    if (sim.digest != digest)
        printf("seed %llu: another run than the first time\nrepeat: %s 1 %llu\n", (unsigned long long)seed,
               program, (unsigned long long)seed);
    return sim.digest == digest;
}

/* The store tells the operator of every failure, and here most are meant. What ends the process is still told. */
static void silence_log(void)
{
    int nowhere = open("/dev/null", O_WRONLY);

    if (nowhere < 0 || getenv("ORRERY_SIM_LOG"))
        return;
    dup2(nowhere, STDERR_FILENO);
    close(nowhere);
    stderr = stdout;
    if (__sanitizer_set_report_fd)
        __sanitizer_set_report_fd((void *)(intptr_t)STDOUT_FILENO);
}

int main(int argc, char **argv)
{
    const char *one = getenv("ORRERY_SIM_SEED");
    uint64_t count = argc > 1 ? strtoull(argv[1], NULL, 10) : SEEDS;
    uint64_t first = argc > 2 ? strtoull(argv[2], NULL, 10) : 1;
    unsigned long passed = 0, failed = 0;

    setvbuf(stdout, NULL, _IOLBF, 0);
    program = argv[0];
    silence_log();
    signal(SIGABRT, on_abort);
    if (__sanitizer_set_death_callback)
        __sanitizer_set_death_callback(print_trace);
    if (one) {
        first = strtoull(one, NULL, 10);
        count = 1;
    }
    for (uint64_t seed = first; seed < first + count; seed++)
        *(run(seed) ? &passed : &failed) += 1;
    failed += !print_tally() && count >= SEEDS;
    failed += !one && !replays(first);
    printf("%lu passed, %lu failed\n", passed, failed);
    return failed != 0;
}
