/* src/store/gather.c - counts of who was on the way, and of waits in vain. */
#include <assert.h>

#include "store/gather.h"

enum { VAIN_MAX = 8 }; /* then one group in 256 is held back */

void gather_wrote(struct gather *gather, size_t written, size_t waiting, int64_t write_us)
{
    gather->expected = written + waiting;
    gather->limit_us = write_us < GATHER_WRITE_US_MIN ? 0 : write_us / GATHER_SHARE;
    if (gather->limit_us > GATHER_US_MAX)
        gather->limit_us = GATHER_US_MAX;
}

bool gather_holds(struct gather *gather, size_t waiting)
{
    if (waiting >= gather->expected || gather->limit_us == 0)
        return false;
    if (gather->skipped == 0)
        return true;
    gather->skipped--;
    return false;
}

void gather_held(struct gather *gather, bool all_came)
{
    assert(gather->skipped == 0); /* else it would not have been */
    if (all_came) {
        gather->vain = 0;
        return;
    }
    if (gather->vain < VAIN_MAX)
        gather->vain++;
    gather->skipped = (1u << gather->vain) - 1;
}
