/* src/packed/piece.c - a merge sort over the first bytes of values, and merging of what is sorted. */
#include <assert.h>
#include <stdlib.h>

#include "base/heap.h"
#include "base/thread.h"
#include "keys/bytes.h"
#include "packed/piece.h"

enum { TAKES_IN_TIMES = 3, INSERTION_MAX = 12, ENTRIES_OF_A_STEP = 4 };

/*
 * What is compared lies side by side: eight bytes of the value behind those that all values of the range begin with,
 * and the number. No entry is fetched to compare two. Values that are longer and alike so far are sorted among themselves by the
 * bytes that follow, which are looked at once for all of them.
 */
struct item {
    uint64_t front, number;
    uint32_t index;
    uint32_t
        rest_bytes; /* of the value behind what all have in common; LONGER where the front does not show it all */
};

enum { FRONT_BYTES = 8, LONGER = FRONT_BYTES + 1 };

int piece_compare(const struct delta_entry *entry, struct slice value, uint64_t number)
{
    int order = slice_compare(delta_value(entry), value);

    if (order != 0)
        return order;
    return entry->number < number ? -1 : entry->number > number;
}

static int compare_entries(const struct delta_path *path, uint32_t a, uint32_t b)
{
    const struct delta_entry *other = delta_at(path, b);

    return piece_compare(delta_at(path, a), delta_value(other), other->number);
}

static void set_front(const struct delta_path *path, struct item *item, uint32_t common_bytes)
{
    const struct delta_entry *entry = delta_at(path, item->index);
    uint32_t rest_bytes = entry->value_bytes - common_bytes;
    uint8_t bytes[FRONT_BYTES] = { 0 };

    memcpy(bytes, entry->value + common_bytes, rest_bytes < FRONT_BYTES ? rest_bytes : FRONT_BYTES);
    item->front = get_be(bytes, FRONT_BYTES);
    item->rest_bytes = rest_bytes > FRONT_BYTES ? LONGER : rest_bytes;
}

/* How many bytes both begin with, up to `most`; the first `known` are the same. */
static uint32_t shared_bytes(const char *a, const char *b, uint32_t known, uint32_t most)
{
    uint32_t same = known;

    while (same + FRONT_BYTES <= most && memcmp(a + same, b + same, FRONT_BYTES) == 0)
        same += FRONT_BYTES;
    while (same < most && a[same] == b[same])
        same++;
    return same;
}

/* How many bytes all values begin with; the first `known` are the same. */
static uint32_t common_front(const struct delta_path *path, const struct item *item, size_t count,
                             uint32_t known)
{
    const struct delta_entry *first = delta_at(path, item[0].index);
    uint32_t common = first->value_bytes;

    for (size_t i = 1; i < count && common > known; i++) {
        const struct delta_entry *entry = delta_at(path, item[i].index);

        common = shared_bytes(entry->value, first->value, known,
                              common < entry->value_bytes ? common : entry->value_bytes);
    }
    return common;
}

/* Equal ones keep their order: that of their age. */
static bool is_after(const struct item *a, const struct item *b)
{
    if (a->front != b->front)
        return a->front > b->front;
    if (a->rest_bytes != b->rest_bytes)
        return a->rest_bytes > b->rest_bytes;
    return a->rest_bytes != LONGER && a->number > b->number;
}

static void sort_few(struct item *item, size_t count)
{
    for (size_t i = 1; i < count; i++) {
        struct item moved = item[i];
        size_t at = i;

        for (; at > 0 && is_after(&item[at - 1], &moved); at--)
            item[at] = item[at - 1];
        item[at] = moved;
    }
}

/* By what lies in the items; `spare` has room for as many. */
static void sort_items(struct item *item, struct item *spare, size_t count)
{
    size_t half = count / 2, left = 0, right = half;

    if (count <= INSERTION_MAX) {
        sort_few(item, count);
        return;
    }
    sort_items(item, spare, half);
    sort_items(item + half, spare, count - half);
    if (!is_after(&item[half - 1], &item[half]))
        return;
    memcpy(spare, item, half * sizeof(*item));
    for (size_t at = 0; left < half; at++) {
        if (right == count || !is_after(&spare[left], &item[right]))
            item[at] = spare[left++];
        else
            item[at] = item[right++];
    }
}

/* How many items from the first on are longer than their fronts, which are the same. */
static size_t alike(const struct item *item, size_t count)
{
    size_t same = 1;

    if (item[0].rest_bytes != LONGER)
        return 1;
    while (same < count && item[same].front == item[0].front && item[same].rest_bytes == LONGER)
        same++;
    return same;
}

/* By value and number; the first `known` bytes of all values are the same. It goes as deep as values have eights of bytes. */
static void sort_values(const struct delta_path *path, struct item *item, struct item *spare, size_t count,
                        uint32_t known)
{
    uint32_t common = common_front(path, item, count, known);
    size_t same;

    for (size_t i = 0; i < count; i++)
        set_front(path, &item[i], common);
    sort_items(item, spare, count);
    for (size_t i = 0; i < count; i += same) {
        same = alike(&item[i], count - i);
        if (same > 1)
            sort_values(path, &item[i], spare, same, common + FRONT_BYTES);
    }
}

static size_t sums_of(size_t count)
{
    return count / PIECE_STRIDE + 1;
}

static size_t piece_bytes(size_t count)
{
    return count * sizeof(uint32_t) + sums_of(count) * sizeof(int32_t);
}

static struct piece *new_piece(struct delta_path *path, size_t count)
{
    struct piece *piece = heap_allocate_unset(sizeof(*piece) + piece_bytes(count));

    atomic_init(&piece->refs, 1);
    piece->count = (uint32_t)count;
    piece->sum = (int32_t *)(piece->index + count);
    delta_adds_bytes(path->delta, (int64_t)piece_bytes(count));
    return piece;
}

/* The sums spare a count from looking at every entry. Entries that die later change the path's count of dead ones. */
static struct piece *with_sums(const struct delta_path *path, struct piece *piece)
{
    int32_t sum = 0;

    piece->dead = atomic_load(&path->dead);
    piece->newest_lsn = 0;
    for (uint32_t at = 0; at <= piece->count; at++) {
        uint64_t mark;

        if (at % PIECE_STRIDE == 0)
            piece->sum[at / PIECE_STRIDE] = sum;
        if (at == piece->count)
            break;
        mark = atomic_load_explicit(&delta_at(path, piece->index[at])->mark, memory_order_relaxed);
        if (mark == DELTA_DEAD)
            continue;
        sum += mark & 1 ? 1 : -1;
        if (piece->newest_lsn < mark >> 1)
            piece->newest_lsn = mark >> 1;
    }
    return piece;
}

static struct piece *sort_range(struct delta_path *path, uint32_t begin, uint32_t end)
{
    size_t count = end - begin;
    struct piece *piece = new_piece(path, count);
    struct item *item = heap_allocate_unset(2 * count * sizeof(*item));

    assert(begin < end);
    for (size_t i = 0; i < count; i++) {
        item[i].index = begin + (uint32_t)i;
        item[i].number = delta_at(path, item[i].index)->number;
    }
    sort_values(path, item, item + count, count, 0);
    for (size_t i = 0; i < count; i++)
        piece->index[i] = item[i].index;
    free(item);
    return with_sums(path, piece);
}

/* Of equal entries the older piece's come first. */
static struct piece *merge(struct delta_path *path, const struct piece *older, const struct piece *newer)
{
    struct piece *merged = new_piece(path, (size_t)older->count + newer->count);
    uint32_t left = 0, right = 0;

    for (uint32_t at = 0; at < merged->count; at++) {
        bool take_older =
            right == newer->count ||
            (left < older->count && compare_entries(path, older->index[left], newer->index[right]) <= 0);

        merged->index[at] = take_older ? older->index[left++] : newer->index[right++];
    }
    assert(left == older->count);
    assert(right == newer->count);
    return with_sums(path, merged);
}

/* What a path's pieces are to be. Readers have those of before until it is done. */
struct change {
    struct piece *piece[PIECES_MAX];
    size_t count;
    uint32_t entry_count;
    struct piece *replaced[2 * PIECES_MAX];
    size_t replaced_count;
};

static void begin_change(struct delta_sorted *sorted, struct change *change)
{
    thread_assert_locked(&sorted->sorting);
    *change = (struct change){ .count = sorted->piece_count, .entry_count = sorted->entry_count };
    memcpy(change->piece, sorted->piece, sorted->piece_count * sizeof(struct piece *));
}

static void merge_last_two(struct delta_path *path, struct change *change)
{
    struct piece **last = &change->piece[change->count - 2];
    struct piece *merged;

    assert(change->count >= 2);
    assert(change->replaced_count + 2 <= 2 * PIECES_MAX); /* each merge leaves one fewer */
    merged = merge(path, last[0], last[1]);
    memcpy(&change->replaced[change->replaced_count], last, 2 * sizeof(*last));
    change->replaced_count += 2;
    last[0] = merged;
    change->count--;
}

static void end_change(struct delta_path *path, struct delta_sorted *sorted, const struct change *change)
{
    pthread_mutex_lock(&sorted->mutex);
    memcpy(sorted->piece, change->piece, change->count * sizeof(struct piece *));
    sorted->piece_count = change->count;
    sorted->entry_count = change->entry_count;
    pthread_mutex_unlock(&sorted->mutex);
    for (size_t i = 0; i < change->replaced_count; i++) {
        delta_adds_bytes(path->delta, -(int64_t)piece_bytes(change->replaced[i]->count));
        piece_release(change->replaced[i]);
    }
}

/* What is new becomes a piece, which takes in its neighbours. */
static void sort_new(struct delta_path *path, struct change *change)
{
    uint32_t count = atomic_load_explicit(&path->count, memory_order_acquire);

    assert(count >= change->entry_count); /* a path only grows */
    if (count == change->entry_count)
        return;
    assert(change->count < PIECES_MAX); /* each is three times as large as the next: they are few */
    change->piece[change->count++] = sort_range(path, change->entry_count, count);
    change->entry_count = count;
    while (change->count > 1 &&
           change->piece[change->count - 2]->count / TAKES_IN_TIMES < change->piece[change->count - 1]->count)
        merge_last_two(path, change);
}

static struct piece *hold(struct piece *piece)
{
    unsigned before = atomic_fetch_add(&piece->refs, 1);

    assert(before > 0); /* its place in the path is a reference */
    return piece;
}

void piece_release(struct piece *piece)
{
    unsigned before;

    if (!piece)
        return;
    before = atomic_fetch_sub(&piece->refs, 1);
    assert(before > 0);
    if (before == 1)
        free(piece);
}

/* All pieces, if they have as many entries. */
static bool list_sorted(struct delta_sorted *sorted, uint32_t entries, struct piece *list[PIECES_MAX],
                        size_t *count)
{
    bool is_sorted;

    pthread_mutex_lock(&sorted->mutex);
    is_sorted = sorted->entry_count >= entries;
    *count = is_sorted ? sorted->piece_count : 0;
    for (size_t i = 0; i < *count; i++)
        list[i] = hold(sorted->piece[i]);
    pthread_mutex_unlock(&sorted->mutex);
    return is_sorted;
}

/* By who holds `sorting`. */
static void sort(struct delta_path *path, struct delta_sorted *sorted)
{
    struct change change;

    begin_change(sorted, &change);
    sort_new(path, &change);
    end_change(path, sorted, &change);
}

size_t piece_list(struct delta_path *path, struct piece *list[PIECES_MAX])
{
    uint32_t entries = atomic_load_explicit(&path->count, memory_order_acquire);
    struct delta_sorted *sorted = delta_in_order(path);
    size_t count;

    if (list_sorted(sorted, entries, list, &count))
        return count;
    pthread_mutex_lock(&sorted->sorting);
    sort(path, sorted);
    pthread_mutex_unlock(&sorted->sorting);
    list_sorted(sorted, entries, list, &count);
    return count;
}

/* How many entries sort_new() would sort or move: those that are new, and those of the pieces that they take in. */
static size_t entries_to_sort(struct delta_path *path, const struct delta_sorted *sorted)
{
    size_t entries = atomic_load_explicit(&path->count, memory_order_acquire) - sorted->entry_count;

    if (entries == 0)
        return 0;
    for (size_t i = sorted->piece_count; i > 0 && sorted->piece[i - 1]->count / TAKES_IN_TIMES < entries; i--)
        entries += sorted->piece[i - 1]->count;
    return entries;
}

enum status piece_list_soon(struct op *op, struct delta_path *path, struct piece *list[PIECES_MAX],
                            size_t *count)
{
    uint32_t entries = atomic_load_explicit(&path->count, memory_order_acquire);
    struct delta_sorted *sorted = delta_in_order(path);
    enum status st;

    if (list_sorted(sorted, entries, list, count))
        return ST_OK;
    if (pthread_mutex_trylock(&sorted->sorting) != 0)
        return op_may_take_long(op);
    st = op_spend_often(op, entries_to_sort(path, sorted) / ENTRIES_OF_A_STEP);
    if (st == ST_OK)
        sort(path, sorted);
    pthread_mutex_unlock(&sorted->sorting);
    if (st == ST_OK)
        list_sorted(sorted, entries, list, count);
    return st;
}

struct piece *piece_whole(struct delta_path *path)
{
    struct delta_sorted *sorted = atomic_load(&path->in_order);
    uint32_t count = atomic_load_explicit(&path->count, memory_order_acquire);
    struct change change;
    struct piece *whole;

    if (!sorted) /* mostly nobody has asked for it, and nobody will */
        return count ? sort_range(path, 0, count) : NULL;
    pthread_mutex_lock(&sorted->sorting);
    begin_change(sorted, &change);
    sort_new(path, &change);
    while (change.count > 1)
        merge_last_two(path, &change);
    end_change(path, sorted, &change);
    whole = change.count ? hold(change.piece[0])
                         : NULL; /* its place is a reference until `sorting` is given up */
    pthread_mutex_unlock(&sorted->sorting);
    return whole;
}

static bool is_before(const struct delta_path *path, const struct piece *piece, uint32_t at,
                      struct slice value, uint64_t number)
{
    return piece_compare(delta_at(path, piece->index[at]), value, number) < 0;
}

/* In [low, high], where `high` is known not to be before it, or is the end. */
static uint32_t find_between(const struct delta_path *path, const struct piece *piece, uint32_t low,
                             uint32_t high, struct slice value, uint64_t number)
{
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;

        if (is_before(path, piece, middle, value, number))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

uint32_t piece_find(const struct delta_path *path, const struct piece *piece, struct slice value,
                    uint64_t number)
{
    return find_between(path, piece, 0, piece->count, value, number);
}

uint32_t piece_find_behind(const struct delta_path *path, const struct piece *piece, uint32_t low,
                           struct slice value, uint64_t number)
{
    uint32_t step = 1;

    while (step <= piece->count - low && is_before(path, piece, low + step - 1, value, number)) {
        low += step;
        step *= 2;
    }
    if (step > piece->count - low)
        return find_between(path, piece, low, piece->count, value, number);
    return find_between(path, piece, low, low + step - 1, value, number);
}
