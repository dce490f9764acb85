/* client/hash_net.c - what a .NET ring is begun with: the hash that .NET Framework has of a text, and the rings' names. */
#include "hash_ring.h"
#include "json/json.h"

/* One after another the UTF-16 units of a text; 0 behind the last. A byte that is no UTF-8 is a unit of its own. */
static uint32_t next_unit(const unsigned char **at, uint32_t *pending)
{
    const unsigned char *text = *at;
    uint32_t point = *text, low = *pending;
    int more = point >= 0xF0 ? 3 : point >= 0xE0 ? 2 : point >= 0xC0 ? 1 : 0;

    *pending = 0;
    if (low)
        return low;
    if (point == 0)
        return 0;
    for (int i = 1; i <= more; i++)
        if ((text[i] & 0xC0) != 0x80)
            more = 0;
    point = more ? point & (0x3Fu >> more) : point;
    for (int i = 1; i <= more; i++)
        point = point << 6 | (text[i] & 0x3F);
    *at = text + 1 + more;
    if (point < 0x10000)
        return point;
    *pending = 0xDC00 + ((point - 0x10000) & 0x3FF);
    return 0xD800 + ((point - 0x10000) >> 10);
}

static uint32_t combine(uint32_t first, uint32_t second)
{
    return first + second * 1566083941u;
}

static uint32_t hash_64(const unsigned char *text)
{
    uint32_t hash[2] = { 5381, 5381 }, pending = 0, unit;

    for (int i = 0; (unit = next_unit(&text, &pending)); i = !i)
        hash[i] = ((hash[i] << 5) + hash[i]) ^ unit;
    return combine(hash[0], hash[1]);
}

/* By turns two units as one word. The shift to the right keeps the sign. */
static uint32_t hash_32(const unsigned char *text)
{
    uint32_t hash[2] = { (5381u << 16) + 5381, (5381u << 16) + 5381 }, pending = 0, unit;

    for (int i = 0; (unit = next_unit(&text, &pending)); i = !i) {
        uint32_t word = unit | next_unit(&text, &pending) << 16;

        hash[i] = ((hash[i] << 5) + hash[i] + (uint32_t)((int32_t)hash[i] >> 27)) ^ word;
    }
    return combine(hash[0], hash[1]);
}

uint32_t net_text_hash(const char *text, orrery_ring kind)
{
    return kind == ORRERY_RING_NET32 ? hash_32((const unsigned char *)text)
                                     : hash_64((const unsigned char *)text);
}

static const char *const names[] = { NULL, "net64", "net32", "netSeeds" };

const char *ring_name(orrery_ring kind)
{
    return names[kind];
}

bool ring_of_name(struct slice name, orrery_ring *kind)
{
    for (int i = ORRERY_RING_NET64; i <= ORRERY_RING_NET_SEEDS; i++)
        if (slice_is(name, names[i])) {
            *kind = (orrery_ring)i;
            return true;
        }
    return false;
}
