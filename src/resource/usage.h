/*
 * src/resource/usage.h - how much of a container is in use, as x-ms-resource-quota and x-ms-resource-usage say it.
 * Sizes are in kilobytes. Old versions of the server did not count items: a container from one of them tells nothing
 * of its items.
 */
#pragma once
#include "resource/call.h"

/* Items and scripts. */
void usage_of_container(struct reply *reply, const struct call *call);

/* Items alone, as a member of a script's response. */
void usage_print_values(struct buf *out, const struct container *container);

/* Items alone: what reads, writes, lists and queries of them are answered with. */
void usage_of_items(struct reply *reply, const struct call *call);
