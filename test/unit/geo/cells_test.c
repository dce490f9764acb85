/* test/unit/geo/cells_test.c - cells never miss what the exact tests of query/ accept, and mostly leave out the rest. */
#include <math.h>

#include "geo/bounds.h"
#include "geo/cells.h"
#include "geo/ellipsoid.h"
#include "geo/planar.h"
#include "rig.h"

/* ------- geometries by chance ------- */

static double between(double low, double high)
{
    return low + (high - low) * (double)(test_random() % 1000001) / 1e6;
}

static double wrapped(double longitude)
{
    return longitude - 360 * floor((longitude + 180) / 360);
}

static double clamped(double latitude)
{
    return fmin(90, fmax(-90, latitude));
}

/* Mostly near one another, often at the edges of the map. */
static void any_place(double *x, double *y)
{
    static const double xs[] = { -180, -179.9, 0, 90, 179.9, 180 },
                        ys[] = { -90, -89.9, -60, 0, 45, 89.9, 90 };

    *x = test_random() % 3 ? between(-180, 180) : xs[test_random() % 6];
    *y = test_random() % 3 ? between(-90, 90) : ys[test_random() % 7];
}

static double any_size(void)
{
    static const double sizes[] = { 0.0001, 0.01, 1, 10, 40, 80 };

    return sizes[test_random() % 6];
}

static void add_place(struct json_builder *out, double x, double y, bool planar)
{
    json_begin_array(out);
    json_add_double(out, planar ? x : wrapped(x));
    json_add_double(out, planar ? y : clamped(y));
    json_end(out);
}

/* Corners around one of the poles, in either direction. */
static void add_polar_ring(struct json_builder *out)
{
    size_t corners = 3 + test_random() % 5;
    double turn = test_random() % 2 ? 360 : -360, y = between(30, 89) * (test_random() % 2 ? 1 : -1);

    json_begin_array(out);
    for (size_t i = 0; i <= corners; i++)
        add_place(out, turn * (double)(i % corners) / (double)corners, y, false);
    json_end(out);
}

/* Corners around a place, in either direction; `flat` is how much lower than wide. */
static void add_ring(struct json_builder *out, double x, double y, double size, bool planar)
{
    size_t corners = 3 + test_random() % 5;
    double turn = test_random() % 4 ? 2 * M_PI : -2 * M_PI, flat = between(0.2, 1), start = between(0, 6);

    json_begin_array(out);
    for (size_t i = 0; i <= corners; i++) {
        double angle = start + turn * (double)(i % corners) / (double)corners;

        add_place(out, x + size * cos(angle), y + flat * size * sin(angle), planar);
    }
    json_end(out);
}

static void add_line(struct json_builder *out, double x, double y, double size, bool planar)
{
    size_t count = 2 + test_random() % 4;

    json_begin_array(out);
    for (size_t i = 0; i < count; i++)
        add_place(out, x + between(-size, size), y + between(-size, size), planar);
    json_end(out);
}

static void add_coordinates(struct json_builder *out, int kind, double x, double y, bool planar)
{
    double size = any_size();

    if (kind == GEOJSON_POINT)
        add_place(out, x, y, planar);
    else if (kind == GEOJSON_LINE)
        add_line(out, x, y, size, planar);
    else
        json_begin_array(out);
    if (kind == GEOJSON_POLYGON && !planar && test_random() % 4 == 0)
        add_polar_ring(out);
    else if (kind == GEOJSON_POLYGON)
        add_ring(out, x, y, size, planar);
    for (int i = 0; kind == GEOJSON_MULTIPOLYGON && i < 2; i++) {
        json_begin_array(out);
        add_ring(out, x + 3 * i * size, y, size, planar);
        json_end(out);
    }
    if (kind >= GEOJSON_POLYGON)
        json_end(out);
}

static struct json make_geometry(int kind, double x, double y, bool planar)
{
    static const char *const names[] = { "Point", "LineString", "Polygon", "MultiPolygon" };
    struct json_builder out;

    json_builder_init(&out, &test_op()->arena);
    json_begin_object(&out);
    json_add_name(&out, slice_of("type"));
    json_add_string(&out, slice_of(names[kind]));
    json_add_name(&out, slice_of("coordinates"));
    add_coordinates(&out, kind, x, y, planar);
    json_end(&out);
    return json_built(&out);
}

/* ------- what cells say ------- */

static bool in_ranges(const struct cell_ranges *ranges, uint64_t cell)
{
    for (size_t i = 0; i < ranges->count; i++)
        if (cell >= ranges->range[i].first && cell <= ranges->range[i].last)
            return true;
    return false;
}

static bool may_meet(struct json document, struct json query, double reach, const double *plane)
{
    struct cell_ranges ranges;
    uint64_t cell[CELLS_MAX];
    size_t count = cells_of(document, plane, cell);

    CHECK(cells_near(test_op(), query, reach, plane, &ranges) == ST_OK);
    for (size_t i = 0; i < count; i++)
        if (in_ranges(&ranges, cell[i]))
            return true;
    return false;
}

static void tell(struct json document, struct json query, double reach)
{
    struct buf what;

    buf_init(&what, &test_op()->arena);
    json_print(&what, document);
    buf_text(&what, " and ");
    json_print(&what, query);
    buf_printf(&what, " within %g", reach);
    buf_byte(&what, '\0');
    test_failed(__FILE__, __LINE__, what.data);
}

/* ------- on the earth ------- */

struct shape {
    struct geojson flat;
    struct sphere sphere;
};

static bool make_shape(struct json geometry, struct shape *shape)
{
    struct op *op = test_op();

    *shape = (struct shape){ 0 };
    return geojson_read(&op->arena, geometry, false, &shape->flat) && !shape->flat.reason &&
           sphere_make(op, &op->arena, &shape->flat, &shape->sphere) == ST_OK && !shape->sphere.reason;
}

static void check_on_earth(struct json document, struct json query, size_t *accepted)
{
    struct op *op = test_op();
    struct shape a, b;
    double metres = 0;
    bool meet = false, within = false;

    if (!make_shape(document, &a) || !make_shape(query, &b))
        return;
    CHECK(sphere_intersects(op, &a.sphere, &b.sphere, &meet) == ST_OK);
    CHECK(sphere_within(op, &a.sphere, &b.sphere, &within) == ST_OK);
    CHECK(ellipsoid_distance(op, &a.sphere, &b.sphere, &metres) == ST_OK);
    if ((meet || within) && !may_meet(document, query, 0, NULL))
        tell(document, query, 0);
    if (isfinite(metres) && !may_meet(document, query, metres, NULL))
        tell(document, query, metres);
    *accepted += meet;
}

TEST(whatever_the_exact_tests_accept_on_the_earth_the_cells_have)
{
    size_t accepted = 0;

    for (int i = 0; i < 6000; i++) {
        struct arena_mark mark = arena_mark(&test_op()->arena);
        double x, y, x2, y2;

        any_place(&x, &y);
        any_place(&x2, &y2);
        if (test_random() % 4) {
            double apart = any_size();

            x2 = wrapped(x + between(-apart, apart));
            y2 = clamped(y + between(-apart, apart));
        }
        check_on_earth(make_geometry((int)(test_random() % 4), x, y, false),
                       make_geometry((int)(test_random() % 4), x2, y2, false), &accepted);
        arena_rewind(&test_op()->arena, mark);
    }
    CHECK(accepted > 300);
}

/* ------- on a plane ------- */

static const double plane[4] = { -50, -20, 50, 20 };

static bool make_flat(struct json geometry, struct geojson *shape)
{
    struct op *op = test_op();

    return geojson_read(&op->arena, geometry, true, shape) && !shape->reason &&
           planar_check(op, &op->arena, shape) == ST_OK && !shape->reason;
}

static void check_on_plane(struct json document, struct json query, size_t *accepted)
{
    struct op *op = test_op();
    struct geojson a, b;
    double distance = 0;
    bool meet = false;

    if (!make_flat(document, &a) || !make_flat(query, &b))
        return;
    CHECK(planar_intersects(op, &a, &b, &meet) == ST_OK);
    CHECK(planar_distance(op, &a, &b, &distance) == ST_OK);
    if (meet && !may_meet(document, query, 0, plane))
        tell(document, query, 0);
    if (isfinite(distance) && !may_meet(document, query, distance, plane))
        tell(document, query, distance);
    *accepted += meet;
}

TEST(whatever_the_exact_tests_accept_on_a_plane_the_cells_have_outside_of_its_box_too)
{
    size_t accepted = 0;

    for (int i = 0; i < 3000; i++) {
        struct arena_mark mark = arena_mark(&test_op()->arena);
        double x = between(-100, 100), y = between(-40, 40), apart = any_size();

        check_on_plane(make_geometry((int)(test_random() % 4), x, y, true),
                       make_geometry((int)(test_random() % 4), x + between(-apart, apart), y, true),
                       &accepted);
        arena_rewind(&test_op()->arena, mark);
    }
    CHECK(accepted > 200);
}

/* ------- what cells leave out ------- */

TEST(what_lies_far_away_is_left_out)
{
    size_t near = 0, close = 0;

    for (int i = 0; i < 2000; i++) {
        struct arena_mark mark = arena_mark(&test_op()->arena);
        double x = between(-180, 180), y = between(-80, 80);
        struct json centre = make_geometry(GEOJSON_POINT, x, y, false);

        near += may_meet(make_geometry(GEOJSON_POINT, between(-180, 180), between(-80, 80), false), centre,
                         1000, NULL);
        close += may_meet(make_geometry(GEOJSON_POINT, x + 0.1, y, false), centre, 1000, NULL);
        arena_rewind(&test_op()->arena, mark);
    }
    CHECK(near == 0);
    CHECK(close < 500); /* those near a pole are nearer than a tenth of a degree seems */
}

TEST(a_search_is_few_ranges_in_order_and_apart)
{
    struct cell_ranges ranges;

    for (int i = 0; i < 500; i++) {
        struct arena_mark mark = arena_mark(&test_op()->arena);
        struct json centre = make_geometry(GEOJSON_POINT, between(-180, 180), between(-90, 90), false);

        CHECK(cells_near(test_op(), centre, between(0, 100000), NULL, &ranges) == ST_OK);
        CHECK(ranges.count > 0 && ranges.count <= 120);
        for (size_t k = 1; k < ranges.count; k++)
            CHECK(ranges.range[k - 1].last + 1 < ranges.range[k].first);
        arena_rewind(&test_op()->arena, mark);
    }
}

/* Two that meet. */
static const struct {
    const char *document, *query;
} meeting[] = {
    { "{'type':'LineString','coordinates':[[0,60],[180,60]]}", "{'type':'Point','coordinates':[90,90]}" },
    { "{'type':'LineString','coordinates':[[0,60],[180,60]]}", "{'type':'Point','coordinates':[180,75]}" },
    { "{'type':'Point','coordinates':[180,5]}", "{'type':'Point','coordinates':[-180,5]}" },
    { "{'type':'Point','coordinates':[12,90]}", "{'type':'Point','coordinates':[-100,90]}" },
    { "{'type':'Point','coordinates':[0,0]}",
      "{'type':'Polygon','coordinates':[[[10,10],[10,20],[20,20],[20,10],[10,10]]]}" }, /* clockwise */
    { "{'type':'Point','coordinates':[5,-89]}",
      "{'type':'Polygon','coordinates':[[[0,-80],[-120,-80],[120,-80],[0,-80]]]}" },
};

TEST(poles_the_antimeridian_and_the_outside_of_rings_are_places_like_any_other)
{
    for (size_t i = 0; i < sizeof(meeting) / sizeof(meeting[0]); i++) {
        struct json document = rig_json(test_op(), meeting[i].document);
        struct json query = rig_json(test_op(), meeting[i].query);

        if (!may_meet(document, query, 0, NULL) || !may_meet(query, document, 0, NULL))
            tell(document, query, 0);
    }
}

static const struct {
    const char *geometry;
    size_t cells;
} counted[] = {
    { "{'type':'Point','coordinates':[10,20]}", 1 },
    { "{'type':'Point','coordinates':[10,20,30]}", 1 },
    { "{'coordinates':[180,90],'type':'Point'}", 1 },
    { "{'type':'Point','coordinates':[181,0]}", 0 },
    { "{'type':'Point','coordinates':[0,-90.5]}", 0 },
    { "{'type':'Point','coordinates':['a',0]}", 0 },
    { "{'type':'Point','coordinates':[1]}", 0 },
    { "{'type':'Point'}", 0 },
    { "{'type':'point','coordinates':[1,2]}", 0 },
    { "{'type':'MultiPoint','coordinates':[[1,2]]}", 0 },
    { "{'type':1,'coordinates':[1,2]}", 0 },
    { "{'type':'LineString','coordinates':[]}", 0 },
    { "{'type':'LineString','coordinates':[[1,2],[3]]}", 0 },
    { "{'type':'MultiPolygon','coordinates':[]}", 0 },
    { "{'type':'Polygon','coordinates':[1]}", 0 },
    { "{'type':'Polygon','coordinates':[[[0,0],[0,1],[1,1],[0,0]]]}",
      1 }, /* clockwise: the rest of the earth */
    { "{'type':'Polygon','coordinates':[[[0,80],[120,80],[-120,80],[0,80]]]}", 1 }, /* around a pole */
};

TEST(a_geometry_has_few_cells_and_one_that_is_not_valid_has_none)
{
    uint64_t cell[CELLS_MAX];

    for (size_t i = 0; i < sizeof(counted) / sizeof(counted[0]); i++)
        if (cells_of(rig_json(test_op(), counted[i].geometry), NULL, cell) != counted[i].cells)
            test_failed(__FILE__, __LINE__, counted[i].geometry);
}

TEST(a_negative_reach_or_an_invalid_geometry_finds_nothing)
{
    struct json point = rig_json(test_op(), "{'type':'Point','coordinates':[1,2]}");
    struct cell_ranges ranges;

    CHECK(cells_near(test_op(), point, -1, NULL, &ranges) == ST_OK && ranges.count == 0);
    CHECK(cells_near(test_op(), point, NAN, NULL, &ranges) == ST_OK && ranges.count == 0);
    CHECK(cells_near(test_op(), rig_json(test_op(), "{}"), 1, NULL, &ranges) == ST_OK && ranges.count == 0);
}

TEST(a_reach_around_the_earth_finds_everything)
{
    struct json here = rig_json(test_op(), "{'type':'Point','coordinates':[1,2]}");
    struct json there = rig_json(test_op(), "{'type':'Point','coordinates':[-179,-2]}");

    CHECK(may_meet(there, here, 2.1e7, NULL) && may_meet(there, here, INFINITY, NULL));
    CHECK(may_meet(there, here, INFINITY, plane));
}

/* A plane without extent: everything is in one place. */
TEST(a_plane_that_is_a_point_finds_everything)
{
    static const double nowhere[4] = { 0, 0, 0, 0 };

    CHECK(may_meet(rig_json(test_op(), "{'type':'Point','coordinates':[7,8]}"),
                   rig_json(test_op(), "{'type':'Point','coordinates':[-7,-8]}"), 0, nowhere));
}
