/*
 * src/geo/geojson.c - reading GeoJSON.
 * Two passes: the first counts positions and rings, so that the second fills arrays of the right
 * size. Both descend by the depth that the type gives `coordinates`.
 */
#include <math.h>
#include <stdarg.h>

#include "geo/geojson.h"

struct reader {
    struct arena *memory;
    struct geojson *shape;
    bool planar;
};

/* How deep the positions of each type lie inside `coordinates`. */
static const struct {
    const char *name;
    int depth;
} kinds[] = {
    [GEOJSON_POINT] = { "Point", 0 },
    [GEOJSON_LINE] = { "LineString", 1 },
    [GEOJSON_POLYGON] = { "Polygon", 2 },
    [GEOJSON_MULTIPOLYGON] = { "MultiPolygon", 3 },
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

static bool is_position(struct json value)
{
    return json_kind(value) == JSON_ARRAY && json_count(value) >= 2 &&
           json_kind(json_element(value, 0)) == JSON_NUMBER &&
           json_kind(json_element(value, 1)) == JSON_NUMBER;
}

/* Counts what lies `depth` arrays deep; false when something is not what it should be. */
static bool count_positions(struct geojson *shape, struct json value, int depth)
{
    if (depth == 0) {
        shape->count++;
        return is_position(value);
    }
    if (json_kind(value) != JSON_ARRAY)
        return false;
    shape->ring_count += depth == 1;
    for (struct json_iter i = json_iter(value); json_next(&i);)
        if (!count_positions(shape, i.value, depth - 1))
            return false;
    return true;
}

static bool same(struct position a, struct position b)
{
    return a.x == b.x && a.y == b.y;
}

static void widen(struct geojson *shape, struct position p)
{
    shape->low = (struct position){ fmin(shape->low.x, p.x), fmin(shape->low.y, p.y) };
    shape->high = (struct position){ fmax(shape->high.x, p.x), fmax(shape->high.y, p.y) };
}

static void read_position(struct reader *reader, struct json value)
{
    struct position p = { json_double(json_element(value, 0)), json_double(json_element(value, 1)) };

    if (!reader->planar && fabs(p.y) > 90)
        invalid(reader, "Latitude values must be between -90 and 90 degrees.");
    if (!reader->planar && fabs(p.x) > 180)
        invalid(reader, "Longitude values must be between -180 and 180 degrees.");
    reader->shape->at[reader->shape->count++] = p;
    widen(reader->shape, p);
}

/* Positions that repeat the one before say nothing, and would be edges without a direction. */
static void drop_repeated(struct geojson *shape, struct geojson_ring *ring)
{
    struct position *at = shape->at + ring->first;
    uint32_t kept = 0;

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
        invalid(reader, "Not valid because curve (1) degenerates to a point.");
}

static void check_ring(struct reader *reader, struct geojson_ring *ring)
{
    const struct position *at = reader->shape->at + ring->first;
    unsigned number = (unsigned)(ring - reader->shape->ring) + 1;

    if (ring->count < 4)
        invalid(reader,
                "The Polygon input is not valid because the ring number %u does not have enough points. "
                "Each ring of a polygon must contain at least four points.",
                number);
    else if (!same(at[0], at[ring->count - 1]))
        invalid(reader,
                "The Polygon input is not valid because the start and end points of the ring number %u "
                "are not the same. Each ring of a polygon must have the same start and end points.",
                number);
    drop_repeated(reader->shape, ring);
    if (ring->count < 4)
        invalid(reader, "Not valid because polygon ring (%u) collapses to a line at point (1).", number);
}

static void read_ring(struct reader *reader, struct json value, uint32_t part, bool hole)
{
    struct geojson *shape = reader->shape;
    struct geojson_ring *ring = &shape->ring[shape->ring_count++];

    *ring = (struct geojson_ring){ .first = (uint32_t)shape->count, .part = part, .hole = hole };
    if (shape->kind == GEOJSON_POINT)
        read_position(reader, value);
    else
        for (struct json_iter i = json_iter(value); json_next(&i);)
            read_position(reader, i.value);
    ring->count = (uint32_t)shape->count - ring->first;
    if (shape->kind == GEOJSON_LINE)
        check_line(reader, ring);
    else if (geojson_has_area(shape))
        check_ring(reader, ring);
}

static void read_polygon(struct reader *reader, struct json value)
{
    uint32_t part = (uint32_t)reader->shape->part_count++;
    size_t points = 0;
    bool hole = false;

    if (json_count(value) == 0)
        invalid(reader, "The Polygon input is not valid because it has no rings.");
    for (struct json_iter i = json_iter(value); json_next(&i); hole = true) {
        points += json_count(i.value);
        read_ring(reader, i.value, part, hole);
    }
    if (points > POLYGON_POINTS_MAX)
        invalid(reader, "The Polygon input is not valid because it has more than %d points.",
                POLYGON_POINTS_MAX);
}

static void read_parts(struct reader *reader, struct json coordinates)
{
    if (reader->shape->kind == GEOJSON_MULTIPOLYGON) {
        for (struct json_iter i = json_iter(coordinates); json_next(&i);)
            read_polygon(reader, i.value);
    } else if (reader->shape->kind == GEOJSON_POLYGON) {
        read_polygon(reader, coordinates);
    } else {
        reader->shape->part_count = 1;
        read_ring(reader, coordinates, 0, false);
    }
}

static bool find_kind(struct json type, enum geojson_kind *kind)
{
    if (json_kind(type) != JSON_STRING)
        return false;
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
        if (slice_is(json_string(type), kinds[i].name)) {
            *kind = (enum geojson_kind)i;
            return true;
        }
    return false;
}

/* The second pass counts again, so both counts start over. */
static bool make_room(struct reader *reader)
{
    struct geojson *shape = reader->shape;

    shape->ring_count += shape->kind == GEOJSON_POINT;
    shape->at = arena_try_alloc(reader->memory, shape->count * sizeof(*shape->at) + 1);
    shape->ring = arena_try_alloc(reader->memory, shape->ring_count * sizeof(*shape->ring) + 1);
    shape->count = shape->ring_count = 0;
    return shape->at && shape->ring;
}

bool geojson_read(struct arena *memory, struct json object, bool planar, struct geojson *shape)
{
    struct reader reader = { .memory = memory, .shape = shape, .planar = planar };
    struct json coordinates = json_get(object, "coordinates");

    *shape = (struct geojson){ .low = { INFINITY, INFINITY }, .high = { -INFINITY, -INFINITY } };
    if (!find_kind(json_get(object, "type"), &shape->kind))
        invalid(&reader,
                "The type of the GeoJSON object must be Point, LineString, Polygon or MultiPolygon.");
    else if (!count_positions(shape, coordinates, kinds[shape->kind].depth))
        invalid(&reader,
                "The coordinates of the GeoJSON object are not arrays of numbers as its type wants.");
    else if (!make_room(&reader))
        return false;
    else
        read_parts(&reader, coordinates);
    return true;
}
