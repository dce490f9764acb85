/* cli/zstd.c - wraps libzstd. */
#include <zstd.h>

#include "pack.h"

static bool read_some(struct pack *pack, const char **in, size_t *in_size, char *out, size_t *out_size,
                      bool end)
{
    ZSTD_inBuffer from = { *in, *in_size, 0 };
    ZSTD_outBuffer to = { out, *out_size, 0 };
    size_t result, before;

    (void)end;
    do { /* also when nothing is left to take: what was taken may not have come out yet */
        before = to.pos + from.pos;
        result = from.pos == from.size && pack->is_whole ? 0 : ZSTD_decompressStream(pack->state, &to, &from);
        if (ZSTD_isError(result))
            return false;
        pack->is_whole = result == 0;
    } while (to.pos < to.size && from.pos + to.pos > before);
    *in += from.pos;
    *in_size -= from.pos;
    *out_size = to.pos;
    return true;
}

static bool write_some(struct pack *pack, const char **in, size_t *in_size, char *out, size_t *out_size,
                       bool end)
{
    ZSTD_inBuffer from = { *in, *in_size, 0 };
    ZSTD_outBuffer to = { out, *out_size, 0 };
    size_t result = ZSTD_compressStream2(pack->state, &to, &from, end ? ZSTD_e_end : ZSTD_e_continue);

    *in += from.pos;
    *in_size -= from.pos;
    *out_size = to.pos;
    pack->is_whole = end && result == 0;
    return !ZSTD_isError(result);
}

static void reader_free(struct pack *pack)
{
    ZSTD_freeDStream(pack->state);
}

static void writer_free(struct pack *pack)
{
    ZSTD_freeCStream(pack->state);
}

bool zstd_reader(struct pack *pack)
{
    *pack = (struct pack){ ZSTD_createDStream(), read_some, reader_free, true };
    return pack->state;
}

bool zstd_writer(struct pack *pack)
{
    *pack = (struct pack){ ZSTD_createCStream(), write_some, writer_free, false };
    return pack->state;
}
