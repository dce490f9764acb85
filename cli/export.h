/*
 * cli/export.h - orrery export: a container, the rows of a query, or a whole database, as JSON lines.
 *
 * A container comes out as it was at one LSN. The protocol has no snapshot over several requests, so it is made of two feeds:
 *   1. the feed of all versions is opened at "now", which gives the LSN;
 *   2. the feed of latest versions is read from the beginning. What was changed since the LSN is passed over: it stands at the
 *      feed's end, in its new version;
 *   3. the feed of all versions is read on. Each item that existed at the LSN and was changed since has exactly one change
 *      whose previous version is not later than the LSN: that version is written, unless step 2 had written it before it was changed.
 *      Whether it had is known from the page of its range that its LSN lies in: a page tells as of which LSN it was read.
 *
 * Where ranges have LSNs of their own (several buckets; the service), each range is as of one of its own.
 *
 * The rows of a query are of one LSN, too: they are held back until it is known that nothing was written while they were read. If
 * something was, or there are many, the query is asked again as of the LSN from before: x-orrery-as-of, which no index helps.
 */
#pragma once
#include "options.h"

int export_command(const struct options *options);
