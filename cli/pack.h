/* cli/pack.h - compression, whichever it is: bytes go in, bytes come out. gzip.c and zstd.c each wrap a library. */
#pragma once
#include <stdbool.h>
#include <stddef.h>

struct pack {
    void *state;
    /* Takes from *in and writes up to *out_size bytes, which becomes how many. `end`: nothing follows *in. False: the bytes make no sense. */
    bool (*run)(struct pack *pack, const char **in, size_t *in_size, char *out, size_t *out_size, bool end);
    void (*free)(struct pack *pack);
    bool is_whole; /* everything that was begun has ended */
};

/* False: there is no memory. */
bool gzip_reader(struct pack *pack);
bool gzip_writer(struct pack *pack);
bool zstd_reader(struct pack *pack);
bool zstd_writer(struct pack *pack);
