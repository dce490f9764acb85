/*
 * src/vector/code.h - a vector as bytes: x is about scale * code, and how much about is known.
 *     x . y  =  scale_x scale_y (code_x . code_y)  +-  |x| |y| (error_y + error_x (1 + error_y))
 * Cosine and the square of the distance follow from that and from the lengths. A score is the greater the nearer: the
 * cosine, the product, or the square of the distance with its sign turned.
 *
 * Promises
 * 1. vector_score_most() is never less than the score that doubles give.      code_test.c
 */
#pragma once
#include "vector/dot.h"

enum vector_function { VECTOR_COSINE, VECTOR_DOT_PRODUCT, VECTOR_EUCLIDEAN };

/* What a policy says that the numbers of its vectors are. */
enum vector_type { VECTOR_FLOAT32, VECTOR_FLOAT16, VECTOR_INT8, VECTOR_UINT8 };

struct vector_measure {
    float scale, length;
    float error; /* |x - scale * code| / |x|; 0 of a vector of zeros */
};

/* The numbers as the type holds them, rounded to the nearest; false when it holds none such of one. */
bool vector_hold(enum vector_type type, double *x, size_t count);

/* Bytes of a code, with the zeros that fill it up. */
size_t vector_code_bytes(size_t dimensions);

/* False when it has no code: a number is not finite, or floats cannot hold what is measured. */
bool vector_encode(const double *x, size_t dimensions, int8_t *code, struct vector_measure *measure);

/* From the product of the codes. Here, since there are many of them, and a function that is known makes it short. */
static inline float vector_score(enum vector_function function, const struct vector_measure *x,
                                 const struct vector_measure *query, int32_t dot)
{
    float product = x->scale * query->scale * (float)dot;
    float lengths = x->length * query->length;

    if (function == VECTOR_COSINE)
        return lengths == 0 ? 0 : product / lengths;
    if (function == VECTOR_DOT_PRODUCT)
        return product;
    return 2 * product - x->length * x->length - query->length * query->length;
}

/* The most that it can be. */
static inline float vector_score_most(enum vector_function function, const struct vector_measure *x,
                                      const struct vector_measure *query, int32_t dot)
{
    static const float rounding = 4e-6f; /* what floats lose on the way, of what is added up */
    float score = vector_score(function, x, query, dot);
    float part = query->error + x->error * (1 + query->error) + rounding;
    float lengths = x->length * query->length;

    if (function == VECTOR_COSINE)
        return score + part;
    if (function == VECTOR_DOT_PRODUCT)
        return score + part * lengths;
    return score + 2 * part * lengths + rounding * (x->length * x->length + query->length * query->length);
}

/* The most that it is likely to be, by the score of the codes: errors of dimensions mostly cancel one another. */
float vector_score_likely(enum vector_function function, const struct vector_measure *x,
                          const struct vector_measure *query, size_t dimensions, float score);

/* What VectorDistance has given, as a score. */
double vector_score_of(enum vector_function function, double distance);
