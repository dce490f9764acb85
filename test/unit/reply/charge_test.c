/* test/unit/reply/charge_test.c - the price list against what the service publishes, and against docs/throughput.md. */
#include <stdlib.h>

#include "reply/charge.h"
#include "test.h"

#define KB(n) ((uint64_t)((n)*1024))
#define READ(kb)                                           \
    {                                                      \
        .documents_read = 1, .document_bytes_read = KB(kb) \
    }
#define WRITE(kb)                                                \
    {                                                            \
        .documents_written = 1, .document_bytes_written = KB(kb) \
    }

/* Figures that Microsoft publishes, or that were recorded of its service; docs/throughput.md says where. */
static const struct {
    const char *what;
    struct work work;
    double published, tolerance; /* the latter as a part of the former */
} known[] = {
    { "read 1 KB", READ(1), 1, 0.01 },
    { "read 4 KB", READ(4), 1.14, 0.35 },
    { "read 16 KB", READ(16), 1.67, 0.35 },
    { "read 64 KB", READ(64), 4.76, 0.35 },
    { "read 100 KB", READ(100), 10, 0.15 },
    { "read 128 KB", READ(128), 9.95, 0.15 },
    { "read 512 KB", READ(512), 40.95, 0.15 },
    { "write 1 KB", WRITE(1), 4.95, 0.01 },
    { "write 4 KB", WRITE(4), 6.67, 0.15 },
    { "write 16 KB", WRITE(16), 9.52, 0.35 },
    { "write 64 KB", WRITE(64), 22.67, 0.35 },
    { "write 100 KB", WRITE(100), 50, 0.15 },
    { "write 128 KB", WRITE(128), 48.19, 0.2 },
    { "write 512 KB", WRITE(512), 184.57, 0.15 },
    { "create 1 KB, ten entries",
      { .documents_written = 1, .document_bytes_written = KB(1), .entries_written = 10 },
      5.5,
      0.05 },
    { "replace 1 KB",
      { .documents_written = 1, .documents_removed = 1, .document_bytes_written = KB(2) },
      9.9,
      0.01 },
    { "query that finds one",
      { .queries = 1, .documents_scanned = 1, .document_bytes_scanned = KB(1), .entries_read = 1 },
      2.8,
      0.05 },
    { "query of 2,500 small items",
      { .queries = 1, .documents_scanned = 2500, .document_bytes_scanned = KB(2500 * 0.3) },
      38.14,
      0.1 },
    { "query over 60,951 items",
      { .queries = 1, .documents_scanned = 60951, .document_bytes_scanned = 399998938 },
      4059.95,
      0.1 },
};

TEST(published_examples_cost_here_about_what_they_cost_there)
{
    printf("%-28s %10s %10s\n", "request", "service", "here");
    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
        double charge = charge_of(&known[i].work), off = charge / known[i].published - 1;

        printf("%-28s %10.2f %10.2f\n", known[i].what, known[i].published, charge);
        CHECK((off < 0 ? -off : off) <= known[i].tolerance);
    }
}

TEST(an_answer_costs_at_least_one_and_calls_of_the_store_cost_nothing)
{
    CHECK(charge_of(&(struct work){ 0 }) == 1);
    CHECK(charge_of(&(struct work){ .round_trips = 1000, .bytes_read = KB(1000) }) == 1);
}

TEST(charges_of_parts_add_up_to_that_of_the_whole)
{
    struct work before = { 0 }, work = { 0 };
    double sum;

    work_read(&work, 10);
    sum = charge_since(&work, &before);
    CHECK(sum == charge_of(&work) && sum == 1);
    before = work;
    work_wrote(&work, 5000);
    work_removed(&work, 10);
    work.entries_written += 7;
    sum += charge_since(&work, &before);
    CHECK(sum > charge_of(&work) - 1e-9 && sum < charge_of(&work) + 1e-9);
}

static char *throughput_page(void)
{
    char *text = calloc(1, 1 << 16);
    FILE *file = fopen(test_source_path("docs/throughput.md"), "r");

    if (file) {
        size_t size = fread(text, 1, (1 << 16) - 1, file);

        text[size] = '\0';
        fclose(file);
    }
    return text;
}

TEST(the_documentation_has_every_price)
{
    char *page = throughput_page();

    for (size_t i = 0; i < price_count; i++) {
        char row[128];

        snprintf(row, sizeof(row), "| %s | %g |", prices[i].what, prices[i].units);
        if (!strstr(page, row)) {
            printf("docs/throughput.md should have: %s\n", row);
            CHECK(false);
        }
    }
    free(page);
}
