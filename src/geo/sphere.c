/* src/geo/sphere.c - shapes on the earth: making them, and where a point lies in them. */
#include <assert.h>
#include <float.h>

#include "geo/sphere.h"

/* ------- edges ------- */

/* Sine of the angle from the edge's great circle; positive to its left. */
static double side_of(const struct sphere *shape, size_t i, struct vec p)
{
    return vec_dot(vec_sub(p, shape->at[i]), shape->normal[i]);
}

/* Whether p, or the foot of its perpendicular, is not beyond either end. */
static bool beside(const struct sphere *shape, size_t i, struct vec p, double slack)
{
    struct vec n = shape->normal[i];

    return vec_dot(vec_cross(n, shape->at[i]), p) >= -slack &&
           vec_dot(vec_cross(shape->at[i + 1], n), p) >= -slack;
}

static bool on_edge(const struct sphere *shape, size_t i, struct vec p)
{
    return fabs(side_of(shape, i, p)) < vec_same && beside(shape, i, p, vec_same);
}

double sphere_edge_apart(const struct sphere *shape, size_t i, struct vec p)
{
    if (beside(shape, i, p, 0))
        return asin(fmin(1, fabs(side_of(shape, i, p))));
    return 2 * asin(fmin(1, fmin(vec_apart(shape->at[i], p), vec_apart(shape->at[i + 1], p)) / 2));
}

static int sign_of(double side)
{
    return (side > vec_same) - (side < -vec_same);
}

/* Where the great circles of two edges meet, on the side of the earth where the first edge is. */
static struct vec circles_meet(const struct sphere *a, size_t i, const struct sphere *b, size_t j)
{
    struct vec x = vec_cross(a->normal[i], b->normal[j]);

    return vec_unit(vec_dot(x, vec_add(a->at[i], a->at[i + 1])) < 0 ? vec_scale(x, -1) : x);
}

/* Adds p to the points found if it is new. */
static int add_point(struct vec at[2], int count, struct vec p)
{
    if (count == 2 || (count == 1 && vec_apart(at[0], p) < 2 * vec_same))
        return count;
    at[count] = p;
    return count + 1;
}

int sphere_edges_meet(const struct sphere *a, size_t i, const struct sphere *b, size_t j, struct vec at[2],
                      bool *crossing)
{
    int c = sign_of(side_of(a, i, b->at[j])), d = sign_of(side_of(a, i, b->at[j + 1]));
    int e = sign_of(side_of(b, j, a->at[i])), f = sign_of(side_of(b, j, a->at[i + 1]));
    int count = 0;

    *crossing = false;
    if (c && d && e && f) {
        if (c == d || e == f)
            return 0;
        at[0] = circles_meet(a, i, b, j);
        *crossing = vec_dot(at[0], vec_add(b->at[j], b->at[j + 1])) > 0;
        return *crossing;
    }
    if (!c && on_edge(a, i, b->at[j]))
        count = add_point(at, count, b->at[j]);
    if (!d && on_edge(a, i, b->at[j + 1]))
        count = add_point(at, count, b->at[j + 1]);
    if (!e && on_edge(b, j, a->at[i]))
        count = add_point(at, count, a->at[i]);
    if (!f && on_edge(b, j, a->at[i + 1]))
        count = add_point(at, count, a->at[i + 1]);
    return count;
}

/* ------- where a point lies ------- */

/* Whether the path from p to q passes edge i; m is the normal of the path's plane, which parts the edge's ends. */
static bool passes(const struct sphere *shape, size_t i, struct vec p, struct vec q, struct vec m)
{
    struct vec x;

    if ((side_of(shape, i, p) < 0) == (side_of(shape, i, q) < 0))
        return false;
    x = vec_cross(m, shape->normal[i]);
    if (vec_dot(x, vec_add(shape->at[i], shape->at[i + 1])) < 0)
        x = vec_scale(x, -1);
    return vec_dot(x, vec_add(p, q)) > 0; /* and not on the other side of the earth */
}

/*
 * How often the shorter arc from p to q passes the ring, neither of them on it. A position on the
 * arc counts as left of it, so that a path through a corner is counted once or twice, as it should.
 */
static unsigned passings(const struct sphere *shape, const struct sphere_ring *ring, struct vec p,
                         struct vec q)
{
    struct vec m = vec_cross(p, q);
    unsigned count = 0;
    bool right = vec_dot(m, shape->at[ring->first]) < 0;

    for (size_t i = ring->first; i + 1 < (size_t)ring->first + ring->count; i++) {
        bool next_right = vec_dot(m, shape->at[i + 1]) < 0;

        if (right != next_right)
            count += passes(shape, i, p, q, m);
        right = next_right;
    }
    return count;
}

enum sphere_place sphere_ring_place(const struct sphere *shape, const struct sphere_ring *ring, struct vec p)
{
    const struct vec odd = { 0.3127, 0.7411,
                             0.5941 }; /* no direction that anybody's polygon has a corner in */
    unsigned count;

    if (vec_dot(ring->centre, p) < ring->reach)
        return SPHERE_OUTSIDE;
    for (size_t i = ring->first; i + 1 < (size_t)ring->first + ring->count; i++)
        if (on_edge(shape, i, p))
            return SPHERE_BOUNDARY;
    if (vec_dot(ring->inside, p) > -0.9) {
        count = passings(shape, ring, ring->inside, p);
    } else { /* nearly opposite: the shorter arc is ill defined, so go around by a third place */
        struct vec via = vec_unit(vec_cross(ring->inside, odd));

        count = passings(shape, ring, ring->inside, via) + passings(shape, ring, via, p);
    }
    return count % 2 ? SPHERE_OUTSIDE : SPHERE_INSIDE;
}

static enum sphere_place place_in_line(const struct sphere *line, struct vec p)
{
    struct vec first = line->at[0], last = line->at[line->count - 1];
    bool closed = vec_apart(first, last) < vec_same;

    if (!closed && (vec_apart(first, p) < vec_same || vec_apart(last, p) < vec_same))
        return SPHERE_BOUNDARY;
    for (size_t i = 0; i + 1 < line->count; i++)
        if (on_edge(line, i, p))
            return SPHERE_INSIDE;
    return SPHERE_OUTSIDE;
}

/*
 * A point is in a polygon if it lies to the left of all its rings, and in several polygons if it lies in one of
 * them.
 */
static enum sphere_place place_in_polygons(const struct sphere *shape, struct vec p)
{
    enum sphere_place best = SPHERE_OUTSIDE;

    for (size_t i = 0; i < shape->ring_count && best != SPHERE_INSIDE;) {
        enum sphere_place place = SPHERE_INSIDE;

        for (uint32_t part = shape->ring[i].part; i < shape->ring_count && shape->ring[i].part == part; i++) {
            enum sphere_place here =
                place == SPHERE_OUTSIDE ? place : sphere_ring_place(shape, &shape->ring[i], p);

            place = here < place ? here : place;
        }
        best = place > best ? place : best;
    }
    return best;
}

enum sphere_place sphere_place(const struct sphere *shape, struct vec p)
{
    switch (shape->kind) {
    case GEOJSON_POINT:
        return vec_apart(shape->at[0], p) < vec_same ? SPHERE_INSIDE : SPHERE_OUTSIDE;
    case GEOJSON_LINE:
        return place_in_line(shape, p);
    default:
        return place_in_polygons(shape, p);
    }
}

/* ------- making a shape ------- */

/* Points that are one place (180 and -180 degrees, a pole's longitudes) become one. */
static void add_ring(struct sphere *shape, const struct geojson *flat, const struct geojson_ring *from)
{
    struct sphere_ring *ring = &shape->ring[shape->ring_count++];

    assert(shape->ring_count <= flat->ring_count);
    assert(from->count > 0);
    *ring = (struct sphere_ring){ .first = (uint32_t)shape->count, .part = from->part, .hole = from->hole };
    for (uint32_t i = 0; i < from->count; i++) {
        struct geo_point degrees = flat->at[from->first + i];
        struct vec p = vec_of_degrees(degrees.x, degrees.y);

        if (shape->count == ring->first || vec_apart(shape->at[shape->count - 1], p) >= vec_same)
            shape->at[shape->count++] = p;
    }
    ring->count = (uint32_t)shape->count - ring->first;
    if (geojson_has_area(flat))
        shape->at[shape->count - 1] = shape->at[ring->first];
}

/* Twice the area vector of a ring points up where the ring runs counter-clockwise around its middle. */
bool sphere_runs_left(const struct sphere *shape, const struct sphere_ring *ring)
{
    struct vec area = { 0, 0, 0 }, sum = { 0, 0, 0 };

    for (size_t i = ring->first; i + 1 < (size_t)ring->first + ring->count; i++) {
        area = vec_add(area, vec_cross(shape->at[i], shape->at[i + 1]));
        sum = vec_add(sum, shape->at[i]);
    }
    return vec_dot(area, sum) > 0;
}

static void set_edges(struct arena *memory, struct sphere *shape, const struct sphere_ring *ring)
{
    size_t last = ring->first + ring->count - 1;

    assert(ring->count > 0);
    assert(last < shape->count);
    shape->length[last] = -1;
    for (size_t i = ring->first; i < last; i++) {
        struct vec normal = vec_cross(shape->at[i], shape->at[i + 1]);

        shape->length[i] = vec_apart(shape->at[i], shape->at[i + 1]);
        if (vec_length(normal) < vec_same)
            shape->reason = geojson_reason(
                memory, "Not valid because an edge of polygon ring (%u) with antipodal endpoints is invalid.",
                (unsigned)(ring - shape->ring) + 1);
        shape->normal[i] = vec_unit(normal);
    }
}

/* How much room there is around a point of edge i. */
static double room_around(const struct sphere *shape, size_t i, struct vec p)
{
    double room = fmin(vec_apart(shape->at[i], p), vec_apart(shape->at[i + 1], p)) / 2;

    for (size_t j = 0; j < shape->count; j++)
        if (j != i && shape->length[j] >= 0)
            room = fmin(room, sphere_edge_apart(shape, j, p) / 2);
    return fmin(room, 0.05);
}

/* A point just to the left of the longest edge, with nothing between. */
static void set_inside(struct sphere *shape, struct sphere_ring *ring)
{
    static const double along[] = { 0.5, 0.375, 0.7 }; /* something may touch the ring at one of them */
    size_t longest = ring->first;
    double best = 0;

    for (size_t i = ring->first; i + 1 < (size_t)ring->first + ring->count; i++)
        if (shape->length[i] > shape->length[longest])
            longest = i;
    for (size_t k = 0; k < sizeof(along) / sizeof(along[0]); k++) {
        struct vec p = vec_unit(vec_add(vec_scale(shape->at[longest], 1 - along[k]),
                                        vec_scale(shape->at[longest + 1], along[k])));
        double room = room_around(shape, longest, p);

        if (room > best) {
            best = room;
            ring->inside = vec_unit(vec_add(p, vec_scale(shape->normal[longest], room)));
        }
    }
    if (best < vec_same)
        shape->reason = "Not valid some polygon has an invalid ring structure.";
}

/* A cap of less than a hemisphere around the ring, if what is left of the ring lies in it. */
static void set_reach(struct sphere *shape, struct sphere_ring *ring)
{
    struct vec sum = { 0, 0, 0 };
    double reach = 1;

    ring->reach = -DBL_MAX;
    for (size_t i = ring->first; i + 1 < (size_t)ring->first + ring->count; i++)
        sum = vec_add(sum, shape->at[i]);
    if (ring->hole || vec_length(sum) < vec_same)
        return;
    ring->centre = vec_unit(sum);
    for (size_t i = ring->first; i + 1 < (size_t)ring->first + ring->count; i++)
        reach = fmin(reach, vec_dot(ring->centre, shape->at[i]));
    if (reach > 0.01 && sphere_ring_place(shape, ring, vec_scale(ring->centre, -1)) == SPHERE_OUTSIDE)
        ring->reach = reach - vec_same;
}

static bool make_room(struct arena *memory, const struct geojson *flat, struct sphere *shape)
{
    size_t count = flat->count;

    *shape = (struct sphere){ .kind = flat->kind, .part_count = flat->part_count };
    shape->ring = arena_try_alloc(memory, flat->ring_count * sizeof(*shape->ring) + 1);
    shape->at = arena_try_alloc(memory, count * (2 * sizeof(struct vec) + sizeof(double)) + 1);
    if (!shape->ring || !shape->at)
        return false;
    shape->normal = shape->at + count;
    shape->length = (double *)(shape->normal + count);
    return true;
}

static void set_rings(struct arena *memory, struct sphere *shape, const struct geojson *flat)
{
    unsigned least = geojson_has_area(flat) ? 4 : flat->kind == GEOJSON_LINE ? 2 : 1;

    for (size_t i = 0; i < flat->ring_count; i++) {
        struct sphere_ring *ring = &shape->ring[i];

        add_ring(shape, flat, &flat->ring[i]);
        if (ring->count < least) /* corners that are one place: at a pole, or 360 degrees apart */
            shape->reason = geojson_reason(memory, GEOJSON_OVERLAPS, (unsigned)i + 1);
        set_edges(memory, shape, ring);
    }
}

enum status sphere_make(struct op *op, struct arena *memory, const struct geojson *flat, struct sphere *shape)
{
    enum status st = ST_OK;

    assert(!flat->reason);
    if (!make_room(memory, flat, shape))
        return ST_QUERY_MEMORY;
    set_rings(memory, shape, flat);
    if (shape->reason || flat->kind == GEOJSON_POINT)
        return ST_OK;
    TRY(sphere_check_edges(op, memory, shape));
    for (size_t i = 0; geojson_has_area(flat) && i < shape->ring_count && !shape->reason; i++) {
        TRY(op_check(op));
        set_inside(shape, &shape->ring[i]);
        set_reach(shape, &shape->ring[i]);
    }
    if (geojson_has_area(flat) && !shape->reason)
        TRY(sphere_check_rings(op, memory, shape));
out:
    return st;
}
