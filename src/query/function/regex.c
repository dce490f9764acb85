/* src/query/function/regex.c - PCRE2: where its memory comes from, and how it is stopped. */
#define PCRE2_CODE_UNIT_WIDTH 8
#include <assert.h>
#include <pcre2.h>

#include "query/function/regex.h"

enum {
    PATTERN_BYTES_MAX = 64 * 1024,
    STEPS_MAX = 2 * 1000 * 1000, /* of PCRE2's own, from one place of the text */
    FRAMES_KB_MAX = 16 * 1024,   /* what it remembers in order to go back */
    WORK_OF_ITEM = 64,           /* an item of the pattern costs as much as 64 characters passed over */
    WORK_MAX = 1 << 27,
    WORK_PER_BYTE = 512,
};

/*
 * PCRE2's own limit starts anew at each place of the text and does not see how far an item runs, so
 * that a long text makes it worthless. It tells us before each item where it is: that is enough to count.
 */
struct meter {
    size_t work, work_max, at;
};

struct regex {
    struct slice pattern, flags;
    pcre2_code *code; /* NULL: the pattern is none */
    pcre2_match_data *found;
    pcre2_match_context *context;
    struct meter meter;
};

static void *allocate(size_t bytes, void *arena)
{
    return arena_try_alloc(arena, bytes);
}

static void forget(void *memory, void *arena)
{
    (void)memory, (void)arena; /* it goes with its arena */
}

static int count_work(pcre2_callout_block *block, void *context)
{
    struct meter *meter = context;
    size_t at = block->current_position;

    meter->work += WORK_OF_ITEM + (at > meter->at ? at - meter->at : meter->at - at);
    meter->at = at;
    return meter->work > meter->work_max ? PCRE2_ERROR_CALLOUT : 0;
}

static bool read_flags(struct slice flags, uint32_t *options)
{
    static const uint32_t meaning[256] = {
        ['i'] = PCRE2_CASELESS, ['m'] = PCRE2_MULTILINE, ['s'] = PCRE2_DOTALL, ['x'] = PCRE2_EXTENDED
    };

    for (size_t i = 0; i < flags.size; i++) {
        uint32_t option = meaning[(uint8_t)flags.data[i]];

        if (!option)
            return false;
        *options |= option;
    }
    return true;
}

/* False when there is no memory. A pattern that is none leaves `code` NULL. */
static bool compile_code(struct regex *regex, pcre2_general_context *memory)
{
    uint32_t options = PCRE2_UTF | PCRE2_UCP | PCRE2_NEVER_BACKSLASH_C | PCRE2_AUTO_CALLOUT;
    pcre2_compile_context *context = pcre2_compile_context_create(memory);
    PCRE2_SIZE where;
    int error;

    if (!context)
        return false;
    if (!read_flags(regex->flags, &options))
        return true;
    pcre2_set_max_pattern_length(context, PATTERN_BYTES_MAX);
    pcre2_set_newline(context, PCRE2_NEWLINE_LF);
    regex->code =
        pcre2_compile((PCRE2_SPTR)regex->pattern.data, regex->pattern.size, options, &error, &where, context);
    return regex->code || error != PCRE2_ERROR_HEAP_FAILED;
}

/* What searches need. */
static bool prepare(struct regex *regex, pcre2_general_context *memory)
{
    regex->found = pcre2_match_data_create_from_pattern(regex->code, memory);
    regex->context = pcre2_match_context_create(memory);
    if (!regex->found || !regex->context)
        return false;
    pcre2_set_match_limit(regex->context, STEPS_MAX);
    pcre2_set_heap_limit(regex->context, FRAMES_KB_MAX);
    pcre2_set_callout(regex->context, count_work, &regex->meter);
    return true;
}

static struct regex *compile(struct eval *eval, struct arena *arena, struct slice pattern, struct slice flags)
{
    pcre2_general_context *memory = pcre2_general_context_create(allocate, forget, arena);
    struct regex *regex = arena_try_alloc(arena, sizeof(*regex) + pattern.size + flags.size);
    char *text = (char *)(regex + 1);

    if (!memory || !regex)
        return eval_fail(eval, ST_QUERY_MEMORY), NULL;
    *regex = (struct regex){ .pattern = slice_make(text, pattern.size) };
    text = mempcpy(text, pattern.data, pattern.size);
    memcpy(text, flags.data, flags.size);
    regex->flags = slice_make(text, flags.size);
    if (!compile_code(regex, memory) || (regex->code && !prepare(regex, memory)))
        return eval_fail(eval, ST_QUERY_MEMORY), NULL;
    return regex;
}

/* The first row's pattern is kept; another one is compiled for its row alone. */
struct regex *regex_get(struct eval *eval, struct slice pattern, struct slice flags)
{
    struct regex *regex = *eval->memo;

    if (!regex)
        regex = *eval->memo = compile(eval, eval->kept, pattern, flags);
    else if (!slice_equal(regex->pattern, pattern) || !slice_equal(regex->flags, flags))
        regex = compile(eval, &eval->op->arena, pattern, flags);
    return regex && regex->code ? regex : NULL;
}

enum regex_answer regex_search(struct eval *eval, struct regex *regex, struct slice text, size_t from)
{
    enum status st;
    int found;

    regex->meter = (struct meter){ 0, WORK_MAX + WORK_PER_BYTE * text.size, from };
    found = pcre2_match(regex->code, (PCRE2_SPTR)text.data, text.size, from, from ? PCRE2_NO_UTF_CHECK : 0,
                        regex->found, regex->context);
    if (found > 0)
        return REGEX_FOUND;
    if (found == PCRE2_ERROR_NOMATCH)
        return REGEX_ABSENT;
    /* So much for one row: is there time for the next? */
    st = found == PCRE2_ERROR_NOMEMORY ? ST_QUERY_MEMORY : op_check(eval->op);
    if (st != ST_OK)
        eval_fail(eval, st);
    return REGEX_GAVE_UP;
}

bool regex_group(const struct regex *regex, size_t group, struct slice text, struct slice *found)
{
    const PCRE2_SIZE *place = pcre2_get_ovector_pointer(regex->found);

    assert(group < regex_group_count(regex));
    place += 2 * group;
    if (place[0] == PCRE2_UNSET || place[0] > place[1])
        return false; /* \K in a lookahead can put the end before the start */
    *found = slice_make(text.data + place[0], place[1] - place[0]);
    return true;
}

size_t regex_group_count(const struct regex *regex)
{
    return pcre2_get_ovector_count(regex->found);
}

bool regex_replace(struct eval *eval, struct regex *regex, struct slice text, struct slice replacement,
                   bool all, struct slice *result)
{
    uint32_t options =
        PCRE2_SUBSTITUTE_OVERFLOW_LENGTH | PCRE2_SUBSTITUTE_UNSET_EMPTY | (all ? PCRE2_SUBSTITUTE_GLOBAL : 0);
    PCRE2_SIZE size = text.size + replacement.size + 1;
    char *to = eval_alloc(eval, size);
    int made = PCRE2_ERROR_NOMEMORY;

    for (int attempt = 0; to && attempt < 2 && made == PCRE2_ERROR_NOMEMORY; attempt++) {
        if (attempt > 0)
            to = eval_alloc(eval, size); /* which is now known */
        regex->meter = (struct meter){ 0, WORK_MAX + WORK_PER_BYTE * text.size, 0 };
        made = to ? pcre2_substitute(regex->code, (PCRE2_SPTR)text.data, text.size, 0, options, regex->found,
                                     regex->context, (PCRE2_SPTR)replacement.data, replacement.size,
                                     (PCRE2_UCHAR *)to, &size)
                  : made;
    }
    if (made < 0 && op_check(eval->op) != ST_OK)
        eval_fail(eval, op_check(eval->op));
    *result = slice_make(to, made < 0 ? 0 : size);
    return made >= 0;
}
