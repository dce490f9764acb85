/*
 * cli/samples.h - orrery samples: worked models, each in a folder that is loaded into a database of its own.
 *     samples/books/good/model.json                   {"about":"...","containers":[{"id":"library","partitionKey":...}]}
 *     samples/books/good/items/library.jsonl          the items of a container
 *     samples/books/good/scripts/library.sproc.NAME.js    .udf.NAME.js    .pre.Create.NAME.js    .post.All.NAME.js
 *     samples/books/good/queries.txt                  for orrery shell -f, once it is loaded
 * `good` is how it should be done, `bad` how it should not: what a model is compared with.
 */
#pragma once
#include "options.h"

int samples_command(const struct options *options);
