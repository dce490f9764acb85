/* src/geo/planar.c - shapes on a plane. The only file that knows GEOS. */
#include <assert.h>
#include <dlfcn.h>
#include <geos_c.h>
#include <math.h>
#include <pthread.h>

#include "geo/planar.h"

/* ------- the library ------- */

#define GEOS_FUNCTIONS(F)            \
    F(GEOS_init_r)                   \
    F(GEOS_finish_r)                 \
    F(GEOSCoordSeq_copyFromBuffer_r) \
    F(GEOSGeom_createPoint_r)        \
    F(GEOSGeom_createLineString_r)   \
    F(GEOSGeom_createLinearRing_r)   \
    F(GEOSGeom_createPolygon_r)      \
    F(GEOSGeom_createCollection_r)   \
    F(GEOSGeom_destroy_r)            \
    F(GEOSArea_r)                    \
    F(GEOSDistance_r)                \
    F(GEOSIntersects_r)              \
    F(GEOSWithin_r)                  \
    F(GEOSisValid_r)

static struct {
#define MEMBER(name) typeof(name) *name;
    GEOS_FUNCTIONS(MEMBER)
#undef MEMBER
    bool ready;
} geos;

static const char *const geos_names[] = { "libgeos_c.so.1", "libgeos_c.dylib" };

static void load_geos(void)
{
    void *library = NULL;

    for (size_t i = 0; i < sizeof(geos_names) / sizeof(geos_names[0]) && !library; i++)
        library = dlopen(geos_names[i], RTLD_NOW | RTLD_LOCAL);
    geos.ready = library != NULL;
#define LOAD(name) geos.ready = geos.ready && (geos.name = (typeof(geos.name))dlsym(library, #name)) != NULL;
    GEOS_FUNCTIONS(LOAD)
#undef LOAD
}

static enum status need_geos(struct op *op)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;

    pthread_once(&once, load_geos);
    if (geos.ready)
        return ST_OK;
    return op_fail(op, ST_NOT_BUILT,
                   "Spatial functions on a plane need the library GEOS (%s), which is not installed.",
                   geos_names[0]);
}

/* ------- our shapes as theirs ------- */

/* One call's context: GEOS keeps its state in the handle, so that threads do not meet. */
struct plane {
    GEOSContextHandle_t handle;
    GEOSGeometry *a, *b;
};

static GEOSCoordSequence *sequence_of(GEOSContextHandle_t handle, const struct geojson *shape,
                                      const struct geojson_ring *ring)
{
    return geos.GEOSCoordSeq_copyFromBuffer_r(handle, &shape->at[ring->first].x, ring->count, 0, 0);
}

static GEOSGeometry *ring_of(GEOSContextHandle_t handle, const struct geojson *shape, size_t i)
{
    return geos.GEOSGeom_createLinearRing_r(handle, sequence_of(handle, shape, &shape->ring[i]));
}

/* The polygon whose first ring is *i, which moves past the last. It takes its rings over. */
/* What was made before a part that could not be. */
static GEOSGeometry *destroy_all(GEOSContextHandle_t handle, GEOSGeometry **part, unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        geos.GEOSGeom_destroy_r(handle, part[i]);
    return NULL;
}

static GEOSGeometry *polygon_of(struct op *op, GEOSContextHandle_t handle, const struct geojson *shape,
                                size_t *i)
{
    GEOSGeometry **hole = arena_try_alloc(&op->arena, shape->ring_count * sizeof(GEOSGeometry *));
    GEOSGeometry *exterior;
    unsigned count = 0;

    exterior = hole ? ring_of(handle, shape, (*i)++) : NULL;
    if (!exterior)
        return NULL;
    for (; *i < shape->ring_count && shape->ring[*i].hole; (*i)++) {
        hole[count] = ring_of(handle, shape, *i);
        if (!hole[count++]) {
            geos.GEOSGeom_destroy_r(handle, exterior);
            return destroy_all(handle, hole, count - 1);
        }
    }
    return geos.GEOSGeom_createPolygon_r(handle, exterior, hole, count);
}

static GEOSGeometry *collection_of(struct op *op, GEOSContextHandle_t handle, const struct geojson *shape)
{
    GEOSGeometry **part = arena_try_alloc(&op->arena, shape->part_count * sizeof(GEOSGeometry *) + 1);
    unsigned count = 0;

    if (!part)
        return NULL;
    for (size_t i = 0; i < shape->ring_count;) {
        part[count] = polygon_of(op, handle, shape, &i);
        if (!part[count++])
            return destroy_all(handle, part, count - 1);
    }
    return geos.GEOSGeom_createCollection_r(handle, GEOS_MULTIPOLYGON, part, count);
}

static GEOSGeometry *geometry_of(struct op *op, GEOSContextHandle_t handle, const struct geojson *shape)
{
    size_t first = 0;

    switch (shape->kind) {
    case GEOJSON_POINT:
        return geos.GEOSGeom_createPoint_r(handle, sequence_of(handle, shape, &shape->ring[0]));
    case GEOJSON_LINE:
        return geos.GEOSGeom_createLineString_r(handle, sequence_of(handle, shape, &shape->ring[0]));
    case GEOJSON_POLYGON:
        return polygon_of(op, handle, shape, &first);
    default:
        return collection_of(op, handle, shape);
    }
}

static enum status plane_begin(struct op *op, const struct geojson *a, const struct geojson *b,
                               struct plane *plane)
{
    enum status st;

    assert(!a->reason);
    assert(!b || !b->reason);
    TRY(need_geos(op));
    plane->handle = geos.GEOS_init_r();
    plane->a = geometry_of(op, plane->handle, a);
    plane->b = b ? geometry_of(op, plane->handle, b) : NULL;
    if (!plane->a || (b && !plane->b))
        st = ST_QUERY_MEMORY;
out:
    return st;
}

static void plane_end(struct plane *plane)
{
    if (!plane->handle)
        return;
    if (plane->a)
        geos.GEOSGeom_destroy_r(plane->handle, plane->a);
    if (plane->b)
        geos.GEOSGeom_destroy_r(plane->handle, plane->b);
    geos.GEOS_finish_r(plane->handle);
}

/* ------- the functions ------- */

static bool boxes_meet(const struct geojson *a, const struct geojson *b)
{
    return a->low.x <= b->high.x && b->low.x <= a->high.x && a->low.y <= b->high.y && b->low.y <= a->high.y;
}

static bool box_within(const struct geojson *a, const struct geojson *b)
{
    return a->low.x >= b->low.x && a->high.x <= b->high.x && a->low.y >= b->low.y && a->high.y <= b->high.y;
}

enum status planar_check(struct op *op, struct arena *memory, struct geojson *shape)
{
    struct plane plane = { 0 };
    enum status st = ST_OK;

    if (shape->kind == GEOJSON_POINT)
        return ST_OK;
    if (shape->kind == GEOJSON_LINE)
        return planar_check_edges(op, memory, shape);
    TRY(plane_begin(op, shape, NULL, &plane));
    if (geos.GEOSisValid_r(plane.handle, plane.a) == 1)
        goto out;
    TRY(planar_check_edges(op, memory, shape));
    if (!shape->reason)
        planar_check_rings(memory, shape);
out:
    plane_end(&plane);
    return st;
}

enum status planar_area(struct op *op, const struct geojson *shape, double *area)
{
    struct plane plane = { 0 };
    enum status st = ST_OK;

    *area = 0;
    if (!geojson_has_area(shape))
        return ST_OK;
    TRY(plane_begin(op, shape, NULL, &plane));
    geos.GEOSArea_r(plane.handle, plane.a, area);
out:
    plane_end(&plane);
    return st;
}

enum status planar_distance(struct op *op, const struct geojson *a, const struct geojson *b, double *distance)
{
    struct plane plane = { 0 };
    enum status st = ST_OK;

    *distance = INFINITY;
    if (a->count == 0 || b->count == 0)
        return ST_OK;
    if (a->kind == GEOJSON_POINT && b->kind == GEOJSON_POINT) {
        *distance = hypot(a->at[0].x - b->at[0].x, a->at[0].y - b->at[0].y);
        return ST_OK;
    }
    TRY(plane_begin(op, a, b, &plane));
    geos.GEOSDistance_r(plane.handle, plane.a, plane.b, distance);
out:
    plane_end(&plane);
    return st;
}

enum status planar_intersects(struct op *op, const struct geojson *a, const struct geojson *b, bool *yes)
{
    struct plane plane = { 0 };
    enum status st = ST_OK;

    *yes = false;
    if (!boxes_meet(a, b))
        return ST_OK;
    TRY(plane_begin(op, a, b, &plane));
    *yes = geos.GEOSIntersects_r(plane.handle, plane.a, plane.b) == 1;
out:
    plane_end(&plane);
    return st;
}

enum status planar_within(struct op *op, const struct geojson *a, const struct geojson *b, bool *yes)
{
    struct plane plane = { 0 };
    enum status st = ST_OK;

    *yes = false;
    if (a->count == 0 || !box_within(a, b))
        return ST_OK;
    TRY(plane_begin(op, a, b, &plane));
    *yes = geos.GEOSWithin_r(plane.handle, plane.a, plane.b) == 1;
out:
    plane_end(&plane);
    return st;
}
