/* cli/lines.c - libedit: lines with editing, history and completion. */
#include <ctype.h>
#include <histedit.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lines.h"
#include "text.h"

enum { HISTORY_MAX = 1000, SHOWN_MAX = 100 };

struct candidates {
    char **word;
    size_t count;
    const char *prefix;
};

struct lines {
    EditLine *edit;
    History *history;
    const char *path, *prompt;
    lines_completer *completer;
    void *context;
    bool interrupted;
};

/* ---- completion */

void candidates_add(struct candidates *candidates, const char *word)
{
    if (strncasecmp(word, candidates->prefix, strlen(candidates->prefix)) != 0)
        return;
    for (size_t i = 0; i < candidates->count; i++)
        if (strcmp(candidates->word[i], word) == 0)
            return;
    candidates->word = must_resize(candidates->word, (candidates->count + 1) * sizeof(char *));
    candidates->word[candidates->count++] = must_copy(word, strlen(word));
}

static void candidates_free(struct candidates *candidates)
{
    for (size_t i = 0; i < candidates->count; i++)
        free(candidates->word[i]);
    free(candidates->word);
}

/* How many bytes all of them begin with. */
static size_t common_size(const struct candidates *candidates)
{
    size_t common = strlen(candidates->word[0]);

    for (size_t i = 1; i < candidates->count; i++)
        for (size_t at = 0; at < common; at++)
            if (candidates->word[i][at] != candidates->word[0][at])
                common = at;
    return common;
}

static int compare(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static void show(struct candidates *candidates)
{
    qsort(candidates->word, candidates->count, sizeof(char *), compare);
    putchar('\n');
    for (size_t i = 0; i < candidates->count && i < SHOWN_MAX; i++) {
        struct text safe = { 0 };

        text_safe(&safe, candidates->word[i], strlen(candidates->word[i]));
        printf("%s%s", i ? "  " : "", text_of(&safe));
        text_free(&safe);
    }
    printf("%s\n", candidates->count > SHOWN_MAX ? "  ..." : "");
    fflush(stdout);
}

static unsigned char insert(struct lines *lines, struct candidates *candidates, size_t typed)
{
    size_t common = common_size(candidates);
    struct text more = { 0 };
    unsigned char result = CC_REDISPLAY;

    if (common > typed || candidates->count == 1) {
        text_add(&more, candidates->word[0], common);
        if (candidates->count == 1 && more.data[more.size - 1] != '/')
            text_byte(&more, ' ');
        if (typed)
            el_deletestr(lines->edit, (int)typed); /* it may have been typed in other letters */
        el_insertstr(lines->edit, text_of(&more));
        result = CC_REFRESH;
    } else {
        show(candidates);
    }
    text_free(&more);
    return result;
}

/* A word is what links, paths and names of functions are made of. */
static bool is_word(char byte)
{
    return isalnum((unsigned char)byte) || (byte && strchr("_./\\@$-", byte)) || (byte & 0x80);
}

static unsigned char complete(EditLine *edit, int key)
{
    const LineInfo *info = el_line(edit);
    struct lines *lines = NULL;
    char *line = must_copy(info->buffer, (size_t)(info->cursor - info->buffer));
    char *word = line + strlen(line);
    struct candidates candidates = { 0 };
    unsigned char result = CC_ERROR;

    (void)key;
    el_get(edit, EL_CLIENTDATA, &lines);
    while (word > line && is_word(word[-1]))
        word--;
    candidates.prefix = word;
    lines->completer(lines->context, line, word, &candidates);
    if (candidates.count)
        result = insert(lines, &candidates, strlen(word));
    candidates_free(&candidates);
    free(line);
    return result;
}

/* ---- lines */

static char *prompt_of(EditLine *edit)
{
    struct lines *lines = NULL;

    el_get(edit, EL_CLIENTDATA, &lines);
    return (char *)lines->prompt;
}

static unsigned char give_up(EditLine *edit, int key)
{
    struct lines *lines = NULL;

    (void)key;
    el_get(edit, EL_CLIENTDATA, &lines);
    lines->interrupted = true;
    fputs("^C\n", stdout);
    return CC_NEWLINE;
}

static void bind_keys(struct lines *lines)
{
    el_set(lines->edit, EL_CLIENTDATA, lines);
    el_set(lines->edit, EL_EDITOR, "emacs");
    el_set(lines->edit, EL_PROMPT, prompt_of);
    el_set(lines->edit, EL_HIST, history, lines->history);
    /* by their wide names: of narrow ones libedit keeps copies that it never frees */
    el_wset(lines->edit, EL_ADDFN, L"orrery-complete", L"complete a word", complete);
    el_set(lines->edit, EL_BIND, "^I", "orrery-complete", NULL);
    el_wset(lines->edit, EL_ADDFN, L"orrery-give-up", L"begin anew", give_up);
    el_set(lines->edit, EL_BIND, "^C", "orrery-give-up", NULL);
    el_set(lines->edit, EL_BIND, "^R", "em-inc-search-prev", NULL);
    el_set(lines->edit, EL_SETTY, "-d", "-isig", NULL); /* Ctrl-C is a key while a line is typed */
}

struct lines *lines_open(const char *history_path, lines_completer *completer, void *context)
{
    struct lines *lines = must_alloc(sizeof(*lines));
    HistEvent event;

    lines->path = history_path;
    lines->completer = completer;
    lines->context = context;
    lines->prompt = "";
    lines->history = history_init();
    lines->edit = el_init("orrery", stdin, stdout, stderr);
    if (!lines->edit || !lines->history) {
        lines_close(lines);
        return NULL;
    }
    history(lines->history, &event, H_SETSIZE, HISTORY_MAX);
    history(lines->history, &event, H_SETUNIQUE, 1);
    if (lines->path)
        history(lines->history, &event, H_LOAD, lines->path);
    bind_keys(lines);
    return lines;
}

void lines_close(struct lines *lines)
{
    if (!lines)
        return;
    if (lines->edit)
        el_end(lines->edit);
    if (lines->history)
        history_end(lines->history);
    free(lines);
}

const char *lines_read(struct lines *lines, const char *prompt, bool *interrupted)
{
    const char *line;
    int size = 0;

    lines->prompt = prompt;
    lines->interrupted = false;
    el_set(lines->edit, EL_PREP_TERM, 1); /* before the prompt, so that no key comes between the two */
    line = el_gets(lines->edit, &size);
    *interrupted = lines->interrupted;
    return line && size > 0 ? line : NULL;
}

void lines_remember(struct lines *lines, const char *statement)
{
    char *line = must_copy(statement, strlen(statement));
    HistEvent event;

    for (char *at = line; *at; at++)
        if (*at == '\n')
            *at = ' ';
    history(lines->history, &event, H_ENTER, line);
    if (lines->path) {
        mode_t before = umask(077); /* it may hold what others must not read */

        history(lines->history, &event, H_SAVE, lines->path);
        umask(before);
    }
    free(line);
}
