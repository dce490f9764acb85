/* src/catalog/path.h - the paths that indexing policies are made of. */
#pragma once
#include "catalog/definition.h"

/* Where an indexing path goes wrong, counted from 1; 0 when it is well formed. */
size_t index_path_error(struct slice path);

bool index_path_is_root(struct slice path);
