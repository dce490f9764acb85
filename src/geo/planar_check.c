/* src/geo/planar_check.c - what is wrong with a line or a polygon on a plane, in the service's words. */
#include <math.h>
#include <stdlib.h>

#include "geo/planar.h"

/* An edge, and how far it goes in x: edges that do not overlap there do not meet. */
struct edge {
    struct geo_point from, to;
    double low, high;
    uint32_t place, ring; /* from which of the shape's points it goes, in which ring */
};

enum meeting { APART, TOUCHING, CROSSING, OVERLAPPING };

enum { PAIRS_BETWEEN_CHECKS = 4096 };

static int by_low(const void *a, const void *b)
{
    const struct edge *x = a, *y = b;

    return (x->low > y->low) - (x->low < y->low);
}

static struct edge *sorted_edges(struct arena *memory, const struct geojson *shape, size_t *count)
{
    struct edge *edge = arena_try_alloc(memory, shape->count * sizeof(*edge) + 1);

    *count = 0;
    for (uint32_t r = 0; edge && r < shape->ring_count; r++)
        for (uint32_t i = 0; i + 1 < shape->ring[r].count; i++) {
            uint32_t place = shape->ring[r].first + i;
            struct geo_point from = shape->at[place], to = shape->at[place + 1];

            edge[(*count)++] = (struct edge){ from, to, fmin(from.x, to.x), fmax(from.x, to.x), place, r };
        }
    if (edge)
        qsort(edge, *count, sizeof(*edge), by_low);
    return edge;
}

/* On which side of the edge the point lies: 1 is left, 0 on the line through it. */
static int side_of(const struct edge *edge, struct geo_point p)
{
    double side = (edge->to.x - edge->from.x) * (p.y - edge->from.y) -
                  (edge->to.y - edge->from.y) * (p.x - edge->from.x);

    return (side > 0) - (side < 0);
}

/* Of a point on the line through the edge. */
static bool in_box(const struct edge *edge, struct geo_point p)
{
    return p.x >= edge->low && p.x <= edge->high && p.y >= fmin(edge->from.y, edge->to.y) &&
           p.y <= fmax(edge->from.y, edge->to.y);
}

static bool same(struct geo_point a, struct geo_point b)
{
    return a.x == b.x && a.y == b.y;
}

/* Of edges on one line: they share more than a point unless their ends alone meet. */
static enum meeting meet_on_line(const struct edge *a, const struct edge *b)
{
    const struct geo_point end[4] = { b->from, b->to, a->from, a->to };
    const struct edge *other[4] = { a, a, b, b };
    const struct geo_point *first = NULL;

    for (int i = 0; i < 4; i++) {
        if (!in_box(other[i], end[i]))
            continue;
        if (first && !same(*first, end[i]))
            return OVERLAPPING;
        first = &end[i];
    }
    return first ? TOUCHING : APART;
}

static enum meeting meet(const struct edge *a, const struct edge *b)
{
    int c = side_of(a, b->from), d = side_of(a, b->to), e = side_of(b, a->from), f = side_of(b, a->to);

    if (!c && !d)
        return meet_on_line(a, b);
    if (c * d < 0 && e * f < 0)
        return CROSSING;
    if ((!c && in_box(a, b->from)) || (!d && in_box(a, b->to)) || (!e && in_box(b, a->from)) ||
        (!f && in_box(b, a->to)))
        return TOUCHING;
    return APART;
}

static bool adjacent(const struct geojson *shape, const struct edge *a, const struct edge *b)
{
    const struct geojson_ring *ring = &shape->ring[a->ring];
    uint32_t low = a->place < b->place ? a->place : b->place,
             high = a->place < b->place ? b->place : a->place;

    return a->ring == b->ring &&
           (high == low + 1 || (low == ring->first && high == ring->first + ring->count - 2));
}

static const char *overlap(struct arena *memory, const struct geojson *shape, const struct edge *a,
                           const struct edge *b)
{
    bool alike =
        shape->ring[a->ring].part == shape->ring[b->ring].part ||
        (a->to.x - a->from.x) * (b->to.x - b->from.x) + (a->to.y - a->from.y) * (b->to.y - b->from.y) > 0;
    unsigned low = (a->ring < b->ring ? a->ring : b->ring) + 1,
             high = (a->ring < b->ring ? b->ring : a->ring) + 1;

    if (a->ring == b->ring)
        return geojson_reason(memory, GEOJSON_OVERLAPS, low);
    return geojson_reason(memory, GEOJSON_OVERLAPS_OTHER, alike ? low : high, alike ? high : low);
}

/* Neighbours share a corner, other edges of a ring share nothing, rings may touch. Lines may cross themselves. */
static bool is_wrong(const struct geojson *shape, const struct edge *a, const struct edge *b,
                     enum meeting meeting)
{
    if (shape->kind == GEOJSON_LINE || meeting == APART || adjacent(shape, a, b))
        return false;
    return meeting == CROSSING || a->ring == b->ring;
}

static const char *crossing(struct arena *memory, const struct edge *a, const struct edge *b)
{
    return geojson_reason(memory, GEOJSON_CROSSES, (a->ring < b->ring ? a->ring : b->ring) + 1);
}

enum status planar_check_edges(struct op *op, struct arena *memory, struct geojson *shape)
{
    bool overlaps = false; /* which is told before anything else */
    size_t count, pairs = 0;
    struct edge *edge = sorted_edges(memory, shape, &count);
    enum status st = ST_OK;

    if (!edge)
        return ST_QUERY_MEMORY;
    for (size_t i = 0; i < count; i++)
        for (size_t j = i + 1; j < count && edge[j].low <= edge[i].high && !overlaps; j++) {
            enum meeting meeting = meet(&edge[i], &edge[j]);

            if (++pairs % PAIRS_BETWEEN_CHECKS == 0)
                TRY(op_check(op));
            overlaps = meeting == OVERLAPPING;
            if (overlaps)
                shape->reason = overlap(memory, shape, &edge[i], &edge[j]);
            else if (!shape->reason && is_wrong(shape, &edge[i], &edge[j], meeting))
                shape->reason = crossing(memory, &edge[i], &edge[j]);
        }
out:
    return st;
}

/* Whether a ray from the point crosses the ring an odd number of times. */
static bool contains(const struct geojson *shape, const struct geojson_ring *ring, struct geo_point p)
{
    const struct geo_point *at = shape->at + ring->first;
    bool inside = false;

    for (uint32_t i = 0; i + 1 < ring->count; i++)
        if ((at[i].y > p.y) != (at[i + 1].y > p.y) &&
            p.x < at[i].x + (at[i + 1].x - at[i].x) * (p.y - at[i].y) / (at[i + 1].y - at[i].y))
            inside = !inside;
    return inside;
}

/* Of rings that nothing crosses: a hole that lies outside its polygon, or in another hole. */
static bool is_misplaced(const struct geojson *shape, uint32_t hole, uint32_t exterior)
{
    struct geo_point corner = shape->at[shape->ring[hole].first];

    if (!contains(shape, &shape->ring[exterior], corner))
        return true;
    for (uint32_t other = exterior + 1; other < hole; other++)
        if (contains(shape, &shape->ring[other], corner))
            return true;
    return false;
}

void planar_check_rings(struct arena *memory, struct geojson *shape)
{
    uint32_t exterior = 0;

    shape->reason = shape->part_count > 1
                        ? "Not valid because an invalid polygon or multi-polygon is detected."
                        : geojson_reason(memory, GEOJSON_CROSSES, 1);
    for (uint32_t r = 0; r < shape->ring_count; r++)
        if (!shape->ring[r].hole) {
            exterior = r;
        } else if (is_misplaced(shape, r, exterior)) {
            shape->reason = geojson_reason(memory, GEOJSON_NOT_CONNECTED, r + 1, exterior + 1);
            return;
        }
}
