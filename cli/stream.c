/* cli/stream.c - files, compressed or not. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "connect.h"
#include "pack.h"
#include "stream.h"
#include "text.h"

enum { BUFFER_BYTES = 256 << 10 };

struct stream {
    int file;
    char *name;
    char *beside; /* of a writer: the file that takes the name when it is whole; NULL: there is none */
    bool writes, is_packed, at_end, failed;
    struct pack pack;
    char *buffer; /* of a reader: bytes of the file; of a writer: what goes there next */
    const char *at;
    size_t left; /* of a reader: behind `at`; of a writer: how much is in the buffer */
    uint64_t moved, size;
};

static bool ends_with(const char *text, const char *end)
{
    size_t size = strlen(text), tail = strlen(end);

    return size >= tail && strcmp(text + size - tail, end) == 0;
}

static struct stream *stream_new(const char *path, int file, bool writes)
{
    struct stream *stream = must_alloc(sizeof(*stream));

    stream->file = file;
    stream->name = must_copy(path, strlen(path));
    stream->writes = writes;
    stream->buffer = must_alloc(BUFFER_BYTES);
    stream->at = stream->buffer;
    return stream;
}

/* ---- reading */

static bool refill(struct stream *stream)
{
    ssize_t got;

    do
        got = read(stream->file, stream->buffer, BUFFER_BYTES);
    while (got < 0 && errno == EINTR && !interrupted());
    if (got < 0) {
        tell("%s cannot be read: %s", stream->name, strerror(errno));
        stream->failed = true;
        return false;
    }
    stream->at = stream->buffer;
    stream->left = (size_t)got;
    stream->moved += (uint64_t)got;
    stream->at_end = got == 0;
    return got > 0;
}

static void choose_reader(struct stream *stream, const char *path)
{
    bool named = strcmp(path, "-") != 0;
    bool gzip = named ? ends_with(path, ".gz") : stream->left >= 2 && memcmp(stream->at, "\x1f\x8b", 2) == 0;
    bool zstd =
        named ? ends_with(path, ".zst") : stream->left >= 4 && memcmp(stream->at, "\x28\xb5\x2f\xfd", 4) == 0;

    stream->is_packed = gzip || zstd;
    if ((gzip && !gzip_reader(&stream->pack)) || (zstd && !zstd_reader(&stream->pack))) {
        tell("out of memory");
        stream->failed = true;
    }
}

struct stream *stream_open(const char *path)
{
    int file = strcmp(path, "-") == 0 ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC);
    struct stream *stream;
    struct stat about;

    if (file < 0) {
        tell("%s cannot be read: %s", path, strerror(errno));
        return NULL;
    }
    stream = stream_new(path, file, false);
    if (fstat(file, &about) == 0 && S_ISREG(about.st_mode))
        stream->size = (uint64_t)about.st_size;
    refill(stream);
    choose_reader(stream, path);
    return stream;
}

static size_t read_packed(struct stream *stream, char *to, size_t size)
{
    size_t got;

    do {
        if (stream->left == 0 && !stream->at_end)
            refill(stream);
        got = size;
        if (!stream->pack.run(&stream->pack, &stream->at, &stream->left, to, &got, stream->at_end) ||
            (stream->at_end && got == 0 && !stream->pack.is_whole)) {
            if (!stream->failed)
                tell("%s is broken: its compressed data %s", stream->name,
                     stream->at_end ? "ends too early" : "makes no sense");
            stream->failed = true;
        }
    } while (got == 0 && !stream->at_end && !stream->failed);
    return stream->failed ? 0 : got;
}

size_t stream_read(struct stream *stream, char *to, size_t size, bool *failed)
{
    size_t got = 0;

    if (!stream->failed && stream->is_packed) {
        got = read_packed(stream, to, size);
    } else if (!stream->failed && (stream->left || refill(stream))) {
        got = stream->left < size ? stream->left : size;
        memcpy(to, stream->at, got);
        stream->at += got;
        stream->left -= got;
    }
    *failed = stream->failed;
    return got;
}

/* ---- writing */

static bool put(struct stream *stream, const char *data, size_t size)
{
    while (size && !stream->failed) {
        ssize_t done = write(stream->file, data, size);

        if (done < 0 && errno == EINTR)
            continue;
        if (done < 0) {
            tell("%s cannot be written: %s", stream->name, strerror(errno));
            stream->failed = true;
            break;
        }
        data += done;
        size -= (size_t)done;
        stream->moved += (uint64_t)done;
    }
    return !stream->failed;
}

/* A name for a new file, which is not to be there before it is whole. NULL: the path is no file, such as a pipe. */
static char *name_beside(const char *path)
{
    struct text name = { 0 };
    struct stat there;

    if (stat(path, &there) == 0 ? !S_ISREG(there.st_mode) : errno != ENOENT)
        return NULL;
    text_printf(&name, "%s.part", path);
    return name.data;
}

static bool choose_writer(struct stream *stream, const char *path)
{
    stream->is_packed = ends_with(path, ".gz") || ends_with(path, ".zst");
    if (!stream->is_packed)
        return true;
    return ends_with(path, ".gz") ? gzip_writer(&stream->pack) : zstd_writer(&stream->pack);
}

struct stream *stream_create(const char *path)
{
    bool is_named = strcmp(path, "-") != 0;
    char *beside = is_named ? name_beside(path) : NULL;
    int file = is_named ? open(beside ? beside : path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666)
                        : STDOUT_FILENO;
    struct stream *stream;

    if (file < 0) {
        tell("%s cannot be written: %s", path, strerror(errno));
        free(beside);
        return NULL;
    }
    stream = stream_new(path, file, true);
    stream->beside = beside;
    if (!choose_writer(stream, path)) {
        tell("out of memory");
        stream->failed = true;
    }
    return stream;
}

static bool write_packed(struct stream *stream, const char *data, size_t size, bool end)
{
    size_t got;

    do {
        got = BUFFER_BYTES;
        if (!stream->pack.run(&stream->pack, &data, &size, stream->buffer, &got, end)) {
            tell("%s cannot be compressed", stream->name);
            stream->failed = true;
        }
    } while (!stream->failed && put(stream, stream->buffer, got) &&
             (size || (end && !stream->pack.is_whole)));
    return !stream->failed;
}

bool stream_write(struct stream *stream, const char *data, size_t size)
{
    if (stream->failed)
        return false;
    if (stream->is_packed)
        return write_packed(stream, data, size, false);
    if (stream->left + size > BUFFER_BYTES) {
        put(stream, stream->buffer, stream->left);
        stream->left = 0;
    }
    if (size > BUFFER_BYTES)
        return put(stream, data, size);
    memcpy(stream->buffer + stream->left, data, size);
    stream->left += size;
    return !stream->failed;
}

/* ---- both */

uint64_t stream_at(const struct stream *stream)
{
    return stream->moved - (stream->writes ? 0 : stream->left);
}

uint64_t stream_size(const struct stream *stream)
{
    return stream->size;
}

static void write_rest(struct stream *stream)
{
    if (stream->is_packed)
        write_packed(stream, "", 0, true);
    else
        put(stream, stream->buffer, stream->left);
}

/* What is whole takes its name, and what is not goes: a file of that name stays as it was. */
static bool settle_name(const struct stream *stream)
{
    if (!stream->beside || (!stream->failed && rename(stream->beside, stream->name) == 0))
        return true;
    if (!stream->failed)
        tell("%s cannot be written: %s", stream->name, strerror(errno));
    unlink(stream->beside);
    return false;
}

static bool end(struct stream *stream)
{
    bool good;

    if (stream->is_packed && stream->pack.free)
        stream->pack.free(&stream->pack);
    if (stream->file > STDERR_FILENO && close(stream->file) != 0 && stream->writes && !stream->failed) {
        tell("%s cannot be written: %s", stream->name, strerror(errno));
        stream->failed = true;
    }
    good = settle_name(stream) && !stream->failed;
    free(stream->name);
    free(stream->beside);
    free(stream->buffer);
    free(stream);
    return good;
}

bool stream_close(struct stream *stream)
{
    if (!stream)
        return true;
    if (stream->writes && !stream->failed)
        write_rest(stream);
    return end(stream);
}

void stream_abandon(struct stream *stream)
{
    if (!stream)
        return;
    if (!stream->beside && !stream->failed)
        write_rest(stream);
    stream->failed = true;
    end(stream);
}
