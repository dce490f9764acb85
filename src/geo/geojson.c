/*
 * src/geo/geojson.c - walking over GeoJSON, and reading it.
 * Reading walks twice: the first time points and rings are counted, so that the second fills arrays of the right size.
 */
#include <assert.h>
#include <math.h>
#include <stdarg.h>

#include "geo/geojson.h"

/* ------- walking ------- */

static const char *const kinds[] = {
    [GEOJSON_POINT] = "Point",
    [GEOJSON_LINE] = "LineString",
    [GEOJSON_POLYGON] = "Polygon",
    [GEOJSON_MULTIPOLYGON] = "MultiPolygon",
};

bool geojson_find_kind(struct json object, enum geojson_kind *kind)
{
    struct json type = json_get(object, "type");

    if (json_kind(type) != JSON_STRING)
        return false;
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
        if (slice_is(json_string(type), kinds[i])) {
            *kind = (enum geojson_kind)i;
            return true;
        }
    return false;
}

struct walk {
    const struct geojson_visitor *visitor;
    void *self;
    enum geojson_kind kind;
};

static bool walk_point(const struct walk *walk, struct json value)
{
    struct json x = json_element(value, 0), y = json_element(value, 1);

    if (json_kind(x) != JSON_NUMBER || json_kind(y) != JSON_NUMBER)
        return false;
    return walk->visitor->point(walk->self, (struct geo_point){ json_double(x), json_double(y) });
}

static bool walk_line(const struct walk *walk, struct json value)
{
    if (json_kind(value) != JSON_ARRAY)
        return false;
    for (struct json_iter i = json_iter(value); json_next(&i);)
        if (!walk_point(walk, i.value))
            return false;
    return true;
}

static bool walk_ring(const struct walk *walk, struct json value, bool hole)
{
    if (walk->visitor->ring_begins)
        walk->visitor->ring_begins(walk->self, hole);
    if (!(walk->kind == GEOJSON_POINT ? walk_point(walk, value) : walk_line(walk, value)))
        return false;
    if (walk->visitor->ring_ends)
        walk->visitor->ring_ends(walk->self);
    return true;
}

static bool walk_rings(const struct walk *walk, struct json value)
{
    bool hole = false;

    if (json_kind(value) != JSON_ARRAY)
        return false;
    for (struct json_iter i = json_iter(value); json_next(&i) && !(hole && walk->visitor->outlines_only);
         hole = true)
        if (!walk_ring(walk, i.value, hole))
            return false;
    return true;
}

static bool walk_part(const struct walk *walk, struct json value)
{
    if (walk->visitor->part_begins)
        walk->visitor->part_begins(walk->self);
    if (!(walk->kind >= GEOJSON_POLYGON ? walk_rings(walk, value) : walk_ring(walk, value, false)))
        return false;
    if (walk->visitor->part_ends)
        walk->visitor->part_ends(walk->self);
    return true;
}

bool geojson_walk(struct json object, enum geojson_kind kind, const struct geojson_visitor *visitor,
                  void *self)
{
    struct walk walk = { visitor, self, kind };
    struct json coordinates = json_get(object, "coordinates");

    assert(visitor->point);
    assert(kind <= GEOJSON_MULTIPOLYGON);
    if (kind != GEOJSON_MULTIPOLYGON)
        return walk_part(&walk, coordinates);
    if (json_kind(coordinates) != JSON_ARRAY)
        return false;
    for (struct json_iter i = json_iter(coordinates); json_next(&i);)
        if (!walk_part(&walk, i.value))
            return false;
    return true;
}

/* ------- counting ------- */

static void count_ring(void *self, bool hole)
{
    struct geojson *shape = self;

    (void)hole;
    shape->ring_count++;
}

static bool count_point(void *self, struct geo_point at)
{
    struct geojson *shape = self;

    (void)at;
    shape->count++;
    return true;
}

/* The form is found good here, so that reading, which walks the same way, meets nothing else. */
static bool count_all(struct json object, struct geojson *shape)
{
    static const struct geojson_visitor counting = { .ring_begins = count_ring, .point = count_point };

    return geojson_walk(object, shape->kind, &counting, shape);
}

/* ------- reading ------- */

struct reader {
    struct arena *memory;
    struct geojson *shape;
    struct geojson_ring *ring; /* at hand */
    bool planar;
    size_t point_room, ring_room;   /* as they were counted */
    size_t part_points, part_rings; /* of the part at hand, before repeated ones were dropped */
};

const char *geojson_reason(struct arena *memory, const char *fmt, ...)
{
    enum { REASON_BYTES_MAX = 256 };
    char *text = arena_try_alloc(memory, REASON_BYTES_MAX);
    va_list args;

    if (!text)
        return "Not valid, reason unknown.";
    va_start(args, fmt);
    vsnprintf(text, REASON_BYTES_MAX, fmt, args);
    va_end(args);
    return text;
}

/* Keeps the first. */
#define invalid(reader, ...) \
    ((reader)->shape->reason = (reader)->shape->reason ?: geojson_reason((reader)->memory, __VA_ARGS__))

static bool same(struct geo_point a, struct geo_point b)
{
    return a.x == b.x && a.y == b.y;
}

static void widen(struct geojson *shape, struct geo_point p)
{
    shape->low = (struct geo_point){ fmin(shape->low.x, p.x), fmin(shape->low.y, p.y) };
    shape->high = (struct geo_point){ fmax(shape->high.x, p.x), fmax(shape->high.y, p.y) };
}

static bool read_point(void *self, struct geo_point p)
{
    struct reader *reader = self;
    struct geojson *shape = reader->shape;

    assert(shape->count < reader->point_room);
    if (!reader->planar && fabs(p.y) > 90)
        invalid(reader, "Latitude values must be between -90 and 90 degrees.");
    if (!reader->planar && fabs(p.x) > 180)
        invalid(reader, "Longitude values must be between -180 and 180 degrees.");
    shape->at[shape->count++] = p;
    reader->part_points++;
    widen(shape, p);
    return true;
}

/* Points that repeat the one before say nothing, and would be edges without a direction. */
static void drop_repeated(struct geojson *shape, struct geojson_ring *ring)
{
    struct geo_point *at = shape->at + ring->first;
    uint32_t kept = 0;

    assert(ring->first + ring->count == shape->count); /* nothing lies behind it yet */
    for (uint32_t i = 0; i < ring->count; i++)
        if (kept == 0 || !same(at[kept - 1], at[i]))
            at[kept++] = at[i];
    ring->count = kept;
    shape->count = ring->first + kept;
}

static void check_line(struct reader *reader, struct geojson_ring *line)
{
    if (line->count < 2)
        invalid(reader,
                "The LineString input is not valid because it does not have enough points. A LineString "
                "must have at least two points.");
    drop_repeated(reader->shape, line);
    if (line->count < 2)
        invalid(reader, GEOJSON_TO_A_POINT, 1);
}

static void check_ring(struct reader *reader, struct geojson_ring *ring)
{
    const struct geo_point *at = reader->shape->at + ring->first;
    unsigned number = (unsigned)(ring - reader->shape->ring) + 1, of_part = (unsigned)reader->part_rings;

    if (ring->count < 4)
        invalid(reader,
                "The Polygon input is not valid because the ring number %u does not have enough points. "
                "Each ring of a polygon must contain at least four points.",
                of_part);
    else if (!same(at[0], at[ring->count - 1]))
        invalid(reader,
                "The Polygon input is not valid because the start and end points of the ring number %u "
                "are not the same. Each ring of a polygon must have the same start and end points.",
                of_part);
    drop_repeated(reader->shape, ring);
    if (ring->count < 2)
        invalid(reader, GEOJSON_TO_A_POINT, number);
    if (ring->count < 4)
        invalid(reader, GEOJSON_OVERLAPS, number);
}

static void begin_ring(void *self, bool hole)
{
    struct reader *reader = self;
    struct geojson *shape = reader->shape;

    assert(shape->ring_count < reader->ring_room);
    reader->ring = &shape->ring[shape->ring_count++];
    reader->part_rings++;
    *reader->ring = (struct geojson_ring){ .first = (uint32_t)shape->count,
                                           .part = (uint32_t)shape->part_count - 1,
                                           .hole = hole };
}

static void end_ring(void *self)
{
    struct reader *reader = self;
    struct geojson *shape = reader->shape;

    reader->ring->count = (uint32_t)shape->count - reader->ring->first;
    if (shape->kind == GEOJSON_LINE)
        check_line(reader, reader->ring);
    else if (geojson_has_area(shape))
        check_ring(reader, reader->ring);
}

static void begin_part(void *self)
{
    struct reader *reader = self;

    reader->shape->part_count++;
    reader->part_points = reader->part_rings = 0;
}

static void end_part(void *self)
{
    struct reader *reader = self;

    if (!geojson_has_area(reader->shape))
        return;
    if (reader->part_points > POLYGON_POINTS_MAX)
        invalid(reader, "The Polygon input is not valid because it has more than %d points.",
                POLYGON_POINTS_MAX);
}

static void read_all(struct reader *reader, struct json object)
{
    static const struct geojson_visitor reading = {
        .part_begins = begin_part,
        .ring_begins = begin_ring,
        .point = read_point,
        .ring_ends = end_ring,
        .part_ends = end_part,
    };
    bool good = geojson_walk(object, reader->shape->kind, &reading, reader);

    assert(good); /* the form was found good when it was counted */
}

/* Reading counts again, so both counts start over. */
static bool make_room(struct reader *reader)
{
    struct geojson *shape = reader->shape;

    reader->point_room = shape->count;
    reader->ring_room = shape->ring_count;
    shape->at = arena_try_alloc(reader->memory, shape->count * sizeof(*shape->at) + 1);
    shape->ring = arena_try_alloc(reader->memory, shape->ring_count * sizeof(*shape->ring) + 1);
    shape->count = shape->ring_count = 0;
    return shape->at && shape->ring;
}

/* ------- what is wrong with the form ------- */

static const char *const bad_position = "Invalid position. A position must be represented by an array of "
                                        "numbers. There must be at least two elements in "
                                        "the array.";
static const char *const bad_rings = "A polygon must have array of rings with at least one ring. A ring must "
                                     "be represented as an array of GeoJSON "
                                     "positions.";

static bool is_list(struct json value)
{
    return json_kind(value) == JSON_ARRAY && json_count(value) > 0;
}

static const char *wrong_line(struct json line)
{
    return json_count(line) == 0 ? "Position array cannot be empty." : bad_position;
}

/* The first ring that is none, or else some position. */
static const char *wrong_rings(struct json rings)
{
    if (!is_list(rings))
        return bad_rings;
    for (struct json_iter i = json_iter(rings); json_next(&i);) {
        if (json_kind(i.value) != JSON_ARRAY)
            return bad_rings;
        if (json_count(i.value) == 0)
            return wrong_line(i.value);
    }
    return bad_position;
}

static const char *wrong_polygons(struct json polygons)
{
    if (json_count(polygons) == 0)
        return "Empty geometries are not supported.";
    for (struct json_iter i = json_iter(polygons); json_next(&i);) {
        const char *reason = wrong_rings(i.value);

        if (reason != bad_position)
            return reason;
    }
    return bad_position;
}

static const char *wrong_form(struct json coordinates, enum geojson_kind kind)
{
    if (json_kind(coordinates) != JSON_ARRAY)
        return GEOJSON_UNKNOWN;
    switch (kind) {
    case GEOJSON_POINT:
        return bad_position;
    case GEOJSON_LINE:
        return wrong_line(coordinates);
    case GEOJSON_POLYGON:
        return wrong_rings(coordinates);
    default:
        return wrong_polygons(coordinates);
    }
}

/* Arrays where there must be something in them; the walk does not mind. */
static bool has_empty(struct json coordinates, enum geojson_kind kind)
{
    if (kind == GEOJSON_POINT)
        return false;
    if (!is_list(coordinates))
        return true;
    for (struct json_iter i = json_iter(coordinates); kind >= GEOJSON_POLYGON && json_next(&i);)
        if (has_empty(i.value, kind == GEOJSON_POLYGON ? GEOJSON_LINE : GEOJSON_POLYGON))
            return true;
    return false;
}

/* A coordinate system may be named, and there is one. */
static bool has_other_system(struct json object)
{
    struct json system = json_get(object, "crs");
    struct json name = json_get(json_get(system, "properties"), "name");

    if (json_kind(system) == JSON_UNDEFINED)
        return false;
    return json_kind(name) != JSON_STRING || !slice_is(json_string(name), "urn:ogc:def:crs:OGC:1.3:CRS84");
}

bool geojson_read(struct arena *memory, struct json object, bool planar, struct geojson *shape)
{
    struct reader reader = { .memory = memory, .shape = shape, .planar = planar };
    struct json coordinates = json_get(object, "coordinates");

    *shape = (struct geojson){ .low = { INFINITY, INFINITY }, .high = { -INFINITY, -INFINITY } };
    if (!geojson_find_kind(object, &shape->kind))
        shape->reason = GEOJSON_UNKNOWN;
    else if (!count_all(object, shape) || has_empty(coordinates, shape->kind))
        shape->reason = wrong_form(coordinates, shape->kind);
    else if (has_other_system(object))
        shape->reason =
            "Unsupported Crs. Currently only named Crs 'urn:ogc:def:crs:OGC:1.3:CRS84' is supported.";
    else if (!make_room(&reader))
        return false;
    else
        read_all(&reader, object);
    return true;
}
