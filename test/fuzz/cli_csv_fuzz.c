/*
 * test/fuzz/cli_csv_fuzz.c - CSV, read in two pieces that the first byte divides, and as one: the rows must be the same. What was
 * read and makes sense is written and read again, and must be the same too.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "csv.h"

static void must(bool holds)
{
    if (!holds)
        abort();
}

/* Every row, as CSV again; a row that makes no sense is an exclamation mark. */
static void read_all(const char *data, size_t size, size_t cut, struct text *out)
{
    struct csv *csv = must_alloc(sizeof(*csv));
    const char *at = data, *end = data + cut;
    bool last = cut == size;

    for (;;) {
        enum csv_result got = csv_read(csv, &at, end);

        if (got == CSV_MORE && !last) {
            end = data + size;
            last = true;
            continue;
        }
        if (got == CSV_MORE)
            got = csv_end(csv);
        if (got == CSV_MORE)
            break;
        if (got == CSV_BROKEN)
            text_puts(out, "!\n");
        for (size_t i = 0; got == CSV_ROW && i < csv->cell_count; i++) {
            text_puts(out, i ? "," : "");
            csv_write(out, text_of(&csv->row) + csv->cell[i].at, csv->cell[i].size, csv->cell[i].quoted);
        }
        if (got == CSV_ROW)
            text_byte(out, '\n');
        csv_next(csv);
    }
    csv_free(csv);
    free(csv);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    struct text whole = { 0 }, pieces = { 0 }, again = { 0 };
    const char *data = (const char *)bytes + 1;

    if (size == 0)
        return 0;
    read_all(data, size - 1, size - 1, &whole);
    read_all(data, size - 1, bytes[0] % size, &pieces);
    must(whole.size == pieces.size && strcmp(text_of(&whole), text_of(&pieces)) == 0);
    if (!memchr(text_of(&whole), '!', whole.size)) {
        read_all(text_of(&whole), whole.size, whole.size, &again);
        must(whole.size == again.size && memcmp(text_of(&whole), text_of(&again), whole.size) == 0);
    }
    text_free(&whole);
    text_free(&pieces);
    text_free(&again);
    return 0;
}
