/*
 * test/sim/disk.h - a backend in memory that loses power.
 * The n-th write from now is the last: it happens or does not, nobody hears of it, and until the power is back
 * every call fails. What was written before it and never synced is then lost, from some write on: a log keeps
 * its beginning. A write that was synced, and all before it, stays.
 *
 * Ownership. It outlives the stores that are opened over it; disk_free() is its end.
 */
#pragma once
#include "store/backend.h"

struct disk;

struct disk *disk_new(void);
void disk_free(struct disk *disk);
struct backend *disk_backend(struct disk *disk);

/* The write after which there is no power, counting from 1; 0: none. `happens`: that write is on disk. */
void disk_cut_at(struct disk *disk, uint64_t write, bool happens);
bool disk_is_off(const struct disk *disk);

/* `luck` says how many of the writes that were not synced have survived. */
void disk_power_on(struct disk *disk, uint64_t luck);
