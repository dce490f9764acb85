/*
 * test/unit/geo/sphere_test.c - shapes on the earth against simpler ways to compute the same, and,
 * for shapes so small that the earth is flat, against GEOS.
 */
#include <math.h>

#include "geo/ellipsoid.h"
#include "geo/planar.h"
#include "test.h"

static bool near(double got, double wanted, double tolerance)
{
    if (fabs(got - wanted) <= tolerance * fabs(wanted))
        return true;
    printf("%.17g is not %.17g\n", got, wanted);
    return false;
}

/* ------- shapes without JSON ------- */

enum { CORNERS_MAX = 24 };

/* A ring, a line or a point; the last of a ring repeats the first. */
struct drawing {
    struct geo_point at[CORNERS_MAX];
    struct geojson_ring ring;
    struct geojson flat;
};

static void draw(struct drawing *d, enum geojson_kind kind, size_t count)
{
    d->ring = (struct geojson_ring){ .count = (uint32_t)count };
    d->flat = (struct geojson){
        .kind = kind,
        .at = d->at,
        .ring = &d->ring,
        .count = count,
        .ring_count = 1,
        .part_count = 1,
        .low = { -INFINITY, -INFINITY },
        .high = { INFINITY, INFINITY },
    };
}

static struct sphere on_earth(const struct drawing *d)
{
    struct sphere shape;

    CHECK(sphere_make(test_op(), &test_op()->arena, &d->flat, &shape) == ST_OK);
    return shape;
}

static double uniform(void)
{
    return (double)(test_random() >> 11) / 0x1p53;
}

static struct vec anywhere(void)
{
    double z = 2 * uniform() - 1, lon = 2 * M_PI * uniform(), r = sqrt(1 - z * z);

    return (struct vec){ r * cos(lon), r * sin(lon), z };
}

static struct geo_point degrees_of(struct vec p)
{
    return (struct geo_point){ atan2(p.y, p.x) * 180 / M_PI, atan2(p.z, hypot(p.x, p.y)) * 180 / M_PI };
}

/* Around a centre, counter-clockwise, each corner at its own distance: a ring that cannot cross itself. */
static void draw_star(struct drawing *d, struct vec centre, double angle, size_t corners)
{
    struct vec right = vec_unit(vec_cross(centre, (struct vec){ 0.31, 0.52, 0.79 })),
               up = vec_cross(centre, right);

    for (size_t i = 0; i < corners; i++) {
        double bearing = 2 * M_PI * (double)i / (double)corners, far = angle * (0.3 + 0.7 * uniform());
        struct vec out = vec_add(vec_scale(right, cos(bearing)), vec_scale(up, sin(bearing)));

        d->at[i] = degrees_of(vec_add(vec_scale(centre, cos(far)), vec_scale(out, sin(far))));
    }
    d->at[corners] = d->at[0];
    draw(d, GEOJSON_POLYGON, corners + 1);
}

/* How often a ring goes around p: the sum of the angles under which p sees its edges. */
static int turns_around(const struct drawing *d, struct vec p)
{
    double sum = 0;

    for (size_t i = 0; i + 1 < d->flat.count; i++) {
        struct vec a = vec_of_degrees(d->at[i].x, d->at[i].y),
                   b = vec_of_degrees(d->at[i + 1].x, d->at[i + 1].y);
        struct vec u = vec_cross(p, a), v = vec_cross(p, b);

        sum += atan2(vec_dot(p, vec_cross(u, v)), vec_dot(u, v));
    }
    return (int)lround(sum / (2 * M_PI));
}

TEST(an_edge_in_two_pieces_bounds_the_same_area)
{
    struct drawing whole, split;

    for (int round = 0; round < 200; round++) {
        struct vec a, b;

        draw_star(&whole, anywhere(), 1.2, 5);
        split = whole;
        a = vec_of_degrees(whole.at[0].x, whole.at[0].y);
        b = vec_of_degrees(whole.at[1].x, whole.at[1].y);
        memmove(split.at + 2, whole.at + 1, 5 * sizeof(split.at[0]));
        split.at[1] = degrees_of(vec_middle(a, b));
        draw(&split, GEOJSON_POLYGON, 7);
        CHECK(near(ellipsoid_area(&split.flat), ellipsoid_area(&whole.flat), 1e-8));
    }
}

/* ------- points in polygons ------- */

TEST(a_point_is_inside_when_the_ring_goes_around_it)
{
    struct drawing ring;

    for (int round = 0; round < 400; round++) {
        struct vec centre = anywhere();
        struct sphere shape;

        draw_star(&ring, centre, 0.01 + 1.2 * uniform() * uniform(), 3 + (size_t)(18 * uniform()));
        shape = on_earth(&ring);
        REQUIRE(!shape.reason);
        for (int k = 0; k < 50; k++) {
            struct vec p = vec_unit(vec_add(centre, vec_scale(anywhere(), uniform())));

            if (vec_dot(p, centre) > 0.1) /* nearer than the far side, which sees the ring too */
                CHECK((sphere_place(&shape, p) == SPHERE_INSIDE) == (turns_around(&ring, p) == 1));
        }
        CHECK(sphere_place(&shape, vec_scale(centre, -1)) == SPHERE_OUTSIDE);
    }
}

TEST(a_ring_that_runs_clockwise_is_the_rest_of_the_earth)
{
    struct drawing ring, other;

    for (int round = 0; round < 200; round++) {
        struct sphere left, right;
        struct vec opposite;

        draw_star(&ring, anywhere(), 1.7, 9);
        for (size_t i = 0; i < 10; i++)
            other.at[i] = ring.at[9 - i];
        draw(&other, GEOJSON_POLYGON, 10);
        left = on_earth(&ring);
        right = on_earth(&other);
        for (int k = 0; k < 50; k++) {
            struct vec p = anywhere();

            CHECK(sphere_place(&left, p) != sphere_place(&right, p));
        }
        opposite = vec_scale(left.ring[0].inside, -1);
        CHECK(sphere_place(&left, opposite) != sphere_place(&right, opposite));
        CHECK(near(ellipsoid_area(&ring.flat) + ellipsoid_area(&other.flat), 510065621710996.56, 1e-12));
    }
}

/* ------- shapes and shapes ------- */

/* On a grid of a metre or so, whose points doubles can say: great ellipses and straight lines are the same to all digits. */
static void draw_small(struct drawing *d)
{
    enum geojson_kind kind = (enum geojson_kind)(test_random() % 3);
    size_t count = kind == GEOJSON_POINT  ? 1
                   : kind == GEOJSON_LINE ? 2 + test_random() % 3
                                          : 4 + test_random() % 5;
    struct geo_point start = { (double)(test_random() % 6), (double)(test_random() % 6) };

    for (size_t i = 0; i < count; i++) {
        d->at[i] = (struct geo_point){ (double)(test_random() % 7), (double)(test_random() % 7) };
        if (i == 0 || (i == count - 1 && kind == GEOJSON_POLYGON))
            d->at[i] = start;
        if (i > 0 && i < count - 1 && d->at[i].x == d->at[i - 1].x && d->at[i].y == d->at[i - 1].y)
            d->at[i].x += 1;
    }
    for (size_t i = 0; i < count; i++)
        d->at[i] = (struct geo_point){ d->at[i].x * 0x1p-17, d->at[i].y * 0x1p-17 };
    draw(d, kind, count);
}

static bool has_repeated(const struct drawing *d)
{
    for (size_t i = 1; i < d->flat.count; i++)
        if (d->at[i].x == d->at[i - 1].x && d->at[i].y == d->at[i - 1].y)
            return true;
    return false;
}

static double signed_area(const struct drawing *d)
{
    double sum = 0;

    for (size_t i = 1; i < d->flat.count; i++)
        sum += d->at[i - 1].x * d->at[i].y - d->at[i].x * d->at[i - 1].y;
    return sum;
}

/* Counter-clockwise, since a plane knows no other; false when it is no use. */
static bool draw_valid(struct drawing *d, struct sphere *shape)
{
    draw_small(d);
    if (has_repeated(d))
        return false;
    if (d->flat.kind == GEOJSON_POLYGON && signed_area(d) < 0)
        for (size_t i = 0; i < d->flat.count / 2; i++) {
            struct geo_point swap = d->at[i];

            d->at[i] = d->at[d->flat.count - 1 - i];
            d->at[d->flat.count - 1 - i] = swap;
        }
    *shape = on_earth(d);
    CHECK(planar_check(test_op(), &test_op()->arena, &d->flat) == ST_OK);
    CHECK(!d->flat.reason == !shape->reason);
    return !d->flat.reason && !shape->reason;
}

/* Not lines within lines: where one crosses itself, the plane's library rounds the crossing and finds nothing. */
TEST(small_shapes_relate_on_the_earth_as_on_a_plane)
{
    struct drawing a, b;
    struct sphere sphere_a, sphere_b;
    int compared = 0;

    while (compared < 4000) {
        struct arena_mark mark = arena_mark(&test_op()->arena);
        bool on_plane, on_sphere;

        if (draw_valid(&a, &sphere_a) && draw_valid(&b, &sphere_b)) {
            CHECK(planar_intersects(test_op(), &a.flat, &b.flat, &on_plane) == ST_OK);
            CHECK(sphere_intersects(test_op(), &sphere_a, &sphere_b, &on_sphere) == ST_OK);
            CHECK(on_plane == on_sphere);
            CHECK(planar_within(test_op(), &a.flat, &b.flat, &on_plane) == ST_OK);
            CHECK(sphere_within(test_op(), &sphere_a, &sphere_b, &on_sphere) == ST_OK);
            if (a.flat.kind != GEOJSON_LINE || b.flat.kind != GEOJSON_LINE)
                CHECK(on_plane == on_sphere);
            compared++;
        }
        arena_rewind(&test_op()->arena, mark);
    }
}

TEST(small_shapes_are_as_far_apart_on_the_earth_as_on_a_plane)
{
    struct drawing a, b;
    struct sphere sphere_a, sphere_b;
    double plane, metres;

    for (int compared = 0; compared < 2000;) {
        struct arena_mark mark = arena_mark(&test_op()->arena);

        if (draw_valid(&a, &sphere_a) && draw_valid(&b, &sphere_b)) {
            for (size_t i = 0; i < a.flat.count; i++) /* at the equator a degree north is shorter by this */
                a.at[i].y *= 6335439.327 / 6378137;
            for (size_t i = 0; i < b.flat.count; i++)
                b.at[i].y *= 6335439.327 / 6378137;
            CHECK(planar_distance(test_op(), &a.flat, &b.flat, &plane) == ST_OK);
            CHECK(ellipsoid_distance(test_op(), &sphere_a, &sphere_b, &metres) == ST_OK);
            CHECK(fabs(plane * 6378137 * M_PI / 180 - metres) < 1e-7);
            compared++;
        }
        arena_rewind(&test_op()->arena, mark);
    }
}

/* ------- distance ------- */

TEST(no_place_on_a_line_is_nearer_than_its_distance)
{
    struct drawing line, point, place;

    for (int round = 0; round < 300; round++) {
        struct vec a = anywhere(), b = vec_unit(vec_add(a, vec_scale(anywhere(), 1.5 * uniform())));
        double least = INFINITY, metres, sampled;
        struct sphere shape, p, q;

        line.at[0] = degrees_of(a);
        line.at[1] = degrees_of(b);
        draw(&line, GEOJSON_LINE, 2);
        point.at[0] = degrees_of(vec_unit(vec_add(a, vec_scale(anywhere(), uniform()))));
        draw(&point, GEOJSON_POINT, 1);
        shape = on_earth(&line);
        p = on_earth(&point);
        CHECK(ellipsoid_distance(test_op(), &p, &shape, &metres) == ST_OK);
        for (int k = 0; k <= 400; k++) {
            place.at[0] = degrees_of(vec_unit(vec_add(vec_scale(a, 400 - k), vec_scale(b, k))));
            draw(&place, GEOJSON_POINT, 1);
            q = on_earth(&place);
            CHECK(ellipsoid_distance(test_op(), &p, &q, &sampled) == ST_OK);
            least = fmin(least, sampled);
        }
        CHECK(metres <= least * (1 + 1e-12) + 1e-8);
        CHECK(metres > least - 20000);
    }
}
