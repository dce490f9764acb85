/*
 * src/query/eval/known.h - hashes of values that were hashed before.
 * The hash that names a group stands for its value, so it takes long to make. Most rows have the values of rows before
 * them: these are found by a quick sum of their bytes, and compared. It changes nothing but the time.
 */
#pragma once
#include "query/value.h"

struct known_hashes {
    struct arena *memory;
    struct known_hash *table; /* NULL until there is one */
};

/* value_hash() of a value that is no row. */
struct hash128 known_hash(struct op *op, struct known_hashes *known, struct value value);
