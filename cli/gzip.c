/* cli/gzip.c - wraps zlib: files that gzip makes and takes. */
#include <stdlib.h>
#include <zlib.h>

#include "pack.h"
#include "text.h"

enum { WINDOW_BITS = 15, AS_GZIP = 16, LEVEL = 6, MEMORY_LEVEL = 8 };

static void point_at(z_stream *z, const char *in, size_t in_size, char *out, size_t out_size)
{
    z->next_in = (Bytef *)in;
    z->avail_in = (uInt)in_size;
    z->next_out = (Bytef *)out;
    z->avail_out = (uInt)out_size;
}

/* A file may be several members, one behind another. */
static bool read_some(struct pack *pack, const char **in, size_t *in_size, char *out, size_t *out_size,
                      bool end)
{
    z_stream *z = pack->state;
    int result = Z_OK;

    (void)end;
    point_at(z, *in, *in_size, out, *out_size);
    while (result == Z_OK && z->avail_in && z->avail_out) {
        pack->is_whole = false;
        result = inflate(z, Z_NO_FLUSH);
        if (result == Z_STREAM_END) {
            pack->is_whole = true;
            result = inflateReset(z);
        }
    }
    *in += *in_size - z->avail_in;
    *in_size = z->avail_in;
    *out_size -= z->avail_out;
    return result == Z_OK || result == Z_BUF_ERROR;
}

static bool write_some(struct pack *pack, const char **in, size_t *in_size, char *out, size_t *out_size,
                       bool end)
{
    z_stream *z = pack->state;
    int result;

    point_at(z, *in, *in_size, out, *out_size);
    result = deflate(z, end ? Z_FINISH : Z_NO_FLUSH);
    *in += *in_size - z->avail_in;
    *in_size = z->avail_in;
    *out_size -= z->avail_out;
    pack->is_whole = result == Z_STREAM_END;
    return result == Z_OK || result == Z_STREAM_END || result == Z_BUF_ERROR;
}

static void reader_free(struct pack *pack)
{
    inflateEnd(pack->state);
    free(pack->state);
}

static void writer_free(struct pack *pack)
{
    deflateEnd(pack->state);
    free(pack->state);
}

bool gzip_reader(struct pack *pack)
{
    *pack = (struct pack){ must_alloc(sizeof(z_stream)), read_some, reader_free, true };
    return inflateInit2(pack->state, WINDOW_BITS + AS_GZIP) == Z_OK;
}

bool gzip_writer(struct pack *pack)
{
    *pack = (struct pack){ must_alloc(sizeof(z_stream)), write_some, writer_free, false };
    return deflateInit2(pack->state, LEVEL, Z_DEFLATED, WINDOW_BITS + AS_GZIP, MEMORY_LEVEL,
                        Z_DEFAULT_STRATEGY) == Z_OK;
}
