/* src/geo/sphere_check.c - whether lines and polygons on the earth are made as they must be. */
#include "geo/sphere.h"

/* An edge's extent along one axis. Edges that do not overlap there do not meet. */
struct extent {
    double low, high;
    uint32_t edge, ring;
};

enum { PAIRS_BETWEEN_CHECKS = 4096 };

#define GEO_INTERIOR \
    "Not valid because some portion of a polygon ring (%u) lies in the interior of a polygon."

static double coordinate(struct vec p, int axis)
{
    return axis == 0 ? p.x : axis == 1 ? p.y : p.z;
}

/* The one along which the shape is longest, so that few edges overlap. */
static int longest_axis(const struct sphere *shape)
{
    double longest = -1;
    int best = 0;

    for (int axis = 0; axis < 3; axis++) {
        double low = 1, high = -1;

        for (size_t i = 0; i < shape->count; i++) {
            low = fmin(low, coordinate(shape->at[i], axis));
            high = fmax(high, coordinate(shape->at[i], axis));
        }
        if (high - low > longest) {
            longest = high - low;
            best = axis;
        }
    }
    return best;
}

/* An arc rises over its chord by no more than the chord's middle lies below the surface. */
static struct extent extent_of(const struct sphere *shape, size_t i, uint32_t ring, int axis)
{
    double a = coordinate(shape->at[i], axis), b = coordinate(shape->at[i + 1], axis);
    double half = shape->length[i] / 2, rise = 1 - sqrt(fmax(0, 1 - half * half)) + vec_same;

    return (struct extent){ fmin(a, b) - rise, fmax(a, b) + rise, (uint32_t)i, ring };
}

static int by_low(const void *a, const void *b)
{
    const struct extent *x = a, *y = b;

    return (x->low > y->low) - (x->low < y->low);
}

static struct extent *sorted_extents(struct arena *memory, const struct sphere *shape, size_t *count)
{
    struct extent *extent = arena_try_alloc(memory, shape->count * sizeof(*extent));
    int axis = longest_axis(shape);

    *count = 0;
    if (!extent)
        return NULL;
    for (uint32_t r = 0; r < shape->ring_count; r++)
        for (uint32_t i = 0; i + 1 < shape->ring[r].count; i++)
            extent[(*count)++] = extent_of(shape, shape->ring[r].first + i, r, axis);
    qsort(extent, *count, sizeof(*extent), by_low);
    return extent;
}

static bool adjacent(const struct sphere *shape, const struct extent *a, const struct extent *b)
{
    const struct sphere_ring *ring = &shape->ring[a->ring];
    uint32_t low = a->edge < b->edge ? a->edge : b->edge, high = a->edge < b->edge ? b->edge : a->edge;

    return a->ring == b->ring &&
           (high == low + 1 || (low == ring->first && high == ring->first + ring->count - 2));
}

/* Of two polygons that lie side by side, the later one is told first. */
static const char *overlap(struct arena *memory, const struct sphere *shape, const struct extent *a,
                           const struct extent *b)
{
    bool alike = shape->ring[a->ring].part == shape->ring[b->ring].part ||
                 vec_dot(shape->normal[a->edge], shape->normal[b->edge]) > 0;
    unsigned low = (a->ring < b->ring ? a->ring : b->ring) + 1,
             high = (a->ring < b->ring ? b->ring : a->ring) + 1;

    if (a->ring == b->ring)
        return geojson_reason(memory, GEOJSON_OVERLAPS, low);
    return geojson_reason(memory, GEOJSON_OVERLAPS_OTHER, alike ? low : high, alike ? high : low);
}

/* A ring that crosses another lies inside of it; a polygon lies inside of a hole's rest of the earth. */
static const char *crossing_rings(struct arena *memory, const struct sphere *shape, const struct extent *a,
                                  const struct extent *b)
{
    uint32_t low = a->ring < b->ring ? a->ring : b->ring, high = a->ring < b->ring ? b->ring : a->ring;
    bool outer =
        !shape->ring[low].hole && shape->ring[high].hole && !sphere_runs_left(shape, &shape->ring[high]);

    return geojson_reason(memory, GEO_INTERIOR, (outer ? low : high) + 1);
}

/* Neighbours share a corner, other edges of a ring share nothing, rings may touch. Lines may cross themselves. */
static const char *wrong_pair(struct arena *memory, const struct sphere *shape, const struct extent *a,
                              const struct extent *b)
{
    struct vec at[2];
    bool crossing;
    int count;

    if (vec_apart(shape->at[a->edge], shape->at[b->edge]) >
        shape->length[a->edge] + shape->length[b->edge] + vec_same)
        return NULL;
    count = sphere_edges_meet(shape, a->edge, shape, b->edge, at, &crossing);
    if (count == 2)
        return overlap(memory, shape, a, b);
    if (count == 0 || shape->kind == GEOJSON_LINE || adjacent(shape, a, b) ||
        (a->ring != b->ring && !crossing))
        return NULL;
    return crossing ? crossing_rings(memory, shape, a, b)
                    : geojson_reason(memory, GEOJSON_CROSSES, a->ring + 1);
}

enum status sphere_check_edges(struct op *op, struct arena *memory, struct sphere *shape)
{
    size_t count, pairs = 0;
    struct extent *extent = sorted_extents(memory, shape, &count);
    enum status st = ST_OK;

    if (!extent)
        return ST_QUERY_MEMORY;
    for (size_t i = 0; i < count; i++)
        for (size_t j = i + 1; j < count && extent[j].low <= extent[i].high && !shape->reason; j++) {
            if (++pairs % PAIRS_BETWEEN_CHECKS == 0)
                TRY(op_check(op));
            shape->reason = wrong_pair(memory, shape, &extent[i], &extent[j]);
        }
out:
    return st;
}

/* Whether no corner of ring b lies outside of ring a. */
static bool surrounds(const struct sphere *shape, uint32_t a, uint32_t b)
{
    const struct sphere_ring *ring = &shape->ring[b];

    for (uint32_t i = 0; i + 1 < ring->count; i++)
        if (sphere_ring_place(shape, &shape->ring[a], shape->at[ring->first + i]) == SPHERE_OUTSIDE)
            return false;
    return true;
}

/* Each of a polygon's rings lies to the left of the others. */
static void check_hole(struct arena *memory, struct sphere *shape, uint32_t hole, uint32_t exterior)
{
    for (uint32_t other = exterior; other < hole && !shape->reason; other++) {
        bool in = surrounds(shape, other, hole), around = surrounds(shape, hole, other);
        bool nested = in == sphere_runs_left(shape, &shape->ring[other]);

        if (!in && !around)
            shape->reason = geojson_reason(memory, GEOJSON_NOT_CONNECTED, hole + 1, exterior + 1);
        else if (!in || !around)
            shape->reason = geojson_reason(memory, GEO_INTERIOR, (nested ? hole : other) + 1);
    }
}

/* No corner of one polygon lies inside another. */
static void check_apart(struct arena *memory, struct sphere *shape, uint32_t r)
{
    const struct sphere_ring *ring = &shape->ring[r];

    for (uint32_t i = 0; i + 1 < ring->count && !shape->reason; i++)
        if (sphere_place(shape, shape->at[ring->first + i]) == SPHERE_INSIDE)
            shape->reason = geojson_reason(memory, GEO_INTERIOR, r + 1);
}

enum status sphere_check_rings(struct op *op, struct arena *memory, struct sphere *shape)
{
    uint32_t exterior = 0;
    enum status st = ST_OK;

    for (uint32_t r = 0; r < shape->ring_count && !shape->reason; r++) {
        TRY(op_check(op));
        if (shape->ring[r].hole)
            check_hole(memory, shape, r, exterior);
        else
            exterior = r;
        if (shape->part_count > 1)
            check_apart(memory, shape, r);
    }
out:
    return st;
}
