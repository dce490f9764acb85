/* test/unit/vector/code_test.c - codes: every form of the product, and bounds that hold. */
#include <math.h>

#include "test.h"
#include "vector/code.h"

enum { DIMENSIONS_MAX = 300 };

static uint64_t state = 1;

static double draw(void)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (double)(int64_t)state / 9223372036854775808.0;
}

TEST(every_form_gives_the_product_of_plain_C)
{
    static int8_t query[320], codes[7 * 320];
    int32_t wanted[7], got[7];

    for (size_t bytes = VECTOR_LANE_BYTES; bytes <= 320; bytes += VECTOR_LANE_BYTES)
        for (int round = 0; round < 50; round++) {
            bool extreme = round % 5 == 0;

            for (size_t i = 0; i < bytes; i++)
                query[i] = (int8_t)(extreme ? (draw() < 0 ? -127 : 127) : 127 * draw());
            for (size_t i = 0; i < 7 * bytes; i++)
                codes[i] = (int8_t)(extreme ? (draw() < 0 ? -127 : 127) : 127 * draw());
            vector_forms[0].dots(query, codes, bytes, 7, wanted);
            for (size_t f = 1; f < vector_form_count; f++) {
                if (!vector_forms[f].runs())
                    continue;
                vector_forms[f].dots(query, codes, bytes, 7, got);
                CHECK(memcmp(wanted, got, sizeof(wanted)) == 0);
            }
        }
    CHECK(vector_form_best()->runs());
}

static double exact(enum vector_function function, const double *x, const double *y, size_t count)
{
    double dot = 0, xx = 0, yy = 0, apart = 0;

    for (size_t i = 0; i < count; i++) {
        dot += x[i] * y[i];
        xx += x[i] * x[i];
        yy += y[i] * y[i];
        apart += (x[i] - y[i]) * (x[i] - y[i]);
    }
    if (function == VECTOR_COSINE)
        return xx == 0 || yy == 0 ? 0 : dot / sqrt(xx * yy);
    return function == VECTOR_DOT_PRODUCT ? dot : vector_score_of(function, sqrt(apart));
}

TEST(a_score_is_never_above_the_most_that_its_code_says)
{
    static double x[DIMENSIONS_MAX], y[DIMENSIONS_MAX];
    static int8_t x_code[320], y_code[320];
    struct vector_measure of_x, of_y;

    for (int round = 0; round < 3000; round++) {
        size_t count = 1 + (size_t)(fabs(draw()) * (DIMENSIONS_MAX - 1));
        double x_size = pow(10, 6 * draw()), y_size = pow(10, 6 * draw());
        int32_t dot;

        for (size_t i = 0; i < count; i++) {
            x[i] = x_size * draw() * (round % 3 ? 1 : draw() * draw());
            y[i] = round % 7 == 0 ? x[i] * (1 + 1e-3 * draw()) : y_size * draw();
        }
        CHECK(vector_encode(x, count, x_code, &of_x) && vector_encode(y, count, y_code, &of_y));
        vector_form_best()->dots(x_code, y_code, vector_code_bytes(count), 1, &dot);
        for (int f = VECTOR_COSINE; f <= VECTOR_EUCLIDEAN; f++) {
            double score = exact((enum vector_function)f, x, y, count);

            CHECK(score <= (double)vector_score_most((enum vector_function)f, &of_x, &of_y, dot));
        }
    }
}

TEST(what_floats_cannot_hold_has_no_code)
{
    double odd[][2] = { { NAN, 1 }, { INFINITY, 1 }, { 1e200, 0 }, { 1e-200, 1e-200 } };
    double zeros[2] = { 0, 0 };
    static int8_t code[VECTOR_LANE_BYTES];
    struct vector_measure measure;

    for (size_t i = 0; i < sizeof(odd) / sizeof(odd[0]); i++)
        CHECK(!vector_encode(odd[i], 2, code, &measure));
    CHECK(vector_encode(zeros, 2, code, &measure));
    CHECK(measure.length == 0);
    CHECK(vector_score(VECTOR_COSINE, &measure, &measure, 0) == 0);
}
