/*
 * src/vector/graph.c - a graph over a column: each vector has edges to some that are near, so that a walk along them
 * comes to the nearest. Vamana (Subramanya et al., 2019) over codes, built one vector after the other.
 *
 * One thread builds, with the column's lock for reading, while others walk. Edges are therefore atomic: a walk that meets
 * a list while it changes sees some old ones and some new ones, and finds its way by either.
 */
#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/heap.h"
#include "base/limits.h"
#include "vector/column_private.h"

enum {
    BUILD_STEP = 64,    /* vectors between two looks whether somebody waits */
    ENTRIES = 64,       /* a walk begins at the nearest of so many */
    SCORED_MAX = 64,    /* at once: entries, or where a list of edges leads */
    EDGES_OF_LINE = 16, /* of the processor's cache */
    SAMPLES = 200,      /* queries by which recall is measured, and how many they ask for */
    SAMPLE_ROWS = 10,
    RECALL_PER_MILLE_MIN = 985, /* 98 of 100 are promised, and so many samples err by half of one */
    LIST_PERCENT_MAX = 800,
};

/* Where less than that part may be candidates, codes are scanned. */
static const double least_share = 0.1;

/* ---- a walk ---- */

/* The best that were met, best first, and which of them were left already. */
struct walk {
    const struct vector_column *column;
    const int8_t *code;
    const struct vector_measure *measure;
    enum vector_function function;
    uint8_t *marks;
    struct met {
        float score;
        uint32_t at;
        bool left;
    } * met;
    size_t count, list;
    uint32_t without; /* a place that is passed over as if it were not there; NOWHERE: none is */
    uint64_t codes;
};

/* At most SCORED_MAX of them. */
static void score_many(struct walk *walk, const uint32_t *at, size_t count, float *score)
{
    const struct vector_column *column = walk->column;
    const int8_t *code[SCORED_MAX] = { 0 };
    int32_t dots[SCORED_MAX];

    for (size_t i = 0; i < count; i++)
        code[i] = code_at(column, at[i]);
    column->form->dots(walk->code, code, column->code_bytes, count, dots);
    for (size_t i = 0; i < count; i++)
        score[i] = vector_score(walk->function, measure_at(column, at[i]), walk->measure, dots[i]);
    walk->codes += count;
}

static bool mark(struct walk *walk, uint32_t at)
{
    uint8_t bit = (uint8_t)(1u << at % 8);
    bool was = walk->marks[at / 8] & bit;

    walk->marks[at / 8] |= bit;
    return !was;
}

static _Atomic uint32_t *edges_of(const struct vector_column *column, uint32_t at)
{
    return chunk_of(column, at)->edge + (size_t)(at % CHUNK_VECTORS) * EDGES_MAX;
}

/* Codes and edges lie far apart, and are fetched before they are wanted. */
static void fetch_code(const struct vector_column *column, uint32_t at)
{
    __builtin_prefetch(measure_at(column, at));
    __builtin_prefetch(code_at(column, at));
    __builtin_prefetch(code_at(column, at) + VECTOR_LANE_BYTES);
}

static void fetch_edges(const struct vector_column *column, uint32_t at)
{
    for (size_t i = 0; i < EDGES_MAX; i += EDGES_OF_LINE)
        __builtin_prefetch(edges_of(column, at) + i);
}

/* The first of the met that is worse. */
static size_t place_of(const struct walk *walk, float score)
{
    size_t low = 0, high = walk->count;

    while (low < high) {
        size_t middle = (low + high) / 2;

        if (walk->met[middle].score < score)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

/* Where it belongs among the met, if it is good enough; its place, or `count` when it is not. */
static size_t meet(struct walk *walk, uint32_t at, float score)
{
    size_t place;

    if (walk->count == walk->list && score <= walk->met[walk->count - 1].score)
        return walk->count;
    fetch_edges(walk->column, at);
    place = place_of(walk, score);
    if (walk->count < walk->list)
        walk->count++;
    memmove(walk->met + place + 1, walk->met + place, (walk->count - 1 - place) * sizeof(*walk->met));
    walk->met[place] = (struct met){ score, at, false };
    return place;
}

static void begin(struct walk *walk, size_t built)
{
    size_t apart = built / ENTRIES ? built / ENTRIES : 1, count = 0, best = 0;
    uint32_t entry[ENTRIES] = { 0 };
    float score[ENTRIES];

    for (size_t at = 0; at < built && count < ENTRIES; at += apart)
        if (at != walk->without)
            entry[count++] = (uint32_t)at;
    score_many(walk, entry, count, score);
    for (size_t i = 1; i < count; i++)
        best = score[i] > score[best] ? i : best;
    if (count) {
        mark(walk, entry[best]);
        meet(walk, entry[best], score[best]);
    }
}

/* Where edges lead that nobody has followed yet. */
static size_t follow(struct walk *walk, uint32_t at, size_t built, uint32_t to[EDGES_MAX])
{
    const struct vector_column *column = walk->column;
    const _Atomic uint32_t *edge = edges_of(column, at);
    size_t count = 0;

    for (size_t i = 0; i < EDGES_MAX; i++) {
        uint32_t next = atomic_load_explicit(&edge[i], memory_order_relaxed);

        if (next == NOWHERE)
            break;
        if (next >= built)
            continue;
        to[count] = next;
        count += mark(walk, next); /* no branch: nobody could foretell it */
    }
    for (size_t i = 0; i < count; i++)
        fetch_code(column, to[i]);
    return count;
}

static void go(struct walk *walk, size_t built)
{
    uint32_t to[EDGES_MAX];
    float score[EDGES_MAX];

    begin(walk, built);
    for (size_t next = 0; next < walk->count;) {
        size_t least = walk->count, count;

        if (walk->met[next].left) {
            next++;
            continue;
        }
        walk->met[next].left = true;
        count = follow(walk, walk->met[next].at, built, to);
        score_many(walk, to, count, score);
        for (size_t i = 0; i < count; i++) {
            size_t place = meet(walk, to[i], score[i]);

            least = place < least ? place : least;
        }
        next = least <= next ? least : next + 1;
    }
}

/* ---- building ---- */

/* What the builder needs of memory. */
struct builder {
    struct walk walk;
    struct met pruned[EDGES_MAX + 1];
};

/* Edges are made by distances, also of a product, whose order no graph follows. */
static enum vector_function function_of(const struct vector_column *column)
{
    return column->key.function == VECTOR_COSINE ? VECTOR_COSINE : VECTOR_EUCLIDEAN;
}

static float score_between(const struct vector_column *column, uint32_t a, uint32_t b)
{
    const int8_t *code = code_at(column, b);
    int32_t dot;

    column->form->dots(code_at(column, a), &code, column->code_bytes, 1, &dot);
    return vector_score(function_of(column), measure_at(column, a), measure_at(column, b), dot);
}

/* Keeps those that none of the better ones is nearer to. The list is best first. */
static size_t prune(const struct vector_column *column, struct met *list, size_t count)
{
    size_t kept = 0;

    for (size_t i = 0; i < count && kept < EDGES_MAX; i++) {
        bool is_nearer = false;

        for (size_t k = 0; k < kept && !is_nearer; k++)
            is_nearer = score_between(column, list[k].at, list[i].at) >= list[i].score;
        if (!is_nearer)
            list[kept++] = list[i];
    }
    return kept;
}

static void put_edges(const struct vector_column *column, uint32_t at, const struct met *list, size_t count)
{
    _Atomic uint32_t *edge = edges_of(column, at);

    assert(count <= EDGES_MAX);
    for (size_t i = 0; i < EDGES_MAX; i++)
        atomic_store_explicit(&edge[i], i < count ? list[i].at : NOWHERE, memory_order_relaxed);
}

static int by_met(const void *a, const void *b)
{
    const struct met *x = a, *y = b;

    if (x->score != y->score)
        return x->score > y->score ? -1 : 1;
    return x->at < y->at ? -1 : x->at > y->at;
}

/* An edge back: where there is no room, the list is pruned. */
static void add_edge(struct builder *builder, uint32_t from, uint32_t to)
{
    const struct vector_column *column = builder->walk.column;
    _Atomic uint32_t *edge = edges_of(column, from);
    struct met *list = builder->pruned;

    for (size_t i = 0; i < EDGES_MAX; i++) {
        list[i].at = atomic_load_explicit(&edge[i], memory_order_relaxed);
        if (list[i].at == NOWHERE) {
            atomic_store_explicit(&edge[i], to, memory_order_relaxed);
            return;
        }
    }
    list[EDGES_MAX].at = to;
    for (size_t i = 0; i <= EDGES_MAX; i++)
        list[i].score = score_between(column, from, list[i].at);
    qsort(list, EDGES_MAX + 1, sizeof(*list), by_met);
    put_edges(column, from, list, prune(column, list, EDGES_MAX + 1));
}

static void insert(struct builder *builder, uint32_t at)
{
    struct walk *walk = &builder->walk;
    const struct vector_column *column = walk->column;
    struct met kept[EDGES_MAX];
    size_t count;

    memset(walk->marks, 0, at / 8 + 1);
    walk->count = 0;
    walk->code = code_at(column, at);
    walk->measure = measure_at(column, at);
    if (at)
        go(walk, at);
    count = prune(column, walk->met, walk->count);
    memcpy(kept, walk->met, count * sizeof(*kept));
    put_edges(column, at, kept, count);
    for (size_t i = 0; i < count; i++)
        add_edge(builder, kept[i].at, at);
}

static void build_some(struct vector_column *column, size_t from, size_t to)
{
    struct builder builder = { .walk = { .column = column,
                                         .function = function_of(column),
                                         .list = column->key.build_list,
                                         .without = NOWHERE } };
    struct met met[SEARCH_LIST_MAX];

    assert(column->key.build_list && column->key.build_list <= SEARCH_LIST_MAX);

    builder.walk.met = met;
    builder.walk.marks = heap_allocate(vector_column_mark_bytes(column));
    for (size_t at = from; at < to; at++) {
        insert(&builder, (uint32_t)at);
        atomic_store_explicit(&column->built, at + 1, memory_order_release);
    }
    free(builder.walk.marks);
}

/* ---- the best by a walk ---- */

size_t vector_column_mark_bytes(const struct vector_column *column)
{
    return column->count / 8 + 1;
}

/* With `without` passed over; see struct walk. False: there is no memory. */
static bool search_graph(const struct vector_column *column, struct vector_search *search, size_t list,
                         uint32_t without)
{
    size_t built = atomic_load_explicit(&column->built, memory_order_acquire);
    struct walk walk = { .column = column,
                         .code = search->code,
                         .measure = &search->measure,
                         .function = search->function,
                         .marks = search->marks,
                         .without = without,
                         .list = list * atomic_load(&column->list_percent) / 100 };

    walk.met = calloc(walk.list, sizeof(*walk.met));
    if (!walk.met)
        return false;
    memset(search->marks, 0, vector_column_mark_bytes(column));
    if (without != NOWHERE)
        mark(&walk, without);
    search->count = 0;
    go(&walk, built);
    for (size_t i = 0; i < walk.count; i++)
        if (search_wants(column, search, walk.met[i].at))
            search_offer(search, (struct vector_candidate){ walk.met[i].score, walk.met[i].at,
                                                            number_at(column, walk.met[i].at) });
    search->codes += walk.codes;
    free(walk.met);
    search_range(column, search, built, column->count);
    search_sort(search);
    return true;
}

/* ---- how much is found ---- */

static const struct vector_span everything = { 0, UINT64_MAX };

/*
 * A query is a vector that the column does not have. So one of the column's is passed over, by the scan and by the walk,
 * which then neither meets it nor goes on by its edges, and is asked for as if it came from elsewhere.
 */
static void compare_sample(struct vector_column *column, uint32_t at, uint8_t *marks)
{
    struct vector_candidate scanned[SAMPLE_ROWS], walked[SAMPLE_ROWS];
    uint64_t number = number_at(column, at);
    struct vector_search scan = { .code = code_at(column, at),
                                  .measure = *measure_at(column, at),
                                  .function = column->key.function,
                                  .span = &everything,
                                  .span_count = 1,
                                  .doubtful = &number,
                                  .doubtful_count = 1,
                                  .found = scanned,
                                  .wanted = SAMPLE_ROWS };
    struct vector_search walk = scan;

    walk.found = walked;
    walk.marks = marks;
    vector_column_scan(column, &scan);
    column->samples_asked += scan.count;
    if (!search_graph(column, &walk, VECTOR_LIST_MIN, at))
        return;
    for (size_t i = 0; i < scan.count; i++)
        for (size_t k = 0; k < walk.count; k++)
            column->samples_found += scan.found[i].at == walk.found[k].at;
}

/* How much was ever put in and taken out: by that it is told whether to measure again. */
static size_t changes_of(const struct vector_column *column)
{
    size_t placed = atomic_load(&column->placed);

    return placed + placed - atomic_load(&column->live);
}

/*
 * Where too little is found the list is made longer by a quarter; if even the longest does not do, the column is scanned.
 * Small steps: who looks for more than is promised looks longer than need be.
 */
static void judge_recall(struct vector_column *column)
{
    unsigned list = atomic_load(&column->list_percent);
    unsigned per_mille =
        column->samples_asked ? (unsigned)(1000 * column->samples_found / column->samples_asked) : 1000;
    bool is_good = per_mille >= RECALL_PER_MILLE_MIN;

    atomic_store(&column->recall, per_mille / 10);
    atomic_store(&column->measured, is_good ? changes_of(column) : 0);
    if (!is_good && list < LIST_PERCENT_MAX)
        atomic_store(&column->list_percent, list + list / 4);
    else if (!is_good)
        atomic_store(&column->is_lost, true);
    column->samples = column->samples_asked = column->samples_found = 0;
}

static void measure_recall(struct vector_column *column, uint64_t random)
{
    uint8_t *marks = heap_allocate(vector_column_mark_bytes(column));

    compare_sample(column, (uint32_t)(random % column->count), marks);
    free(marks);
    if (++column->samples == SAMPLES)
        judge_recall(column);
}

bool column_wants_building(const struct vector_column *column)
{
    size_t placed = atomic_load(&column->placed), measured = atomic_load(&column->measured);

    if (!column->key.graph_from || placed < column->key.graph_from || atomic_load(&column->is_lost))
        return false;
    return atomic_load(&column->built) < placed || changes_of(column) >= measured + measured / 10;
}

bool vector_column_build(struct vector_column *column, uint64_t random)
{
    size_t built = atomic_load(&column->built);

    if (!column_wants_building(column))
        return false;
    if (built < column->count)
        build_some(column, built, built + BUILD_STEP < column->count ? built + BUILD_STEP : column->count);
    else
        measure_recall(column, random);
    return true;
}

/* ---- for queries ---- */

/* Which part of the places may be candidates, about. */
static double share_of(const struct vector_column *column, const struct vector_search *search)
{
    size_t places = 0;
    double share;

    for (size_t i = 0; i < search->span_count; i++)
        if (search->span[i].from < search->span[i].to)
            places += column_lower(column, search->span[i].to) - column_lower(column, search->span[i].from);
    share = (double)places / (double)(column->sorted_count + 1);
    if (search->among && (double)search->among_count < share * (double)column->count)
        share = (double)search->among_count / (double)column->count;
    return share;
}

/* A graph that was not measured yet, or finds too little, is not walked. */
static bool walks(const struct vector_column *column, const struct vector_search *search, size_t built)
{
    return column->key.graph_from && built >= column->key.graph_from && built >= column->count / 2 &&
           atomic_load(&column->measured) && !search->by_most && search->function == column->key.function;
}

bool vector_column_walk(const struct vector_column *column, struct vector_search *search, size_t list)
{
    size_t built = atomic_load_explicit(&column->built, memory_order_acquire);
    double share = share_of(column, search);

    if (!walks(column, search, built) || share < least_share)
        return false;
    return search_graph(column, search, (size_t)((double)list / share), NOWHERE);
}
