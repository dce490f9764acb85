/* src/advise/spread.c - HyperLogLog for how many, Misra-Gries for how often. */
#include <assert.h>
#include <math.h>

#include "advise/spread.h"

enum { INDEX_BITS = 8 };

static void note_register(struct spread *spread, uint64_t hash)
{
    uint64_t rest = hash >> INDEX_BITS;
    uint8_t rank = (uint8_t)(rest ? __builtin_ctzll(rest) + 1 : 64 - INDEX_BITS + 1);
    uint8_t *reg = &spread->reg[hash & (SPREAD_REGISTERS - 1)];

    if (*reg < rank)
        *reg = rank;
}

/* Room for a value that has none: every other gives up as much as the least of them has. */
static size_t make_room(struct spread *spread, uint64_t *count)
{
    size_t least = 0;
    uint64_t taken;

    for (size_t i = 1; i < SPREAD_HEAVY; i++)
        if (spread->heavy[i].count < spread->heavy[least].count)
            least = i;
    taken = spread->heavy[least].count < *count ? spread->heavy[least].count : *count;
    for (size_t i = 0; i < SPREAD_HEAVY; i++)
        spread->heavy[i].count -= taken;
    *count -= taken;
    return least;
}

static void note_heavy(struct spread *spread, uint64_t hash, uint64_t count)
{
    size_t room;

    for (size_t i = 0; i < SPREAD_HEAVY; i++)
        if (spread->heavy[i].count && spread->heavy[i].hash == hash) {
            spread->heavy[i].count += count;
            return;
        }
    room = make_room(spread, &count);
    if (count == 0)
        return;
    assert(spread->heavy[room].count == 0);
    spread->heavy[room].hash = hash;
    spread->heavy[room].count = count;
}

void spread_add(struct spread *spread, uint64_t hash)
{
    spread->count++;
    note_register(spread, hash);
    note_heavy(spread, hash, 1);
}

void spread_join(struct spread *spread, const struct spread *other)
{
    spread->count += other->count;
    for (size_t i = 0; i < SPREAD_REGISTERS; i++)
        if (spread->reg[i] < other->reg[i])
            spread->reg[i] = other->reg[i];
    for (size_t i = 0; i < SPREAD_HEAVY; i++)
        if (other->heavy[i].count)
            note_heavy(spread, other->heavy[i].hash, other->heavy[i].count);
}

uint64_t spread_distinct(const struct spread *spread)
{
    const double m = SPREAD_REGISTERS, alpha = 0.7213 / (1 + 1.079 / m);
    double sum = 0, estimate;
    size_t zeros = 0;

    for (size_t i = 0; i < SPREAD_REGISTERS; i++) {
        sum += ldexp(1, -spread->reg[i]);
        zeros += spread->reg[i] == 0;
    }
    estimate = alpha * m * m / sum;
    if (estimate <= 2.5 * m && zeros)
        estimate = m * log(m / (double)zeros);
    assert(estimate >= 0);
    return (uint64_t)llround(estimate);
}

uint64_t spread_commonest(const struct spread *spread)
{
    uint64_t most = 0;

    for (size_t i = 0; i < SPREAD_HEAVY; i++)
        if (spread->heavy[i].count > most)
            most = spread->heavy[i].count;
    return most;
}
