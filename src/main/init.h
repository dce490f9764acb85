/*
 * src/main/init.h - what --init names is made before the first answer: databases, containers, scripts, users, items.
 * A file is JSON, in one of two forms, which docs/testing.md describes. Of a directory every file that ends in .json is taken,
 * in the order of names. What is there already stays as it is, so a second start with the same files changes nothing.
 *
 * Everything is asked of a router, as a client would ask: a definition means here what it means in a request.
 *
 * Threads. One, before anybody else asks.
 */
#pragma once
#include "main/engine.h"

/* After a failure, op->error has the file and the place in it. What came before that place has been made. */
enum status init_load(struct op *op, struct engine *engine, const char *path);
