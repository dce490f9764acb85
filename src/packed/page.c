/* src/packed/page.c - packing and unpacking pages. Whatever comes from a disk may be damaged, and is looked at so. */
#include <assert.h>
#include <stdlib.h>

#include "base/heap.h"
#include "keys/bytes.h"
#include "packed/page.h"

enum { FORMAT = 1, HEADER_BYTES = 1 + 8 + 4, VARINT_BYTES_MAX = 10, PATH_BYTES = 8 };

/* ---- varints ---- */

static size_t put_varint(uint8_t *to, uint64_t number)
{
    size_t size = 0;

    while (number >= 0x80) {
        to[size++] = (uint8_t)(number | 0x80);
        number >>= 7;
    }
    to[size++] = (uint8_t)number;
    return size;
}

static size_t varint_bytes(uint64_t number)
{
    return number ? (size_t)(63 - __builtin_clzll(number)) / 7 + 1 : 1;
}

static bool take_long_varint(struct slice *from, uint64_t *number)
{
    uint64_t value = 0;

    for (size_t i = 0; i < from->size && i < VARINT_BYTES_MAX; i++) {
        uint8_t byte = (uint8_t)from->data[i];

        value |= (uint64_t)(byte & 0x7f) << (7 * i);
        if (byte < 0x80) {
            *number = value;
            *from = slice_after(*from, i + 1);
            return i < VARINT_BYTES_MAX - 1 || byte < 2;
        }
    }
    return false;
}

/* False when it does not end, or is larger than 64 bits. Most are of one byte. */
static inline bool take_varint(struct slice *from, uint64_t *number)
{
    if (from->size == 0 || (uint8_t)from->data[0] >= 0x80)
        return take_long_varint(from, number);
    *number = (uint8_t)from->data[0];
    *from = slice_after(*from, 1);
    return true;
}

static bool take_bytes(struct slice *from, uint64_t size, struct slice *bytes)
{
    if (size > from->size)
        return false;
    *bytes = slice_make(from->data, (size_t)size);
    *from = slice_after(*from, (size_t)size);
    return true;
}

/* ---- reading ---- */

static enum status damaged(struct op *op)
{
    return op_fail(op, ST_CORRUPT, "A page of the index is damaged.");
}

static void *grown(void *memory, size_t *capacity, size_t wanted, size_t unit)
{
    *capacity = 2 * wanted + PAGE_BYTES / unit; /* mostly enough at once */
    return heap_grow(memory, *capacity * unit);
}

/* A record as it lies there. */
struct packed_record {
    uint64_t shared, count, removes;
    struct slice other, numbers;
};

static bool take_record(struct slice *from, struct packed_record *record)
{
    uint64_t other_bytes, numbers_bytes;

    return take_varint(from, &record->shared) && take_varint(from, &other_bytes) &&
           take_bytes(from, other_bytes, &record->other) && take_varint(from, &record->count) &&
           take_varint(from, &record->removes) && take_varint(from, &numbers_bytes) &&
           take_bytes(from, numbers_bytes, &record->numbers);
}

static bool is_sound(const struct page *page, const struct packed_record *record)
{
    size_t before = page->count ? page->record[page->count - 1].place_bytes - PAGE_BUCKET_BYTES : 0;

    return record->shared <= before && record->shared + record->other.size >= PATH_BYTES &&
           record->shared + record->other.size <= PAGE_TERM_BYTES_MAX && record->count > 0 &&
           record->count <= MARKS_MAX && record->removes <= record->count &&
           record->numbers.size >= record->count && page->places_bytes <= PAGE_TERMS_BYTES_MAX;
}

static void add_record(struct page *page, struct slice bucket, const struct packed_record *packed)
{
    size_t place_bytes = PAGE_BUCKET_BYTES + (size_t)packed->shared + packed->other.size;
    uint32_t before_at = page->count ? page->record[page->count - 1].place_at : 0;
    size_t numbers_at = (size_t)(packed->numbers.data - page->value.data);
    char *place;

    assert(numbers_at + packed->numbers.size <= PAGE_READ_BYTES_MAX);

    if (page->count == page->capacity)
        page->record = grown(page->record, &page->capacity, page->count + 1, sizeof(*page->record));
    if (page->places_bytes + place_bytes > page->places_capacity)
        page->places = grown(page->places, &page->places_capacity, page->places_bytes + place_bytes, 1);
    place = page->places + page->places_bytes;
    memcpy(place, bucket.data, PAGE_BUCKET_BYTES);
    memcpy(place + PAGE_BUCKET_BYTES, page->places + before_at + PAGE_BUCKET_BYTES, (size_t)packed->shared);
    if (packed->other.size)
        memcpy(place + PAGE_BUCKET_BYTES + packed->shared, packed->other.data, packed->other.size);
    page->record[page->count++] = (struct page_record){ .place_at = (uint32_t)page->places_bytes,
                                                        .place_bytes = (uint16_t)place_bytes,
                                                        .count = (uint16_t)packed->count,
                                                        .removes = (uint16_t)packed->removes,
                                                        .numbers_at = (uint16_t)numbers_at,
                                                        .numbers_bytes = (uint16_t)packed->numbers.size };
    page->places_bytes += place_bytes;
}

/* A term that is as the one before it shares all of it; of another the first byte that is not shared is larger. */
static bool is_in_order(const struct page *page, const struct packed_record *record)
{
    struct slice last;

    if (page->count == 0)
        return true;
    last = slice_after(page_place(page, page->count - 1), PAGE_BUCKET_BYTES);
    if (record->shared == last.size)
        return true;
    return record->other.size > 0 && (uint8_t)last.data[record->shared] < (uint8_t)record->other.data[0];
}

enum status page_read(struct op *op, struct page *page, struct slice bucket, struct slice value)
{
    struct packed_record record;

    page->count = page->places_bytes = 0;
    if (value.size <= HEADER_BYTES || value.size > PAGE_READ_BYTES_MAX || value.data[0] != FORMAT ||
        bucket.size != PAGE_BUCKET_BYTES)
        return damaged(op);
    page->value = value;
    page->before = (int64_t)get_le(value.data + 1, 8);
    page->ordinal = (uint32_t)get_le(value.data + 9, 4);
    value = slice_after(value, HEADER_BYTES);
    while (value.size > 0) {
        if (!take_record(&value, &record) || !is_sound(page, &record) || !is_in_order(page, &record))
            return damaged(op);
        add_record(page, bucket, &record);
    }
    return ST_OK;
}

void page_free(struct page *page)
{
    free(page->record);
    free(page->places);
}

void page_fit(struct page *page)
{
    assert(page->count > 0); /* page_read() has refused an empty page */
    page->capacity = page->count;
    page->record = heap_grow(page->record, page->capacity * sizeof(*page->record));
    page->places_capacity = page->places_bytes;
    page->places = heap_grow(page->places, page->places_capacity);
}

size_t page_bytes(const struct page *page)
{
    return page->capacity * sizeof(*page->record) + page->places_capacity;
}

size_t page_find(const struct page *page, struct slice place)
{
    size_t low = 0, high = page->count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (slice_compare(page_place(page, middle), place) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static bool read_plain(struct slice from, size_t count, struct marks *marks)
{
    uint64_t number = 0, step;

    for (size_t i = 0; i < count; i++) {
        if (!take_varint(&from, &step) || (i > 0 && step == 0) || number + step < number)
            return false;
        marks->number[i] = number += step;
    }
    return from.size == 0;
}

static bool read_marked(struct slice from, const struct page_record *record, struct marks *marks)
{
    uint64_t number = 0, step;
    size_t removes = 0;

    for (size_t i = 0; i < record->count; i++) {
        if (!take_varint(&from, &step) || (i > 0 && step < 2) || number + step / 2 < number)
            return false;
        marks->number[i] = number += step / 2;
        removes += marks->gone[i] = step & 1;
    }
    return from.size == 0 && removes == record->removes;
}

enum status page_marks(struct op *op, const struct page *page, size_t at, struct marks *marks)
{
    const struct page_record *record = &page->record[at];
    struct slice numbers = slice_make(page->value.data + record->numbers_at, record->numbers_bytes);
    bool sound;

    assert(at < page->count);
    assert(record->count <= MARKS_MAX); /* page_read() has refused more */
    marks_clear(marks);
    marks->any_gone = record->removes > 0;
    sound = marks->any_gone ? read_marked(numbers, record, marks) : read_plain(numbers, record->count, marks);
    if (!sound)
        return damaged(op);
    marks->count = record->count;
    return ST_OK;
}

/* ---- writing ---- */

void page_begin(struct page_writer *page, int64_t before, uint32_t ordinal)
{
    page->bytes[0] = FORMAT;
    put_le(page->bytes + 1, (uint64_t)before, 8);
    put_le(page->bytes + 9, ordinal, 4);
    page->size = HEADER_BYTES;
    page->records = page->terms_bytes = page->term_bytes = 0;
    page->net = 0;
}

static size_t shared_bytes(const struct page_writer *page, struct slice term)
{
    size_t shared = 0;

    while (shared < page->term_bytes && shared < term.size &&
           page->term[shared] == (uint8_t)term.data[shared])
        shared++;
    return shared;
}

/* What one record holds of the marks: as many as fit into the page. */
struct record_plan {
    size_t count, removes, numbers_bytes;
    uint8_t numbers[MARKS_MAX * VARINT_BYTES_MAX];
};

static bool any_gone(const bool *gone, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (gone[i])
            return true;
    return false;
}

static void plan(struct record_plan *record, const uint64_t *number, const bool *gone, size_t count,
                 size_t room)
{
    bool marked = gone && any_gone(gone, count);
    uint64_t last = 0;

    record->count = record->removes = record->numbers_bytes = 0;
    for (size_t i = 0; i < count && i < MARKS_MAX; i++) {
        uint64_t step = marked ? (number[i] - last) << 1 | gone[i] : number[i] - last;

        if (i > 0 && record->numbers_bytes + varint_bytes(step) > room)
            return;
        record->numbers_bytes += put_varint(record->numbers + record->numbers_bytes, step);
        record->removes += marked && gone[i];
        record->count++;
        last = number[i];
    }
}

static void put_record(struct page_writer *page, struct slice term, size_t shared,
                       const struct record_plan *record)
{
    uint8_t *at = page->bytes + page->size;

    assert(shared <= term.size);
    assert(record->count > 0);
    at += put_varint(at, shared);
    at += put_varint(at, term.size - shared);
    at = mempcpy(at, term.data + shared, term.size - shared);
    at += put_varint(at, record->count);
    at += put_varint(at, record->removes);
    at += put_varint(at, record->numbers_bytes);
    at = mempcpy(at, record->numbers, record->numbers_bytes);
    page->size = (size_t)(at - page->bytes);
    assert(page->size <= sizeof(page->bytes));
    memcpy(page->term, term.data, term.size);
    page->term_bytes = term.size;
    page->terms_bytes += PAGE_BUCKET_BYTES + term.size;
    page->records++;
    page->net += (int64_t)record->count - 2 * (int64_t)record->removes;
}

/* Where the record's numbers would begin, at the latest. */
static size_t numbers_at(const struct page_writer *page, struct slice term, size_t shared)
{
    const size_t lengths_bytes = 5 + 5 + 2 + 2 + 3;

    return page->size + lengths_bytes + term.size - shared;
}

bool page_has_room(const struct page_writer *page, struct slice term)
{
    return page->records == 0 ||
           (numbers_at(page, term, shared_bytes(page, term)) + VARINT_BYTES_MAX <= PAGE_BYTES &&
            page->terms_bytes + term.size <= PAGE_TERMS_BYTES_MAX - PAGE_TERM_BYTES_MAX);
}

/*
 * When all removes are among the marks that do not fit, the planned record has its differences times two, although it
 * has no removes, and a reader would misread it. Such a record is planned again for its own marks.
 */
size_t page_put(struct page_writer *page, struct slice term, const uint64_t *number, const bool *gone,
                size_t count)
{
    size_t shared = shared_bytes(page, term);
    size_t begin = numbers_at(page, term, shared);
    struct record_plan record;

    assert(term.size <= PAGE_TERM_BYTES_MAX);
    assert(count > 0);
    if (!page_has_room(page, term))
        return 0;
    plan(&record, number, gone, count, begin < PAGE_BYTES ? PAGE_BYTES - begin : 0);
    if (record.removes == 0 && gone && any_gone(gone, count))
        plan(&record, number, NULL, record.count, sizeof(record.numbers));
    put_record(page, term, shared, &record);
    page->last = number[record.count - 1];
    return record.count;
}
