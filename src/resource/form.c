/*
 * src/resource/form.c - the two headers in which clients say what they can read.
 * x-ms-cosmos-supported-serialization-formats is a list of what a client can read: JsonText, CosmosBinary, HybridRow.
 * Of a list with a word that is none of these nothing is believed. x-ms-documentdb-content-serialization-format is the
 * older one, and names the one form that is wanted.
 */
#include "resource/form.h"

static const char *const formats[] = { "JsonText", "CosmosBinary", "HybridRow" };
static const char *const features[] = { "NumberArrays", "Base64Strings", "UInt64" };
enum {
    BINARY = 1,
    FORMATS = sizeof(formats) / sizeof(formats[0]),
    FEATURES = sizeof(features) / sizeof(features[0])
};

/* Which word it is, in any case; `count` when it is none. */
static size_t find(struct slice word, const char *const *words, size_t count)
{
    size_t i = 0;

    while (i < count && !slice_is_nocase(word, words[i]))
        i++;
    return i;
}

/* The part before the next separator; `list` goes on behind it, or becomes absent at its end. */
static struct slice next_part(struct slice *list, char separator)
{
    const char *found = memchr(list->data, separator, list->size);
    struct slice part = *list;

    if (found)
        part.size = (size_t)(found - list->data);
    *list = found ? slice_after(*list, part.size + 1) : (struct slice){ 0 };
    return slice_trim(part);
}

/* One format, with what else the client can read of it: CosmosBinary+UInt64. FORMATS when it is no such thing. */
static size_t format_of(struct slice word)
{
    size_t format = find(next_part(&word, '+'), formats, FORMATS);

    while (word.data)
        if (find(next_part(&word, '+'), features, FEATURES) == FEATURES || format != BINARY)
            return FORMATS;
    return format;
}

/* SDKs send one of the first two. */
static enum form form_of_formats(struct slice list)
{
    enum form form = FORM_TEXT;

    if (list.data && (slice_is(list, "CosmosBinary") || slice_is(list, "JsonText,CosmosBinary")))
        return FORM_BINARY;
    while (list.data) {
        size_t format = format_of(next_part(&list, ','));

        if (format == FORMATS)
            return FORM_TEXT;
        if (format == BINARY)
            form = FORM_BINARY;
    }
    return form;
}

static struct slice wanted_format(const struct request *request)
{
    return slice_trim(request->header[HEADER_CONTENT_FORMAT]);
}

enum form form_of_list(const struct call *call)
{
    struct slice wanted = wanted_format(call->request);

    return wanted.data && slice_is_nocase(wanted, formats[BINARY]) ? FORM_BINARY : FORM_TEXT;
}

enum form form_of_answer(const struct call *call)
{
    if (wanted_format(call->request).size)
        return form_of_list(call);
    return form_of_formats(call_header(call, HEADER_SERIALIZATION_FORMATS));
}

enum status form_check(struct op *op, const struct request *request)
{
    struct slice wanted = wanted_format(request);
    size_t format = find(wanted, formats, FORMATS);

    if (wanted.size == 0 || format <= BINARY)
        return ST_OK;
    if (format < FORMATS)
        return op_fail(op, ST_NOT_BUILT,
                       "Answers are not written as HybridRow. docs/compat.md lists what is.");
    return op_fail(
        op, ST_BAD_HEADER,
        "Value '%.*s' specified for the header 'x-ms-documentdb-content-serialization-format' is invalid. ",
        wanted.size > 100 ? 100 : (int)wanted.size, wanted.data);
}
