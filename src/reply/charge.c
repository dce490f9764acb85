/*
 * src/reply/charge.c - the price list.
 * To change a price: change its row, run test-reply, which prints what the service's published examples cost by it,
 * and write the new figure into docs/throughput.md, which the same test reads.
 */
#include <assert.h>

#include "json/json.h"
#include "reply/charge.h"

#define OF(member) offsetof(struct work, member)

/* clang-format off */
const struct price prices[] = {
    /* what                                         counter                     units    kilobytes */
    { "item read by its key",                       OF(documents_read),         0.92,    false },
    { "KB of it",                                   OF(document_bytes_read),    0.08,    true  },
    { "version of an item written",                 OF(documents_written),      4.55,    false },
    { "version of an item removed",                 OF(documents_removed),      4.55,    false },
    { "KB of either",                               OF(document_bytes_written), 0.4,     true  },
    { "index entry written or removed",             OF(entries_written),        0.06,    false },
    { "query",                                      OF(queries),                2.8,     false },
    { "item that a query or a list looks at",       OF(documents_scanned),      0.0115,  false },
    { "KB of it, looked at",                        OF(document_bytes_scanned), 0.0086,  true  },
    { "index entry that a query looks at",          OF(entries_read),           0.0002,  false },
    { "vector that a query compares by its code",   OF(codes_read),             0.0005,  false },
    { "run of a stored procedure or a trigger",     OF(scripts),                1.5,     false },
};
/* clang-format on */
const size_t price_count = sizeof(prices) / sizeof(prices[0]);

const double charge_refused = 0.38;

static uint64_t counted(const struct work *work, const struct price *price)
{
    return *(const uint64_t *)((const char *)work + price->counter);
}

double charge_since(const struct work *work, const struct work *before)
{
    double charge = 0;

    for (size_t i = 0; i < price_count; i++) {
        double count;

        assert(counted(work, &prices[i]) >= counted(before, &prices[i])); /* counters only grow */
        count = (double)(counted(work, &prices[i]) - counted(before, &prices[i]));

        charge += prices[i].units * (prices[i].kilobytes ? count / 1024 : count);
    }
    return charge;
}

double charge_of(const struct work *work)
{
    static const struct work none;
    double charge = charge_since(work, &none);

    return charge < 1 ? 1 : charge;
}

void charge_print(struct buf *out, double charge)
{
    json_print_double(out, (double)(uint64_t)(charge * 100 + 0.5) / 100);
}
