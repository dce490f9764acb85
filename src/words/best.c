/* src/words/best.c - the best texts: layer after layer, until no text that was not met can be among them. */
#include <assert.h>
#include <stdlib.h>

#include "keys/epk.h"
#include "text/score.h"
#include "words/best.h"

/* What sums of doubles may be off by: bounds are that much higher. */
static const double slack = 1 + 1e-9;

/* ---- one text ---- */

static double damping_of(const struct words_asked *asked, const struct word_text *text)
{
    return text_damping(asked->documents, asked->words, text->length);
}

double words_score(const struct words_asked *asked, uint64_t number)
{
    double score = 0;

    for (size_t i = 0; i < asked->count; i++) {
        const struct word_text *text = word_list_find(asked->list[i], number);

        if (text)
            score += text_added(asked->rarity[i], text->frequency, damping_of(asked, text));
    }
    return score;
}

/* ---- the best ---- */

static bool is_better(const struct words_found *a, const struct words_found *b)
{
    return a->score != b->score ? a->score > b->score : a->tie < b->tie;
}

/* The worst on top. */
static void sink(struct words_best *best)
{
    struct words_found moved = best->found[0];
    size_t at = 0;

    for (size_t kid; (kid = 2 * at + 1) < best->count; at = kid) {
        kid += kid + 1 < best->count && is_better(&best->found[kid], &best->found[kid + 1]);
        if (!is_better(&moved, &best->found[kid]))
            break;
        best->found[at] = best->found[kid];
    }
    best->found[at] = moved;
}

static void rise(struct words_best *best, struct words_found added)
{
    size_t at = best->count++;

    for (size_t parent; at && (parent = (at - 1) / 2, is_better(&best->found[parent], &added)); at = parent)
        best->found[at] = best->found[parent];
    best->found[at] = added;
}

static bool is_full(const struct words_best *best)
{
    return best->count == best->wanted;
}

static struct words_found make_found(const struct words_asked *asked, uint64_t number, double score)
{
    struct words_found made = { score, asked->by_creation ? number_by_creation(number) : number, number };

    if (asked->ties_fall)
        made.tie = ~made.tie;
    return made;
}

static bool takes(const struct words_best *best, const struct words_found *added)
{
    return !is_full(best) || (best->count && is_better(added, &best->found[0]));
}

bool words_takes(const struct words_asked *asked, const struct words_best *best, uint64_t number,
                 double score)
{
    struct words_found added = make_found(asked, number, score);

    return takes(best, &added);
}

void words_offer(const struct words_asked *asked, struct words_best *best, uint64_t number, double score)
{
    struct words_found added = make_found(asked, number, score);

    if (!takes(best, &added))
        return;
    if (!is_full(best)) {
        rise(best, added);
    } else {
        best->found[0] = added;
        sink(best);
    }
}

static int by_worth(const void *a, const void *b)
{
    return is_better(a, b) ? -1 : is_better(b, a);
}

void words_sort(struct words_best *best)
{
    if (best->count > 1)
        qsort(best->found, best->count, sizeof(*best->found), by_worth);
}

/* ---- layers ---- */

struct layer {
    size_t keyword, index;
    double most; /* that it can add to a score */
};

struct walk {
    const struct words_asked *asked;
    struct words_best *best;
    size_t *done;  /* of each keyword: how many of its layers were looked through */
    double *unmet; /* of each: the most that it adds to a text that was not met */
    double *added; /* of each: what it adds to the text at hand */
    size_t *at;    /* of each layer of each keyword: how far lookups have come */
    size_t doubtful_at;
};

/* Layers were made for another average length: where texts have become longer, each counts for more. */
static double most_of(const struct words_asked *asked, size_t keyword, size_t layer)
{
    const struct word_list *list = asked->list[keyword];
    double average = asked->documents > 0 ? asked->words / asked->documents : 0;
    double longer = average > list->average ? average / list->average : 1;

    if (layer == list->layer_count)
        return 0;
    return asked->rarity[keyword] * list->layer[layer].most * longer * slack;
}

static int by_most(const void *a, const void *b)
{
    const struct layer *x = a, *y = b;

    if (x->most != y->most)
        return x->most > y->most ? -1 : 1;
    if (x->keyword != y->keyword)
        return x->keyword < y->keyword ? -1 : 1;
    return x->index < y->index ? -1 : x->index > y->index;
}

static double sum(const double *added, size_t count)
{
    double total = 0;

    for (size_t i = 0; i < count; i++)
        total += added[i];
    return total;
}

/* From the place of the last lookup on, in steps that grow. Numbers that are looked up rise. */
static const struct word_text *look_up(const struct word_text *text, size_t count, uint64_t number,
                                       size_t *at)
{
    size_t low = *at, high = *at, step = 1;

    while (high < count && text[high].number < number) {
        low = high + 1;
        high += step;
        step *= 2;
    }
    high = high < count ? high : count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (text[middle].number < number)
            low = middle + 1;
        else
            high = middle;
    }
    *at = low;
    return low < count && text[low].number == number ? &text[low] : NULL;
}

/* False: it was met in another layer. */
static bool add_keyword(struct walk *walk, size_t keyword, uint64_t number, double damping)
{
    const struct word_list *list = walk->asked->list[keyword];
    size_t *at = walk->at + keyword * WORD_LAYERS_MAX;

    walk->added[keyword] = 0;
    for (size_t i = 0; i < list->layer_count; i++) {
        const struct word_layer *layer = &list->layer[i];
        const struct word_text *text = look_up(list->text + layer->first, layer->count, number, &at[i]);

        if (!text)
            continue;
        walk->added[keyword] = text_added(walk->asked->rarity[keyword], text->frequency, damping);
        return i >= walk->done[keyword];
    }
    return true;
}

static bool is_doubtful(struct walk *walk, uint64_t number)
{
    const struct words_asked *asked = walk->asked;

    while (walk->doubtful_at < asked->doubtful_count && asked->doubtful[walk->doubtful_at] < number)
        walk->doubtful_at++;
    return walk->doubtful_at < asked->doubtful_count && asked->doubtful[walk->doubtful_at] == number;
}

/* `others`: the most that the other keywords add to a text that was not met. */
static void meet(struct walk *walk, size_t keyword, const struct word_text *text, double others)
{
    const struct words_asked *asked = walk->asked;
    double damping = damping_of(asked, text);
    double own = text_added(asked->rarity[keyword], text->frequency, damping);

    if ((is_full(walk->best) && own + others < walk->best->found[0].score) || is_doubtful(walk, text->number))
        return;
    for (size_t i = 0; i < asked->count; i++)
        if (i != keyword && !add_keyword(walk, i, text->number, damping))
            return;
    walk->added[keyword] = own;
    walk->best->scored++;
    words_offer(asked, walk->best, text->number, sum(walk->added, asked->count));
}

static void look_through(struct walk *walk, const struct layer *layer)
{
    const struct words_asked *asked = walk->asked;
    const struct word_list *list = asked->list[layer->keyword];
    const struct word_text *text = list->text + list->layer[layer->index].first;
    size_t count = list->layer[layer->index].count, next = 0;
    double others = sum(walk->unmet, asked->count) - walk->unmet[layer->keyword];

    memset(walk->at, 0, asked->count * WORD_LAYERS_MAX * sizeof(*walk->at));
    walk->doubtful_at = 0;
    for (size_t i = 0; i < asked->span_count; i++) {
        look_up(text, count, asked->span[i].from, &next);
        for (; next < count && text[next].number < asked->span[i].to; next++)
            meet(walk, layer->keyword, &text[next], others * slack);
    }
}

/* Of all keywords, in the order in which they are looked through. */
static size_t list_layers(const struct words_asked *asked, struct layer *layer)
{
    size_t count = 0;

    for (size_t i = 0; i < asked->count; i++)
        for (size_t k = 0; k < asked->list[i]->layer_count; k++)
            layer[count++] = (struct layer){ i, k, most_of(asked, i, k) };
    if (count > 1)
        qsort(layer, count, sizeof(*layer), by_most);
    return count;
}

static void find(struct walk *walk, const struct layer *layer, size_t layer_count)
{
    const struct words_asked *asked = walk->asked;

    for (size_t i = 0; i < layer_count; i++) {
        size_t keyword = layer[i].keyword;

        if (is_full(walk->best) && sum(walk->unmet, asked->count) * slack < walk->best->found[0].score)
            return;
        assert(layer[i].index == walk->done[keyword]); /* what adds more comes first, of each keyword, too */
        look_through(walk, &layer[i]);
        walk->done[keyword]++;
        walk->unmet[keyword] = most_of(asked, keyword, walk->done[keyword]);
    }
}

bool words_best(const struct words_asked *asked, struct arena *memory, struct words_best *best)
{
    size_t keywords = asked->count + 1;
    struct layer *layer = arena_try_alloc(memory, keywords * WORD_LAYERS_MAX * sizeof(*layer));
    struct walk walk = { .asked = asked, .best = best };

    walk.done = arena_try_alloc(memory, keywords * sizeof(*walk.done));
    walk.unmet = arena_try_alloc(memory, keywords * sizeof(*walk.unmet));
    walk.added = arena_try_alloc(memory, keywords * sizeof(*walk.added));
    walk.at = arena_try_alloc(memory, keywords * WORD_LAYERS_MAX * sizeof(*walk.at));
    if (!layer || !walk.done || !walk.unmet || !walk.added || !walk.at)
        return false;
    for (size_t i = 0; i < asked->count; i++) {
        walk.done[i] = 0;
        walk.unmet[i] = most_of(asked, i, 0);
    }
    if (best->wanted)
        find(&walk, layer, list_layers(asked, layer));
    words_sort(best);
    return true;
}
