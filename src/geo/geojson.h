/*
 * src/geo/geojson.h - GeoJSON: one walk over an object's coordinates, and the arrays of points that it is read into.
 * Form is checked here. Whether rings cross one another is for sphere.h and planar.h to say: on the earth an edge is
 * another curve than on a plane.
 *
 * Ownership. A shape lies in the arena it was read into; it does not point into the JSON.
 * Threads. Nothing here has state.
 */
#pragma once
#include "json/json.h"

/* Service: 4,096 points in a polygon ("Azure Cosmos DB service quotas", SQL query limits). */
enum { POLYGON_POINTS_MAX = 4096 };

enum geojson_kind { GEOJSON_POINT, GEOJSON_LINE, GEOJSON_POLYGON, GEOJSON_MULTIPOLYGON };

struct geo_point {
    double x, y; /* on the earth: longitude and latitude in degrees */
};

/* A run of points: a polygon's ring (the last repeats the first), or the whole of a line or point. */
struct geojson_ring {
    uint32_t first, count;
    uint32_t part; /* which polygon of a MultiPolygon */
    bool hole;
};

struct geojson {
    enum geojson_kind kind;
    struct geo_point *at;
    struct geojson_ring *ring;
    size_t count, ring_count, part_count;
    struct geo_point low, high; /* the corners of the box around it */
    const char *reason;         /* why it is not valid, in the service's words; NULL when it is */
};

/* What both surfaces say of rings; numbers count from 1 over all polygons. */
#define GEOJSON_TO_A_POINT "Not valid because ring (%u) of a polygon degenerates to a point."
#define GEOJSON_OVERLAPS "Not valid because of two overlapping edges in ring (%u) of a polygon."
#define GEOJSON_OVERLAPS_OTHER \
    "Not valid because an edge of ring (%u) of a polygon overlaps an edge of ring (%u)."
#define GEOJSON_CROSSES "Not valid because polygon ring (%u) intersects itself or some other ring."
#define GEOJSON_NOT_CONNECTED \
    "Not valid because the interior of a polygon with rings (%u) and (%u) is not connected."
#define GEOJSON_UNKNOWN "Unable to process the geometry." /* also what is no object */

/* Which of the four types an object says it has; false: none of them. */
bool geojson_find_kind(struct json object, enum geojson_kind *kind);

/*
 * What a walk tells, in the order of the text: a part begins, a ring begins, each of its points, the ring ends, the part
 * ends. A MultiPolygon's parts are its polygons, and every other object has one. A line or a point has one ring.
 * What is NULL is not told, but for `point`.
 */
struct geojson_visitor {
    bool outlines_only; /* a polygon's holes are passed over, and nothing of them is checked */
    void (*part_begins)(void *self);
    void (*ring_begins)(void *self, bool hole);
    bool (*point)(void *self, struct geo_point at); /* false: the walk ends */
    void (*ring_ends)(void *self);
    void (*part_ends)(void *self);
};

/*
 * Walks over the coordinates of an object of that kind. Of a position only the first two numbers count. It allocates
 * nothing. False: something is no array of numbers where the kind wants one, or the visitor has ended it.
 */
bool geojson_walk(struct json object, enum geojson_kind kind, const struct geojson_visitor *visitor,
                  void *self);

/* Reads an object; one that is not valid is read as far as its `reason`. False: past the arena's limit. */
bool geojson_read(struct arena *memory, struct json object, bool planar, struct geojson *shape);

/* A reason with numbers in it. Never NULL: past the arena's limit it names none. */
__attribute__((format(printf, 2, 3))) const char *geojson_reason(struct arena *memory, const char *fmt, ...);

static inline bool geojson_has_area(const struct geojson *shape)
{
    return shape->kind >= GEOJSON_POLYGON;
}
