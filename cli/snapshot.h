/* cli/snapshot.h - the items of a container as of one LSN. export.h says how. */
#pragma once
#include "connect.h"

/* The container's LSN, as of now. False: a failure, which was told. */
bool snapshot_lsn(const struct cli *cli, const char *link, uint64_t *lsn);

/* One item, with the service's properties. False: it cannot be taken, which was told. */
typedef bool snapshot_item(void *context, const char *json, size_t size);

/* `lsn` and `charge` are told at the end; with `live`, or where each range has an LSN of its own, no one holds, and `lsn` becomes 0. False: a failure, which was told. */
bool snapshot_read(const struct cli *cli, const char *link, bool live, snapshot_item *take, void *context,
                   uint64_t *lsn, double *charge);
