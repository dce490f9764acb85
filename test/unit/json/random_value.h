/* test/unit/json/random_value.h - values made up from the test's random numbers. */
#pragma once
#include "json/json.h"

/* At most so many levels of containers. */
struct json random_value(struct op *op, int levels);

/* The same value with the members of its objects in another order. */
struct json shuffled(struct op *op, struct json value);
