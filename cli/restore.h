/*
 * cli/restore.h - a whole database, as orrery export --all writes it: a line for each thing, in this order.
 *     {"orreryExport":1,"database":"shop"}
 *     {"database":{"id":"shop"},"offer":{"throughput":400}}
 *     {"container":{"id":"orders","partitionKey":{...},...},"lsn":17,"offer":{"maxThroughput":4000}}
 *     {"sproc":{...}} {"trigger":{...}} {"udf":{...}} {"item":{...}}     of that container
 *     {"user":{"id":"ann"}}
 *     {"permission":{"id":"p","permissionMode":"Read","resource":"colls/orders"}}     of that user
 *     {"end":{"items":1000}}                                             without it the file is not whole
 */
#pragma once
#include "loader.h"

struct restore;

/* NULL: it was told why not. */
struct restore *restore_open(struct cli *cli, const struct options *options, enum load_mode mode,
                             struct progress *progress, load_reject *reject, void *context);

/* False: it cannot go on, which was told. */
bool restore_take(struct restore *restore, const struct load_item *line, orrery_value root);
bool restore_finish(struct restore *restore, bool all_was_read);
void restore_close(struct restore *restore);
