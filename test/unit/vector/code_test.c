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
    const int8_t *code[7];
    int32_t wanted[7], got[7];

    for (size_t bytes = VECTOR_LANE_BYTES; bytes <= 320; bytes += VECTOR_LANE_BYTES)
        for (int round = 0; round < 50; round++) {
            bool extreme = round % 5 == 0;

            for (size_t i = 0; i < bytes; i++)
                query[i] = (int8_t)(extreme ? (draw() < 0 ? -127 : 127) : 127 * draw());
            for (size_t i = 0; i < 7 * bytes; i++)
                codes[i] = (int8_t)(extreme ? (draw() < 0 ? -127 : 127) : 127 * draw());
            for (size_t i = 0; i < 7; i++) /* in some order: codes lie anywhere */
                code[i] = codes + (i * 3 % 7) * bytes;
            vector_forms[0].dots(query, code, bytes, 7, wanted);
            for (size_t f = 1; f < vector_form_count; f++) {
                if (!vector_forms[f].runs())
                    continue;
                vector_forms[f].dots(query, code, bytes, 7, got);
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
        vector_form_best()->dots(x_code, (const int8_t *[]){ y_code }, vector_code_bytes(count), 1, &dot);
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

/* Asked of the service's query compiler. */
TEST(numbers_are_what_their_type_holds_of_them)
{
    static const struct {
        enum vector_type type;
        double given, held; /* NAN: it holds none such */
    } known[] = {
        { VECTOR_FLOAT32, 0.1, 0.10000000149011612 },
        { VECTOR_FLOAT32, 1e-10, 1.000000013351432e-10 },
        { VECTOR_FLOAT32, 1e-46, 0 },
        { VECTOR_FLOAT32, 3.4028235677973362e38, 3.4028234663852886e38 },
        { VECTOR_FLOAT32, 3.5e38, NAN },
        { VECTOR_FLOAT32, -1e300, NAN },
        { VECTOR_FLOAT16, 0.1, 0.0999755859375 },
        { VECTOR_FLOAT16, -0.1, -0.0999755859375 },
        { VECTOR_FLOAT16, 1.001, 1.0009765625 },
        { VECTOR_FLOAT16, 1.00048828125, 1 },
        { VECTOR_FLOAT16, 1.00048828125091, 1 }, /* by way of a float */
        { VECTOR_FLOAT16, 0.00001, 9.9539756774902344e-06 },
        { VECTOR_FLOAT16, 167.9 * 0x1p-24, 167 * 0x1p-24 }, /* below 2^-14 it is cut off, */
        { VECTOR_FLOAT16, 1023.6 * 0x1p-24, 1023 * 0x1p-24 },
        { VECTOR_FLOAT16, 1023.9 * 0x1p-24, 1024 * 0x1p-24 }, /* behind eleven binary digits */
        { VECTOR_FLOAT16, 1024.6 * 0x1p-24, 1025 * 0x1p-24 },
        { VECTOR_FLOAT16, 1.00146484375, 1.001953125 },
        { VECTOR_FLOAT16, 1e-10, 0 },
        { VECTOR_FLOAT16, 65519, 65504 },
        { VECTOR_FLOAT16, 65519.9999, NAN },
        { VECTOR_FLOAT16, -65520, NAN },
        { VECTOR_FLOAT16, 1e300, NAN },
        { VECTOR_INT8, -128, -128 },
        { VECTOR_INT8, 127, 127 },
        { VECTOR_INT8, 128, NAN },
        { VECTOR_INT8, -129, NAN },
        { VECTOR_INT8, 1.5, NAN },
        { VECTOR_UINT8, 0, 0 },
        { VECTOR_UINT8, 255, 255 },
        { VECTOR_UINT8, 256, NAN },
        { VECTOR_UINT8, -1, NAN },
        { VECTOR_UINT8, 0.5, NAN },
        { VECTOR_INT8, NAN, NAN },
        { VECTOR_FLOAT16, INFINITY, NAN },
    };

    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
        double x[] = { 1, known[i].given, 1 };
        bool held = vector_hold(known[i].type, x, 3);

        CHECK(held == !isnan(known[i].held));
        CHECK(!held || (x[0] == 1 && x[1] == known[i].held && x[2] == 1));
    }
}

TEST(a_score_is_hardly_ever_above_what_is_likely)
{
    static double x[DIMENSIONS_MAX], y[DIMENSIONS_MAX];
    static int8_t x_code[320], y_code[320];
    struct vector_measure of_x, of_y;
    size_t above = 0, asked = 0, nearer = 0;

    for (int round = 0; round < 2000; round++) {
        size_t count = 16 + (size_t)(fabs(draw()) * 200);
        int32_t dot;

        for (size_t i = 0; i < count; i++) {
            x[i] = draw() * 3;
            y[i] = round % 2 ? draw() : x[i] + draw() / 4;
        }
        CHECK(vector_encode(x, count, x_code, &of_x) && vector_encode(y, count, y_code, &of_y));
        vector_form_best()->dots(x_code, (const int8_t *[]){ y_code }, vector_code_bytes(count), 1, &dot);
        for (int f = VECTOR_COSINE; f <= VECTOR_EUCLIDEAN; f++) {
            enum vector_function function = (enum vector_function)f;
            float score = vector_score(function, &of_x, &of_y, dot);
            float likely = vector_score_likely(function, &of_x, &of_y, count, score);

            above += exact(function, x, y, count) > likely;
            nearer += likely < vector_score_most(function, &of_x, &of_y, dot);
            asked++;
        }
    }
    CHECK(above * 500 < asked && nearer == asked);
}
