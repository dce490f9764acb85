/*
 * cli/stream.h - files that may be compressed, as their names say (.gz, .zst), read and written from begin to end.
 * "-" is standard input or output; what comes in is looked at, since it has no name.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct stream;

/*
 * NULL: it cannot be opened, which was told. A file that is made has its name when stream_close() has written all of it; until
 * then there is NAME.part, and what was there before stays.
 */
struct stream *stream_open(const char *path);
struct stream *stream_create(const char *path);

/* Up to `size` bytes; 0: the end. `failed` becomes true when the file cannot be read or makes no sense; it was told. */
size_t stream_read(struct stream *stream, char *to, size_t size, bool *failed);

/* False: it could not be written, which was told. */
bool stream_write(struct stream *stream, const char *data, size_t size);

/* How far we are in the file, and how large it is; 0: nobody knows. */
uint64_t stream_at(const struct stream *stream);
uint64_t stream_size(const struct stream *stream);

/* Writes what is left. False: that failed, which was told. NULL is welcome. */
bool stream_close(struct stream *stream);

/* Instead: what was written is not whole. A file goes, and standard output and pipes have what they have. */
void stream_abandon(struct stream *stream); /* NULL is welcome */
