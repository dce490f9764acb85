/*
 * test/unit/geo/ellipsoid_test.c - lengths of great ellipses against figures known elsewhere and
 * against adding up small pieces; distances to edges against looking everywhere.
 */
#include <math.h>

#include "geo/ellipsoid.h"
#include "test.h"

static bool near(double got, double wanted, double tolerance)
{
    if (fabs(got - wanted) <= tolerance * fabs(wanted))
        return true;
    printf("%.17g is not %.17g\n", got, wanted);
    return false;
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

/* As far from a as `far` says, more or less: all distances are of interest, the small ones too. */
static struct vec somewhere(struct vec a, double far)
{
    return vec_unit(vec_add(a, vec_scale(anywhere(), far)));
}

static double between(struct vec a, struct vec b)
{
    struct sphere p = { .kind = GEOJSON_POINT, .at = &a, .count = 1 };
    struct sphere q = { .kind = GEOJSON_POINT, .at = &b, .count = 1 };
    double metres;

    CHECK(ellipsoid_distance(test_op(), &p, &q, &metres) == ST_OK);
    return metres;
}

static double degrees_between(struct geo_point a, struct geo_point b)
{
    return between(vec_of_degrees(a.x, a.y), vec_of_degrees(b.x, b.y));
}

/* ------- points ------- */

TEST(lengths_are_those_of_the_equator_and_of_meridians)
{
    CHECK(near(degrees_between((struct geo_point){ 7, 0 }, (struct geo_point){ 8, 0 }), 111319.49079327358,
               1e-13));
    CHECK(near(degrees_between((struct geo_point){ 20, 0 }, (struct geo_point){ 0, 90 }), 10001965.729120321,
               1e-15));
    CHECK(near(degrees_between((struct geo_point){ 20, -90 }, (struct geo_point){ 0, 90 }),
               20003931.458240642, 1e-15));
    /* a degree of latitude at the equator and before the pole */
    CHECK(near(degrees_between((struct geo_point){ 0, 0 }, (struct geo_point){ 0, 1 }), 110574.38854927039,
               1e-13));
    CHECK(near(degrees_between((struct geo_point){ 0, 89 }, (struct geo_point){ 0, 90 }), 111693.86491850655,
               1e-13));
}

/* The place under a direction, in metres from the centre. */
static struct vec ground(struct vec direction)
{
    double e2 = 0.006694380066764775, n = 6378137 / sqrt(1 - e2 * direction.z * direction.z);

    return vec_scale((struct vec){ direction.x, direction.y, direction.z * (1 - e2) }, n);
}

/* Chords of many pieces; what they lack shrinks fourfold when the pieces are halved, so it is known. */
static double added_up(struct vec a, struct vec b)
{
    double length[2] = { 0, 0 }, angle = 2 * asin(fmin(1, vec_apart(a, b) / 2));
    enum { PIECES = 500 };

    for (int half = 0; half < 2; half++) {
        int pieces = PIECES << half;
        struct vec last = ground(a);

        for (int i = 1; i <= pieces; i++) {
            double t = angle * i / pieces;
            struct vec next = ground(vec_unit(vec_add(vec_scale(a, sin(angle - t)), vec_scale(b, sin(t)))));

            length[half] += vec_apart(last, next);
            last = next;
        }
    }
    return length[1] + (length[1] - length[0]) / 3;
}

TEST(an_arc_is_as_long_as_its_pieces)
{
    for (int round = 0; round < 300; round++) {
        struct vec a = anywhere(), b = somewhere(a, pow(10, -3 * uniform()));

        CHECK(near(between(a, b), added_up(a, b), 2e-11));
    }
    for (int round = 0; round < 100; round++) { /* most of the way around */
        struct vec a = anywhere(), b = somewhere(vec_scale(a, -1), 0.2);

        CHECK(near(between(a, b), added_up(a, b), 2e-11));
    }
}

TEST(there_and_back_are_the_same_to_the_last_bit)
{
    for (int round = 0; round < 1000; round++) {
        struct vec a = anywhere(), b = somewhere(a, pow(10, -9 * uniform()));

        CHECK(between(a, b) == between(b, a));
        CHECK(between(a, a) == 0);
    }
}

TEST(small_distances_keep_their_digits)
{
    struct geo_point zurich = { 8.5, 47.5 };
    double e2 = 0.006694380066764775,
           m = 6378137 * (1 - e2) / pow(1 - e2 * pow(sin(47.5 * M_PI / 180), 2), 1.5);

    for (int k = -12; k < 0; k++) { /* a millimetre to a few kilometres, north */
        double degrees = ldexp(1, k * 2);
        double metres = degrees_between((struct geo_point){ 8.5, 47.5 - degrees / 2 },
                                        (struct geo_point){ 8.5, 47.5 + degrees / 2 });

        CHECK(fabs(metres - m * degrees * M_PI / 180) < 3e-9 + metres * degrees * degrees);
    }
    CHECK(degrees_between(zurich, zurich) == 0);
}

TEST(opposite_places_are_half_a_meridian_apart)
{
    CHECK(near(degrees_between((struct geo_point){ 0, 0 }, (struct geo_point){ 180, 0 }), 20003931.458240642,
               1e-12));
    for (int round = 0; round < 100; round++) {
        struct vec a = anywhere();
        double metres = between(a, vec_scale(a, -1));

        CHECK(near(metres, 20003931.458240642, 1e-12));
    }
}

TEST(the_equator_is_longer_than_a_meridian_up_to_its_end)
{
    double last = 0;

    for (int k = 1; k <= 1000; k++) {
        double metres =
            degrees_between((struct geo_point){ 0, 0 }, (struct geo_point){ 180 - ldexp(180, -k / 25), 0 });

        CHECK(metres >= last);
        CHECK(metres < 20037508.343);
        last = metres;
    }
    CHECK(last > 20037508.342);
}

TEST(farther_along_an_arc_is_farther)
{
    for (int round = 0; round < 200; round++) {
        struct vec a = anywhere(), side = vec_unit(vec_cross(a, anywhere()));
        double last = 0;

        for (int k = 1; k <= 500; k++) {
            double angle = M_PI * k / 501, metres;

            metres = between(a, vec_add(vec_scale(a, cos(angle)), vec_scale(side, sin(angle))));
            CHECK(metres > last + 39000);
            last = metres;
        }
    }
}

/* Karney's geodesics, in millimetres. Near antipodes the great ellipse goes another way. */
static const struct {
    struct geo_point a, b;
    double metres, longer; /* than the geodesic, at most: a part of it */
} geodesics[] = {
    { { 8.55, 47.37 }, { -122.3, 47.6 }, 8457428.629, 1e-6 },
    { { -73.78, 40.64 }, { -0.45, 51.47 }, 5555408.658, 1e-6 },
    { { 151.2, -33.9 }, { -58.4, -34.6 }, 11820799.293, 4e-6 },
    { { 0, 0 }, { 90, 45 }, 10010386.361, 2e-6 },
    { { 10, -80 }, { -120, 70 }, 18273499.173, 4e-5 },
    { { 100.5, 13.75 }, { 100.6, 13.8 }, 12146.619, 1e-7 },
    { { -179.9, 65 }, { 179.9, 66 }, 111883.636, 1e-7 },
    { { 0, 30 }, { 179, -29 }, 19865697.760, 1e-3 },
};

TEST(a_great_ellipse_is_hardly_longer_than_the_geodesic_and_never_shorter)
{
    for (size_t i = 0; i < sizeof(geodesics) / sizeof(geodesics[0]); i++) {
        double metres = degrees_between(geodesics[i].a, geodesics[i].b);

        CHECK(metres > geodesics[i].metres - 0.001);
        CHECK(metres < geodesics[i].metres * (1 + geodesics[i].longer));
    }
}

/* ------- edges ------- */

static double to_line(struct vec p, struct vec a, struct vec b)
{
    struct vec at[2] = { a, b }, normal[2] = { vec_unit(vec_cross(a, b)) };
    double length[2] = { vec_apart(a, b), -1 }, metres;
    struct sphere_ring ring = { .count = 2 };
    struct sphere point = { .kind = GEOJSON_POINT, .at = &p, .length = (double[]){ -1 }, .count = 1 };
    struct sphere line = { .kind = GEOJSON_LINE, .at = at, .normal = normal, .length = length, .count = 2 };

    line.ring = point.ring = &ring;
    line.ring_count = point.ring_count = 1;
    CHECK(ellipsoid_distance(test_op(), &line, &point, &metres) == ST_OK);
    return metres;
}

static struct vec at_part(struct vec a, struct vec b, double part)
{
    double angle = 2 * asin(fmin(1, vec_apart(a, b) / 2));

    return vec_unit(vec_add(vec_scale(a, sin(angle * (1 - part))), vec_scale(b, sin(angle * part))));
}

/* Looks at places all along the line, then ever closer around the nearest of them. */
static double looked_for(struct vec p, struct vec a, struct vec b)
{
    enum { PLACES = 512 };
    double best = 0, least = INFINITY;

    for (int k = 0; k <= PLACES; k++) {
        double metres = between(p, at_part(a, b, (double)k / PLACES));

        if (metres < least) {
            least = metres;
            best = (double)k / PLACES;
        }
    }
    for (double step = 1.0 / PLACES; step > 1e-14; step *= 0.7)
        for (int side = -1; side <= 1; side += 2) {
            double part = fmin(fmax(best + side * step, 0), 1), metres = between(p, at_part(a, b, part));

            if (metres < least) {
                least = metres;
                best = part;
            }
        }
    return least;
}

static bool found_nearest(struct vec p, struct vec a, struct vec b)
{
    double wanted = looked_for(p, a, b), got = to_line(p, a, b);

    if (fabs(got - wanted) <= 1e-11 * wanted + 1e-8)
        return true;
    printf("%.17g is not %.17g\n", got, wanted);
    return false;
}

TEST(the_nearest_place_of_an_edge_is_found)
{
    for (int round = 0; round < 300; round++) {
        struct vec a = anywhere(), b = somewhere(a, pow(10, -5 * uniform()));

        CHECK(found_nearest(somewhere(a, vec_apart(a, b) * 2 * uniform()), a, b));
        CHECK(found_nearest(somewhere(at_part(a, b, uniform()), pow(10, -7 * uniform())), a, b));
    }
}

TEST(the_nearest_place_of_a_long_edge_far_away_is_found)
{
    for (int round = 0; round < 300; round++) {
        struct vec a = anywhere(), b = somewhere(vec_scale(a, -1), 0.1 + 3 * uniform());

        CHECK(found_nearest(anywhere(), a, b));
        CHECK(found_nearest(somewhere(vec_unit(vec_cross(a, b)), 0.01), a, b)); /* all of it equally far */
    }
}

TEST(an_edge_nearly_around_the_earth_is_near_at_its_far_end)
{
    struct vec a = vec_of_degrees(0, 0), b = vec_of_degrees(170, 0);

    CHECK(near(to_line(vec_of_degrees(-170, 0), a, b), 20 * 111319.49079327358, 1e-12));
    CHECK(near(to_line(vec_of_degrees(-20, 0), a, b), 20 * 111319.49079327358, 1e-12));
}
