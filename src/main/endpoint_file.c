/* src/main/endpoint_file.c - where the server listens, in a file that is written whole. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "main/directory.h"
#include "main/endpoint_file.h"

enum { LINE_SIZE = DIRECTORY_ADDRESS_SIZE + 16 };

/* Nobody can be sent to "every address". */
static void print_line(const char *address, char line[LINE_SIZE])
{
    const char *port = strrchr(address, ':');

    if (strncmp(address, "0.0.0.0:", 8) == 0)
        snprintf(line, LINE_SIZE, "http://127.0.0.1%s\n", port);
    else if (strncmp(address, "[::]:", 5) == 0)
        snprintf(line, LINE_SIZE, "http://[::1]%s\n", port);
    else
        snprintf(line, LINE_SIZE, "http://%s\n", address);
}

enum status endpoint_file_clear(struct op *op, const char *file)
{
    if (unlink(file) == 0 || errno == ENOENT)
        return ST_OK;
    return op_fail(op, ST_UNAVAILABLE, "cannot use %s: %s", file, strerror(errno));
}

enum status endpoint_file_write(struct op *op, const char *file, const char *address)
{
    char line[LINE_SIZE];
    struct buf fresh;
    bool written;
    FILE *out;

    print_line(address, line);
    buf_init(&fresh, &op->arena);
    buf_printf(&fresh, "%s.%d", file, (int)getpid());
    buf_byte(&fresh, '\0');
    out = fopen(fresh.data, "w");
    written = out && fputs(line, out) >= 0;
    if (out)
        written &= fclose(out) == 0;
    if (written && rename(fresh.data, file) == 0)
        return ST_OK;
    unlink(fresh.data);
    return op_fail(op, ST_UNAVAILABLE, "cannot write %s: %s", file, strerror(errno));
}

void endpoint_file_remove(const char *file, const char *address)
{
    char line[LINE_SIZE], found[LINE_SIZE] = "";
    FILE *in = fopen(file, "r");

    print_line(address, line);
    if (!in)
        return;
    if (fgets(found, sizeof(found), in) && strcmp(found, line) == 0)
        unlink(file);
    fclose(in);
}
