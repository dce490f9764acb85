/* cli/mapping.h - the rows that a plan's query makes of items, each by itself: POST /_orrery/map. */
#pragma once
#include "connect.h"

enum { MAPPING_AT_A_TIME = 100 };

/* Its "rows" has an array for each item. The link is of the container that the items are of. NULL: it was told why not. */
orrery_response *mapping_run(const struct cli *cli, const char *link, const char *query,
                             const orrery_value *item, size_t count);
