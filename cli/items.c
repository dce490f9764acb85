/* cli/items.c - the items of a file. csv_items.c makes them of rows. */
#include <ctype.h>
#include <orrery.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "connect.h"
#include "csv_items.h"
#include "items.h"
#include "stream.h"

enum { PIECE_BYTES = 256 << 10 };
enum form { FORM_LINES, FORM_JSON, FORM_CSV };

struct items {
    struct stream *stream;
    char *name;
    enum form form;
    struct text buffer; /* what was read and is not used yet begins at `at` */
    size_t at;
    uint64_t line; /* that `at` is in, from 1 */
    bool file_ended, in_array, after_value, failed;
    struct csv_items *csv;
};

/* ---- bytes */

/* One more piece of the file. False: there is none. */
static bool more(struct items *items)
{
    size_t got;

    if (items->file_ended)
        return false;
    if (items->at > PIECE_BYTES) { /* what is used makes room */
        memmove(items->buffer.data, items->buffer.data + items->at, items->buffer.size - items->at + 1);
        items->buffer.size -= items->at;
        items->at = 0;
    }
    text_reserve(&items->buffer, PIECE_BYTES);
    got = stream_read(items->stream, items->buffer.data + items->buffer.size, PIECE_BYTES, &items->failed);
    items->buffer.size += got;
    items->buffer.data[items->buffer.size] = '\0';
    items->file_ended = got == 0;
    return got > 0;
}

static bool at_end(struct items *items)
{
    return items->at == items->buffer.size && !more(items);
}

static void use(struct items *items, size_t size)
{
    for (size_t i = 0; i < size; i++)
        items->line += items->buffer.data[items->at + i] == '\n';
    items->at += size;
}

static void skip_blanks(struct items *items)
{
    while (!at_end(items)) {
        size_t blanks = strspn(items->buffer.data + items->at, " \t\r\n");

        if (blanks == 0)
            return;
        use(items, blanks);
    }
}

/* ---- one item */

static enum item_result next_line(struct items *items, struct item *item)
{
    const char *end;
    size_t looked = 0;

    skip_blanks(items);
    if (at_end(items))
        return items->failed ? ITEM_FAILED : ITEM_END;
    while (!(end = memchr(items->buffer.data + items->at + looked, '\n',
                          items->buffer.size - items->at - looked))) {
        looked = items->buffer.size - items->at;
        if (looked > ITEM_BYTES_MAX || !more(items))
            break;
    }
    if (items->failed)
        return ITEM_FAILED;
    item->text = items->buffer.data + items->at;
    item->size = end ? (size_t)(end - item->text) : items->buffer.size - items->at;
    item->line = items->line;
    if (!end && looked > ITEM_BYTES_MAX) {
        tell("%s, line %llu: a line of more than %d MB is no item", items->name,
             (unsigned long long)item->line, ITEM_BYTES_MAX >> 20);
        return ITEM_FAILED;
    }
    use(items, item->size);
    while (item->size && isspace((unsigned char)item->text[item->size - 1]))
        item->size--;
    return ITEM_FOUND;
}

/* How far a value goes, which stands at the begin of the text; 0: not as far as this. */
static size_t value_size(const char *text, size_t size)
{
    size_t depth = 0;
    bool in_string = false;

    for (size_t i = 0; i < size; i++) {
        char byte = text[i];

        if (in_string && byte == '\\') {
            i++;
        } else if (byte == '"') {
            in_string = !in_string;
            if (!in_string && depth == 0)
                return i + 1;
        } else if (in_string) {
            continue;
        } else if (byte == '{' || byte == '[') {
            depth++;
        } else if (byte == '}' || byte == ']') {
            if (depth == 0)
                return i;
            if (--depth == 0)
                return i + 1;
        } else if (depth == 0 && (byte == ',' || isspace((unsigned char)byte))) {
            return i;
        }
    }
    return 0;
}

static enum item_result stray(struct items *items)
{
    tell("%s, line %llu: this is no JSON", items->name, (unsigned long long)items->line);
    return ITEM_FAILED;
}

/* In an array: a comma between values, and the bracket at its end. ITEM_FOUND: a value follows. */
static enum item_result between(struct items *items)
{
    char byte;

    skip_blanks(items);
    if (at_end(items))
        return items->in_array && !items->failed ? stray(items) : items->failed ? ITEM_FAILED : ITEM_END;
    byte = items->buffer.data[items->at];
    if (!items->in_array)
        return ITEM_FOUND;
    if (byte == ']') {
        use(items, 1);
        items->in_array = false;
        skip_blanks(items);
        return at_end(items) && !items->failed ? ITEM_END : stray(items);
    }
    if (items->after_value) {
        if (byte != ',')
            return stray(items);
        use(items, 1);
        skip_blanks(items);
        items->after_value = false;
        return at_end(items) || strchr(",]", items->buffer.data[items->at]) ? stray(items) : ITEM_FOUND;
    }
    return ITEM_FOUND;
}

static enum item_result next_value(struct items *items, struct item *item)
{
    enum item_result result = between(items);
    size_t size = 0;

    if (result != ITEM_FOUND)
        return result;
    while ((size = value_size(items->buffer.data + items->at, items->buffer.size - items->at)) == 0)
        if (items->buffer.size - items->at > ITEM_BYTES_MAX || !more(items))
            break;
    if (items->failed)
        return ITEM_FAILED;
    if (size == 0 && (items->in_array || items->buffer.size - items->at > ITEM_BYTES_MAX))
        return stray(items);
    item->text = items->buffer.data + items->at;
    item->size = size ? size : items->buffer.size - items->at;
    item->line = items->line;
    use(items, item->size);
    items->after_value = true;
    return ITEM_FOUND;
}

/* ---- CSV */

static enum item_result next_row(struct items *items, struct item *item)
{
    enum item_result result;

    for (;;) {
        const char *from = items->buffer.data + items->at;
        bool last = at_end(items);

        if (items->failed)
            return ITEM_FAILED;
        from = items->buffer.data + items->at;
        if (csv_items_take(items->csv, &from, items->buffer.data + items->buffer.size, last, item, &result)) {
            items->at = (size_t)(from - items->buffer.data);
            return result;
        }
        items->at = (size_t)(from - items->buffer.data);
    }
}

/* ---- which form */

/* The name without what says that it is compressed ends so. */
static bool is_named(const char *path, const char *end)
{
    size_t size = strlen(path), tail = strlen(end);

    if (size > 3 && strcmp(path + size - 3, ".gz") == 0)
        size -= 3;
    else if (size > 4 && strcmp(path + size - 4, ".zst") == 0)
        size -= 4;
    return size >= tail && strncasecmp(path + size - tail, end, tail) == 0;
}

/* A file that begins with an object whose first line is one is of lines; otherwise its values may have any shape. */
static enum form look(struct items *items)
{
    const char *begin, *end;
    orrery_json *json = NULL;
    bool whole;

    skip_blanks(items);
    if (at_end(items))
        return FORM_LINES;
    begin = items->buffer.data + items->at;
    if (*begin == '[')
        return FORM_JSON;
    end = memchr(begin, '\n', items->buffer.size - items->at);
    whole = orrery_json_parse(begin, end ? (size_t)(end - begin) : items->buffer.size - items->at, &json) ==
            ORRERY_OK;
    orrery_json_free(json);
    return whole || *begin != '{' ? FORM_LINES : FORM_JSON;
}

static bool choose_form(struct items *items, const char *path, const char *format)
{
    if (format ? strcmp(format, "csv") == 0 : is_named(path, ".csv"))
        items->form = FORM_CSV;
    else if (format ? strcmp(format, "jsonl") == 0 : is_named(path, ".jsonl") || is_named(path, ".ndjson"))
        items->form = FORM_LINES;
    else if (format && strcmp(format, "json") == 0)
        items->form = FORM_JSON;
    else if (!format)
        items->form = look(items);
    else {
        tell("no format named %s: json, jsonl or csv", format);
        return false;
    }
    return true;
}

static void begin(struct items *items)
{
    while (items->buffer.size < 3 && more(items))
        ;
    if (items->buffer.size >= 3 && memcmp(items->buffer.data, "\xEF\xBB\xBF", 3) == 0)
        items->at = 3; /* a mark that some programs begin UTF-8 with */
}

struct items *items_open(const char *path, const char *format)
{
    struct stream *stream = stream_open(path);
    struct items *items;

    if (!stream)
        return NULL;
    items = must_alloc(sizeof(*items));
    items->stream = stream;
    items->name = must_copy(path, strlen(path));
    items->line = 1;
    text_puts(&items->buffer, "");
    begin(items);
    if (!choose_form(items, path, format)) {
        items_close(items);
        return NULL;
    }
    if (items->form == FORM_CSV)
        items->csv = csv_items_new(items->name);
    if (items->form == FORM_JSON) {
        skip_blanks(items);
        items->in_array = !at_end(items) && items->buffer.data[items->at] == '[';
        if (items->in_array)
            use(items, 1);
    }
    return items;
}

enum item_result items_next(struct items *items, struct item *item)
{
    *item = (struct item){ 0 };
    if (items->form == FORM_CSV)
        return next_row(items, item);
    return items->form == FORM_LINES ? next_line(items, item) : next_value(items, item);
}

void items_close(struct items *items)
{
    if (!items)
        return;
    csv_items_free(items->csv);
    stream_close(items->stream);
    text_free(&items->buffer);
    free(items->name);
    free(items);
}

uint64_t items_at(const struct items *items)
{
    return stream_at(items->stream);
}

uint64_t items_size(const struct items *items)
{
    return stream_size(items->stream);
}
