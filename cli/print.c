/* cli/print.c - formats of rows. table.c has the formats that need columns. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "connect.h"
#include "print.h"
#include "table.h"

static const char *const names[] = { "table", "json", "jsonl", "csv", "typed-csv" };

bool format_find(const char *name, enum format *format)
{
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (strcmp(name, names[i]) == 0) {
            *format = (enum format)i;
            return true;
        }
    return false;
}

const char *format_name(enum format format)
{
    return names[format];
}

void printer_open(struct printer *printer, FILE *out, enum format format)
{
    const char *no = getenv("NO_COLOR"), *kind = getenv("TERM");
    bool terminal = isatty(fileno(out));

    *printer = (struct printer){ .out = out, .format = format, .terminal = terminal };
    printer->colours = terminal && !(no && *no) && !(kind && strcmp(kind, "dumb") == 0);
    if (format == FORMAT_TABLE || format == FORMAT_CSV || format == FORMAT_TYPED_CSV)
        printer->columns = columns_new();
}

/* Behind a string: whether a colon follows, so that it is a name. */
static bool is_name(const char *at, const char *end)
{
    while (at < end && (*at == ' ' || *at == '\n' || *at == '\t' || *at == '\r'))
        at++;
    return at < end && *at == ':';
}

static const char *string_end(const char *at, const char *end)
{
    for (at++; at < end && *at != '"'; at++)
        if (*at == '\\')
            at++;
    return at < end ? at + 1 : end;
}

static void new_line(struct text *to, size_t depth)
{
    text_byte(to, '\n');
    for (size_t i = 0; i < depth; i++)
        text_puts(to, "  ");
}

static void print_string(struct text *to, const char *at, const char *end, const char *rest, bool colours)
{
    if (colours)
        text_puts(to, is_name(end, rest) ? "\033[34m" : "\033[32m");
    for (; at < end; at++) /* a delete character may stand in JSON as it is; no other control character may */
        if (*at == 0x7F)
            text_puts(to, "\\u007f");
        else
            text_byte(to, *at);
    if (colours)
        text_puts(to, "\033[0m");
}

void print_indented(struct text *to, const char *json, size_t size, bool colours)
{
    const char *at = json, *end = json + size;
    size_t depth = 0;

    while (at < end) {
        if (*at == '"') {
            const char *last = string_end(at, end);

            print_string(to, at, last, end, colours);
            at = last;
            continue;
        }
        if ((*at == '}' || *at == ']') && depth) {
            if (at[-1] != '{' && at[-1] != '[')
                new_line(to, depth - 1);
            depth--;
            text_byte(to, *at);
        } else if (*at == '{' || *at == '[') {
            text_byte(to, *at);
            if (at + 1 < end && at[1] != '}' && at[1] != ']')
                new_line(to, depth + 1);
            depth++;
        } else if (*at == ',') {
            text_byte(to, ',');
            new_line(to, depth);
        } else if (*at == ':') {
            text_puts(to, ": ");
        } else if (*at != ' ' && *at != '\n' && *at != '\t' && *at != '\r') {
            text_byte(to, *at);
        }
        at++;
    }
}

static void print_json(struct printer *printer, const char *json, size_t size)
{
    fputs(printer->rows == 1 ? "[\n" : ",\n", printer->out);
    text_empty(&printer->work);
    print_indented(&printer->work, json, size, printer->colours);
    fwrite(text_of(&printer->work), 1, printer->work.size, printer->out);
}

void printer_row(struct printer *printer, const char *json, size_t size)
{
    printer->rows++;
    if (printer->format == FORMAT_JSON) {
        print_json(printer, json, size);
    } else if (printer->format == FORMAT_LINES) {
        fwrite(json, 1, size, printer->out);
        putc('\n', printer->out);
    } else {
        columns_row(printer, json, size);
    }
}

bool printer_close(struct printer *printer)
{
    bool written;

    if (printer->format == FORMAT_JSON)
        fputs(printer->rows ? "\n]\n" : "[]\n", printer->out);
    else if (printer->columns)
        columns_end(printer);
    columns_free(printer->columns);
    text_free(&printer->work);
    written = fflush(printer->out) == 0 && !ferror(printer->out);
    if (!written)
        tell("the rows could not be written");
    if (printer->left_out)
        tell("%zu values were left out: their columns are not in the first %d rows. jsonl has all of them",
             printer->left_out, PRINT_ROWS_HELD);
    return written && !printer->left_out;
}
