/*
 * src/resource/reshape.h - what `orrery reshape` asks for while it puts a container in the place of another one.
 * POST /_orrery/map, /_orrery/hold and /_orrery/swap, each with a JSON body. docs/modelling/reshape.md describes them.
 */
#pragma once
#include "resource/call.h"

/*
 * {"container":"dbs/d/colls/c","query":"SELECT VALUE {...} FROM c","items":[{...},...]}: the rows that the query makes of each of the
 * items, as {"rows":[[...],...]}. The items need not be the container's.
 */
enum status map_run(struct op *op, struct service *service, struct json wanted, struct buf *answer);

/* {"container":"dbs/d/colls/c","ms":2000}: its writes are told to come back, for so long. 0: they are let in again. */
enum status hold_run(struct op *op, struct service *service, struct json wanted, struct buf *answer);

/* For route/: whether writes of the container are told to come back, as far as is known here; 429 for one then. */
bool hold_is_on(struct op *op, const struct container *container);
enum status hold_check(struct op *op, const struct container *container);

/*
 * {"container":"dbs/d/colls/c","lsn":17,"with":"dbs/d/colls/e","withLsn":[9,4]}: the two change names, if they are at these
 * LSNs, one for each bucket, and those of "unchanged":[{"container":"dbs/d/colls/f","lsn":3}], if there are any, at theirs. Called
 * while no other request is served here.
 */
enum status swap_run(struct op *op, struct service *service, struct json wanted, struct buf *answer);
