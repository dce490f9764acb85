/* src/workload/book.c - adds to the record what operations have noted. */
#include <assert.h>
#include <math.h>

#include "workload/book.h"

const struct sketch_shape book_keys_shape = { .slots = 64, .key_bytes = NOTED_KEY_BYTES };
const char *const path_use_names[PATH_USES] = { "equal", "range", "filter", "order",
                                                "group", "read",  "iterate" };

/* All but the seed, with which others hash meanwhile. */
static void begin(struct book *book, struct env *env)
{
    arena_init(&book->memory, WORKLOAD_BYTES_MAX - BOOK_SLACK_BYTES);
    book->memory.claim = &book->claim;
    book->since_ms = env_now_ms(env);
    book->container_count = 0;
    book->dropped = NULL;
    book->left_containers = 0;
    memset(book->recent, 0, sizeof(book->recent));
}

void book_init(struct book *book, struct account *account, struct env *env)
{
    *book = (struct book){ .claim = { .account = account, .holder = HOLDER_WORKLOAD } };
    env_secret(env, &book->seed, sizeof(book->seed));
    begin(book, env);
}

void book_free(struct book *book)
{
    arena_free(&book->memory);
}

void book_clear(struct book *book, struct env *env)
{
    book_free(book);
    begin(book, env);
    book->is_changed = true;
}

void *book_take(struct book *book, size_t bytes)
{
    void *memory = arena_try_alloc(&book->memory, bytes);

    if (memory)
        memset(memory, 0, bytes);
    return memory;
}

uint64_t book_hash(const struct book *book, struct slice text)
{
    return siphash_128(book->seed, text.data, text.size).h1;
}

/* Both halves of the product, so that every bit of the word counts. */
static uint64_t fold(uint64_t word, uint64_t by)
{
    __extension__ unsigned __int128 product = (unsigned __int128)word * by;

    return (uint64_t)product ^ (uint64_t)(product >> 64);
}

uint64_t book_id_hash(const struct book *book, struct slice id)
{
    uint64_t hash = book->seed.k0 ^ id.size, word;
    size_t at = 0;

    for (; at + sizeof(word) <= id.size; at += sizeof(word)) {
        memcpy(&word, id.data + at, sizeof(word));
        hash = fold(hash ^ word, book->seed.k1 | 1);
    }
    word = 0;
    if (id.size)
        memcpy(&word, id.data + at, id.size - at);
    hash = fold(hash ^ word, book->seed.k1 | 1);
    return hash ? hash : 1; /* 0 is none */
}

/* ---- containers ---- */

/* A record that was dropped has memory for another. */
static struct container_record *take_container(struct book *book)
{
    struct container_record *made = book->dropped;
    void *keys;

    if (made) {
        book->dropped = made->next_dropped;
        return made;
    }
    made = book_take(book, sizeof(*made));
    keys = made ? book_take(book, sketch_size(book_keys_shape)) : NULL;
    if (!keys)
        return NULL;
    made->keys = sketch_init(keys, book_keys_shape, book->seed);
    return made;
}

static struct container_record *new_container(struct book *book, const struct rid *rid, struct slice link)
{
    char *text = book_take(book, link.size + 1);
    struct container_record *made = text ? take_container(book) : NULL;

    if (!made)
        return NULL;
    memcpy(text, link.data, link.size);
    made->rid = *rid;
    made->link = text;
    return made;
}

struct container_record *book_container(struct book *book, const struct rid *rid, struct slice link)
{
    struct container_record *made;

    for (size_t i = 0; i < book->container_count; i++)
        if (rid_equal(&book->container[i]->rid, rid))
            return book->container[i];
    made = book->container_count < BOOK_CONTAINERS_MAX ? new_container(book, rid, link) : NULL;
    if (made)
        book->container[book->container_count++] = made;
    else
        book->left_containers++;
    return made;
}

/* What it is made of stays with it, empty. */
static void empty_container(struct container_record *container)
{
    memset(container->tally, 0, sizeof(container->tally));
    sketch_clear(container->keys);
    container->path_count = container->query_count = 0;
    container->ranges_most = container->changes = container->read_ids = container->keys_named = 0;
    container->left_paths = container->left_queries = 0;
}

void book_drop(struct book *book, const struct rid *rid)
{
    size_t kept = 0;

    for (size_t i = 0; i < book->container_count; i++) {
        struct container_record *container = book->container[i];

        if (memcmp(container->rid.bytes, rid->bytes, rid->size) != 0) {
            book->container[kept++] = container;
            continue;
        }
        empty_container(container);
        container->next_dropped = book->dropped;
        book->dropped = container;
        book->is_changed = true;
    }
    book->container_count = kept;
}

/* ---- actions on items ---- */

static void add_tally(struct tally *tally, const struct waiting *waiting)
{
    tally->count++;
    tally->failed += waiting->failed;
    tally->charge += waiting->charge;
    tally->bytes += waiting->bytes;
    tally->took_us += waiting->took_us;
}

/* The place of an id among the recent reads: a later one with the same place takes it. */
static struct recent_read *recent_of(struct book *book, uint64_t hash)
{
    return &book->recent[hash % BOOK_RECENT];
}

/* Of many requests one in a few is looked at, and counts for all of them: what is common stays common. */
static void count_key(struct container_record *container, struct slice key)
{
    container->keys_named++;
    if (container->keys_named <= BOOK_KEYS_EXACT)
        sketch_add(container->keys, key, 1);
    else if (container->keys_named % BOOK_KEYS_PART == 0)
        sketch_add(container->keys, key, BOOK_KEYS_PART);
}

void book_action(struct book *book, const struct waiting *waiting)
{
    struct container_record *container = waiting->container;

    book->is_changed = true;
    add_tally(&container->tally[waiting->kind], waiting);
    if (container->ranges_most < waiting->ranges_there)
        container->ranges_most = waiting->ranges_there;
    if (waiting->key.size)
        count_key(container, slice_make(waiting->key.text, waiting->key.size));
    if (waiting->kind == WORK_READ && waiting->id_hash && !waiting->failed) {
        container->read_ids++;
        *recent_of(book, waiting->id_hash) =
            (struct recent_read){ waiting->id_hash, container->rid, waiting->at_ms };
    }
}

/* ---- paths ---- */

struct path_record *book_path(struct book *book, struct container_record *container, struct slice path,
                              uint16_t *index)
{
    uint64_t hash = book_hash(book, path);
    struct path_record *made;

    for (*index = 0; *index < container->path_count; (*index)++)
        if (container->path[*index]->hash == hash)
            return container->path[*index];
    made = NULL;
    if (container->path_count < BOOK_PATHS_MAX && path.size <= OUTLINE_PATH_BYTES_MAX) {
        made = container->path[container->path_count];
        made = made ? made : book_take(book, sizeof(*made));
    }
    if (!made) {
        container->left_paths++;
        return NULL;
    }
    *made = (struct path_record){ .hash = hash };
    memcpy(made->path, path.data, path.size);
    container->path[container->path_count++] = made;
    return made;
}

/* As much as both begin with, up to a whole name: of /a/b and /a/c it is /a. */
static size_t common_size(struct slice a, struct slice b)
{
    size_t size = 0, whole = 0;

    while (size < a.size && size < b.size && a.data[size] == b.data[size]) {
        size++;
        if ((size == a.size || a.data[size] == '/') && (size == b.size || b.data[size] == '/'))
            whole = size;
    }
    return whole;
}

/* Which members were changed, and where all of these lie. */
void book_changes(struct book *book, struct container_record *container, const struct noted_action *action)
{
    struct slice common = { 0 };
    struct path_record *path;
    uint16_t index;

    if (action->path_count == 0)
        return;
    container->changes++;
    for (const char *at = action->paths; at < action->paths + action->paths_size; at += strlen(at) + 1) {
        struct slice changed = slice_of(at);

        common = common.data ? slice_make(common.data, common_size(common, changed)) : changed;
        path = book_path(book, container, changed, &index);
        if (path)
            path->changed++;
    }
    path = book_path(book, container, common, &index);
    if (path)
        path->alone++;
}

/* ---- queries ---- */

/* One that came once gives way: what comes often stays. */
static struct query_record *take_over(struct container_record *container)
{
    for (size_t i = container->query_count; i-- > 0;)
        if (container->query[i]->requests <= 1)
            return container->query[i];
    return NULL;
}

struct query_record *book_query_of(struct book *book, struct container_record *container, struct slice text)
{
    uint64_t hash = book_hash(book, text);
    size_t kept = text.size < BOOK_TEXT_BYTES_MAX ? text.size : BOOK_TEXT_BYTES_MAX;
    struct query_record *query = NULL;

    for (size_t i = 0; i < container->query_count; i++)
        if (container->query[i]->hash == hash)
            return container->query[i];
    if (container->query_count < BOOK_QUERIES_MAX) {
        query = container->query[container->query_count];
        query = query ? query : book_take(book, sizeof(*query));
    }
    if (query) {
        container->query[container->query_count++] = query;
    } else {
        container->left_queries++;
        query = take_over(container);
    }
    if (!query)
        return NULL;
    *query = (struct query_record){ .hash = hash };
    memcpy(query->text, text.data, kept);
    return query;
}

static void describe(struct book *book, struct container_record *container,
                     const struct query_outline *outline, struct query_record *query)
{
    query->reads_whole = outline->reads_whole;
    query->aggregates = outline->aggregates;
    query->is_partial = outline->is_partial;
    for (size_t i = 0; i < outline->path_count; i++) {
        uint16_t index;

        if (book_path(book, container, outline->path[i].path, &index))
            query->path[query->path_count++] = (struct query_path){ index, (uint16_t)outline->path[i].use };
        else
            query->is_partial = true;
    }
}

/* The same as it came, to be asked again: the first, and then now and then another. */
static void keep_example(struct book *book, struct query_record *query, const struct noted_query *noted,
                         const struct noted_key *key)
{
    size_t at = query->requests <= 1 ? 0 : 1;
    struct arena_mark mark = arena_mark(&book->memory);
    struct buf text;

    if (query->requests > 1 && (query->requests & (query->requests - 1)))
        return;
    buf_init(&text, &book->memory);
    buf_text(&text, "{\"query\":");
    json_print_string(&text, noted->text);
    if (json_kind(noted->parameters) == JSON_ARRAY) {
        buf_text(&text, ",\"parameters\":");
        json_print(&text, noted->parameters);
    }
    if (key->size && key->text[key->size - 1] == ']') { /* whole */
        buf_text(&text, ",\"key\":");
        buf_append(&text, key->text, key->size);
    }
    buf_byte(&text, '}');
    if (!text.failed && text.size <= BOOK_EXAMPLE_BYTES_MAX) {
        memcpy(query->example[at], text.data, text.size);
        query->example[at][text.size] = '\0';
    }
    arena_rewind(&book->memory, mark);
}

/* Whether an item was read shortly before whose id this query asks with. */
static void compare_with_reads(struct book *book, const struct query_outline *outline,
                               struct query_record *query, int64_t at_ms)
{
    for (size_t i = 0; i < query->path_count && i < outline->path_count; i++) {
        struct json value = outline->path[i].equal;
        const struct recent_read *read;
        uint64_t hash;

        if (json_kind(value) != JSON_STRING || !(query->path[i].use & USE_EQUAL))
            continue;
        hash = book_id_hash(book, json_string(value));
        read = recent_of(book, hash);
        if (read->hash != hash || at_ms - read->at_ms > BOOK_RECENT_MS)
            continue;
        if (query->after.count == 0)
            query->after = (struct after_reads){ read->container, query->path[i].path, 0 };
        query->after.count +=
            rid_equal(&query->after.container, &read->container) && query->after.path == query->path[i].path;
        return;
    }
}

static void count_uses(struct container_record *container, const struct query_record *query)
{
    for (size_t i = 0; i < query->path_count; i++)
        for (size_t bit = 0; bit < PATH_USES; bit++)
            container->path[query->path[i].path]->use[bit] += query->path[i].use >> bit & 1;
}

void book_query(struct book *book, struct container_record *container, const struct workload_told *told)
{
    const struct noted_query *noted = &told->noted->query;
    struct query_record *query = book_query_of(book, container, noted->outline->text);

    book->is_changed = true;
    if (!query)
        return;
    if (query->requests == 0)
        describe(book, container, noted->outline, query);
    query->requests++;
    query->charge += (uint64_t)llround(told->charge * 100);
    query->rows += noted->rows;
    query->scanned += told->scanned;
    query->ranges += told->ranges;
    query->bytes += told->bytes;
    query->took_us += (uint64_t)told->took_us;
    if (!noted->is_first)
        return;
    query->executed++;
    query->single += noted->names_key;
    count_uses(container, query);
    compare_with_reads(book, noted->outline, query, told->at_ms);
    keep_example(book, query, noted, &told->noted->key);
}
