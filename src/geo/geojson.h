/*
 * src/geo/geojson.h - a GeoJSON value as arrays of positions, checked as far as form goes.
 * Whether rings cross one another is for sphere.h and planar.h to say: on the earth an edge is
 * another curve than on a plane.
 *
 * Ownership. A shape lies in the arena it was read into; it does not point into the JSON.
 */
#pragma once
#include "json/json.h"

/* Service: 4,096 points in a polygon ("Azure Cosmos DB service quotas", SQL query limits). */
enum { POLYGON_POINTS_MAX = 4096 };

enum geojson_kind { GEOJSON_POINT, GEOJSON_LINE, GEOJSON_POLYGON, GEOJSON_MULTIPOLYGON };

struct position {
    double x, y; /* on the earth: longitude and latitude in degrees */
};

/* A run of positions: a polygon's ring (the last repeats the first), or the whole of a line or point. */
struct geojson_ring {
    uint32_t first, count;
    uint32_t part; /* which polygon of a MultiPolygon */
    bool hole;
};

struct geojson {
    enum geojson_kind kind;
    struct position *at;
    struct geojson_ring *ring;
    size_t count, ring_count, part_count;
    struct position low, high; /* the corners of the box around it */
    const char *reason;        /* why it is not valid, in the service's words; NULL when it is */
};

/*
 * Reads an object; one that is not valid is read as far as its `reason`. Of a position only the
 * first two numbers count. False: past the arena's limit.
 */
bool geojson_read(struct arena *memory, struct json object, bool planar, struct geojson *shape);

/* A reason with numbers in it. Never NULL: past the arena's limit it names none. */
__attribute__((format(printf, 2, 3))) const char *geojson_reason(struct arena *memory, const char *fmt, ...);

static inline bool geojson_has_area(const struct geojson *shape)
{
    return shape->kind >= GEOJSON_POLYGON;
}
