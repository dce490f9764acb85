/*
 * src/resource/advice.h - advice on the data model, for whoever holds a key: POST /_orrery/advise.
 * docs/modelling/rules.md describes the report.
 */
#pragma once
#include "resource/call.h"

/* {"of":"dbs/d"} or {"of":"dbs/d/colls/c"}; "values":true: partition keys may be told */
enum status advice_run(struct op *op, struct service *service, struct json wanted, struct buf *answer);
