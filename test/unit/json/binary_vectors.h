/*
 * test/unit/json/binary_vectors.h - binary JSON as the .NET SDK writes, reads and refuses it.
 * The 3,204 vectors were recorded from it; make-binary-vectors says how they lie in binary_vectors.txt.
 */
#pragma once
#include "base/op.h"

enum vector_kind {
    VECTOR_VALUE = 1,      /* stands for the text */
    VECTOR_REFUSED = 2,    /* the SDK refuses it */
    VECTOR_LENIENT = 3,    /* the SDK takes it for the text; a strict reader may refuse it */
    VECTOR_DICTIONARY = 4, /* stands for the text for those who share a dictionary, which nobody sends */
};

enum { VECTOR_COUNT = 3204 };

struct vector {
    enum vector_kind kind;
    struct slice bytes, text;
};

/* Fills the table, in the op's arena. False when the file cannot be read whole. */
bool vectors_load(struct op *op, struct vector vectors[VECTOR_COUNT]);
