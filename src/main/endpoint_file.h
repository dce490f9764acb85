/*
 * src/main/endpoint_file.h - a file that says where the server listens (--write-endpoint), for programs that started it
 * with port 0. It is there, whole, from the first answer on, and goes with the server. It has one line: a URL.
 */
#pragma once
#include "base/op.h"

/* One that an earlier server left would be taken for this one's. */
enum status endpoint_file_clear(struct op *op, const char *file);

/* `address` is host:port, as the listener tells it; where that is every address of the machine, loopback is named. */
enum status endpoint_file_write(struct op *op, const char *file, const char *address);

/* Unless another server has written it meanwhile. */
void endpoint_file_remove(const char *file, const char *address);
