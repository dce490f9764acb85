/* src/words/list.c - the texts of a keyword, parted into layers by how much it adds to each. */
#include <assert.h>
#include <stdlib.h>

#include "base/heap.h"
#include "text/score.h"
#include "words/list.h"

enum {
    LAYER_MIN = 64, /* fewer are not worth one */
    LAYER_PART =
        4, /* each layer, with those before it, has so many times as many texts as those before it alone */
    LEVELS = 1024,    /* by which texts are told apart */
    FIRST_TEXTS = 64, /* room to begin with */
};

struct word_list *word_list_new(struct account *account)
{
    struct word_list *list = heap_allocate(sizeof(*list));

    list->claim = (struct claim){ .account = account, .holder = HOLDER_WORDS };
    list->users = 1;
    return list;
}

void word_list_free(struct word_list *list)
{
    if (!list)
        return;
    claim_less(&list->claim, list->claim.bytes);
    free(list->text);
    free((char *)list->key.data);
    free(list);
}

static bool grow(struct word_list *list)
{
    size_t capacity = list->capacity ? 2 * list->capacity : FIRST_TEXTS;

    if (!claim_more(&list->claim, (capacity - list->capacity) * sizeof(*list->text)))
        return false;
    list->text = heap_grow(list->text, capacity * sizeof(*list->text));
    list->capacity = capacity;
    return true;
}

bool word_list_add(struct word_list *list, const struct word_text *text)
{
    assert(list->layer_count == 0); /* it is not closed */
    if (list->count == list->capacity && !grow(list))
        return false;
    list->text[list->count++] = *text;
    list->words += text->length;
    return true;
}

/* ---- layers ---- */

static double added_to(const struct word_list *list, const struct word_text *text)
{
    return text_added(1, text->frequency, text_damping(1, list->average, text->length));
}

/* The most that a keyword of rarity 1 adds is below k1 + 1. */
static size_t level_of(const struct word_list *list, const struct word_text *text)
{
    static const double most = 2.2;
    double level = LEVELS * (1 - added_to(list, text) / most);

    return level < 0 ? 0 : level < LEVELS - 1 ? (size_t)level : LEVELS - 1;
}

/* How many texts the layers before the last have: 1/1024, 1/256, ... of all. */
static size_t layer_end(const struct word_list *list, size_t layer)
{
    size_t end = list->count;

    for (size_t i = layer; i + 1 < WORD_LAYERS_MAX; i++)
        end /= LAYER_PART;
    return end;
}

/* Which level is the last of each layer: a level is not parted. */
static void choose_levels(struct word_list *list, const size_t *count, size_t *last)
{
    size_t level = 0, texts = 0;

    for (size_t i = 0; i < WORD_LAYERS_MAX && level < LEVELS; i++) {
        size_t wanted = layer_end(list, i), before = texts;

        if (wanted < before + LAYER_MIN && i + 1 < WORD_LAYERS_MAX)
            continue;
        while (level < LEVELS && texts < wanted)
            texts += count[level++];
        if (texts == before)
            continue;
        list->layer[list->layer_count] = (struct word_layer){ .first = before, .count = texts - before };
        last[list->layer_count++] = level - 1;
    }
}

static int by_number(const void *a, const void *b)
{
    const struct word_text *x = a, *y = b;

    return x->number < y->number ? -1 : x->number > y->number;
}

static void sort_layer(struct word_list *list, struct word_layer *layer)
{
    qsort(list->text + layer->first, layer->count, sizeof(*list->text), by_number);
    for (size_t i = layer->first; i < layer->first + layer->count; i++) {
        double added = added_to(list, &list->text[i]);

        layer->most = added > layer->most ? added : layer->most;
    }
}

static size_t layer_of_level(const struct word_list *list, const size_t *last, size_t level)
{
    size_t layer = 0;

    while (layer + 1 < list->layer_count && level > last[layer])
        layer++;
    return layer;
}

/* As many texts as there are have the room of a list that is not added to. */
static void part(struct word_list *list, const size_t *last)
{
    struct word_text *text = heap_allocate_unset((list->count + 1) * sizeof(*text));
    size_t next[WORD_LAYERS_MAX] = { 0 };

    for (size_t i = 0; i < list->layer_count; i++)
        next[i] = list->layer[i].first;
    for (size_t i = 0; i < list->count; i++)
        text[next[layer_of_level(list, last, level_of(list, &list->text[i]))]++] = list->text[i];
    free(list->text);
    list->text = text;
    claim_less(&list->claim, (list->capacity - list->count) * sizeof(*text));
    list->capacity = list->count;
}

void word_list_close(struct word_list *list, double average)
{
    size_t count[LEVELS] = { 0 }, last[WORD_LAYERS_MAX] = { 0 };

    list->average = average > 0 ? average : 1;
    for (size_t i = 0; i < list->count; i++)
        count[level_of(list, &list->text[i])]++;
    choose_levels(list, count, last);
    part(list, last);
    for (size_t i = 0; i < list->layer_count; i++)
        sort_layer(list, &list->layer[i]);
}

/* ---- reading ---- */

static const struct word_text *find_in(const struct word_text *text, size_t count, uint64_t number)
{
    while (count) {
        size_t half = count / 2;

        if (text[half].number == number)
            return &text[half];
        if (text[half].number < number) {
            text += half + 1;
            count -= half + 1;
        } else {
            count = half;
        }
    }
    return NULL;
}

const struct word_text *word_list_find(const struct word_list *list, uint64_t number)
{
    for (size_t i = list->layer_count; i > 0; i--) {
        const struct word_layer *layer = &list->layer[i - 1];
        const struct word_text *found = find_in(list->text + layer->first, layer->count, number);

        if (found)
            return found;
    }
    return NULL;
}

/* The first text of the layer whose number is not below. */
static const struct word_text *first_from(const struct word_list *list, const struct word_layer *layer,
                                          uint64_t number)
{
    const struct word_text *text = list->text + layer->first;
    size_t count = layer->count;

    while (count) {
        size_t half = count / 2;

        if (text[half].number < number) {
            text += half + 1;
            count -= half + 1;
        } else {
            count = half;
        }
    }
    return text;
}

size_t word_list_count(const struct word_list *list, uint64_t from, uint64_t to)
{
    size_t count = 0;

    for (size_t i = 0; i < list->layer_count && from < to; i++)
        count += (size_t)(first_from(list, &list->layer[i], to) - first_from(list, &list->layer[i], from));
    return count;
}

uint64_t word_list_words(const struct word_list *list, uint64_t from, uint64_t to)
{
    uint64_t words = 0;

    for (size_t i = 0; i < list->layer_count && from < to; i++) {
        const struct word_text *end = first_from(list, &list->layer[i], to);

        for (const struct word_text *text = first_from(list, &list->layer[i], from); text < end; text++)
            words += text->length;
    }
    return words;
}
