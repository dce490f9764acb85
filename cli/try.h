/*
 * cli/try.h - orrery advise dbs/x --try PLAN.json: what a changed model would cost.
 * A database of its own gets every container of the plan twice, as it is and as planned, with the same items. What was recorded of
 * the workload is asked of both, as far as it can be, and both sides are told. Of what the plan embeds in others, the planned side
 * is the owners'. The database is removed at the end.
 */
#pragma once
#include "options.h"

int try_command(const struct options *options);
