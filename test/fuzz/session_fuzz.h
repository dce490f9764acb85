/*
 * test/fuzz/session_fuzz.h - what the targets of protocols with many requests at a time share (http/session.h).
 * Any frames, cut anywhere, give requests that lie inside what came in, and streams that end once. Some requests are answered
 * at once, some when the next piece has come, some are given up, some never are: as their targets' sizes say.
 */
#pragma once
#include <assert.h>
#include <stdlib.h>

#include "http/session.h"

enum { HEAD_BYTES_MAX = 512, BODY_BYTES_MAX = 1024, STREAMS_MAX = 8, MEMORY_BYTES_MAX = 64 * 1024 };

static const struct session_limits limits = { .head_bytes_max = HEAD_BYTES_MAX,
                                              .body_bytes_max = BODY_BYTES_MAX,
                                              .small_body_bytes = BODY_BYTES_MAX / 4,
                                              .streams_max = STREAMS_MAX,
                                              .window_bytes = 2048,
                                              .windows_bytes = 65535,
                                              .frames_spare_max = 500 };

struct world {
    struct session *session;
    struct stream streams[STREAMS_MAX];
    bool used[STREAMS_MAX], served[STREAMS_MAX];
    size_t memory_bytes;
    struct arena arena;
};

static size_t index_of(const struct world *world, const struct stream *stream)
{
    size_t index = (size_t)(stream - world->streams);

    assert(index < STREAMS_MAX);
    assert(world->used[index]);
    return index;
}

static struct stream *begin(void *context)
{
    struct world *world = context;

    for (size_t i = 0; i < STREAMS_MAX; i++) {
        if (world->used[i])
            continue;
        world->used[i] = true;
        world->served[i] = false;
        world->streams[i] = (struct stream){ 0 };
        return &world->streams[i];
    }
    return NULL;
}

static bool reserve(void *context, struct input *input, size_t bytes)
{
    struct world *world = context;
    size_t before = input->capacity;

    if (world->memory_bytes + bytes > MEMORY_BYTES_MAX || !input_reserve(input, bytes))
        return false;
    world->memory_bytes += input->capacity - before;
    return true;
}

static void release(struct world *world, struct stream *stream)
{
    world->memory_bytes -= stream->head.capacity + stream->body.capacity;
    input_free(&stream->head);
    input_free(&stream->body);
    world->used[stream - world->streams] = false;
}

static void release_input(void *context, struct input *input)
{
    struct world *world = context;

    world->memory_bytes -= input->capacity;
    input_free(input);
}

static void ended(void *context, struct stream *stream)
{
    index_of(context, stream);
    release(context, stream);
}

/* Every other stream may not send a body that is not small. */
static bool admit(void *context, struct stream *stream)
{
    (void)context;
    return stream->id % 4 == 1;
}

static const struct session_owner owner = { begin, reserve, release_input, ended, admit };

static void check_inside(const struct input *input, struct slice part)
{
    if (part.data && part.size)
        assert(part.data >= input->data && part.data + part.size <= input->data + input->size);
}

static struct request check_request(const struct stream *stream)
{
    struct request request = { .target = slice_of(""), .body = slice_of("") };

    assert(stream->whole);
    stream_request(stream, &request);
    check_inside(&stream->head, request.target);
    check_inside(&stream->body, request.body);
    assert(request.target.size <= (size_t)4 * HEAD_BYTES_MAX); /* names may be encoded in it */
    assert(request.body.size <= BODY_BYTES_MAX);
    for (int id = 0; id < HEADER_COUNT; id++)
        check_inside(&stream->head, request.header[id]);
    return request;
}

static void answer(struct world *world, struct stream *stream)
{
    static const char body[40000];
    size_t size = stream->target.size * 1000u % sizeof(body);

    world->session->kind->answer(
        stream, &world->arena,
        &(struct session_answer){ .status = 200,
                                  .date = slice_of("Thu, 27 Apr 2017 00:51:12 GMT"),
                                  .head = slice_of("Content-Type: text/plain\r\netag: \"1\"\r\n"),
                                  .body = slice_make(body, size),
                                  .has_length = true,
                                  .length_bytes = size });
}

static void serve(struct world *world, struct stream *stream)
{
    size_t index = index_of(world, stream);

    assert(!world->served[index]); /* each comes once */
    world->served[index] = true;
    if (stream->why != ST_OK) {
        assert(stream->reason || !admit(world, stream));
        answer(world, stream);
        return;
    }
    switch (check_request(stream).target.size % 4) {
    case 0:
        world->session->kind->reset(stream);
        break;
    case 1:
        break; /* by answer_late() */
    default:
        answer(world, stream);
    }
}

static void answer_late(struct world *world)
{
    for (size_t i = 0; i < STREAMS_MAX; i++) {
        struct stream *stream = &world->streams[i];

        if (world->used[i] && world->served[i] && stream->session && !stream->answered &&
            stream->target.size % 4 == 1)
            answer(world, stream);
    }
}

static bool pull_all(struct world *world)
{
    struct slice bytes;

    do {
        if (!world->session->kind->pull(world->session, &bytes))
            return false;
    } while (bytes.size);
    return true;
}

static bool feed(struct world *world, const void *data, size_t size)
{
    struct stream *stream;

    answer_late(world);
    if (!world->session->kind->feed(world->session, slice_make(data, size)))
        return false;
    while ((stream = session_next(world->session)))
        serve(world, stream);
    assert(world->memory_bytes <= MEMORY_BYTES_MAX + 2 * STREAMS_MAX * 8192);
    return pull_all(world) && !world->session->kind->is_over(world->session);
}

/* The preface comes first, so that all bytes of the input are frames. */
static void run(const struct session_kind *kind, struct slice preface, const uint8_t *data, size_t size,
                size_t piece)
{
    struct world world = { .memory_bytes = 0 };

    arena_init(&world.arena, (size_t)64 * 1024 * 1024);
    world.session = session_open(kind, &limits, &owner, &world);
    assert(world.session);
    if (feed(&world, preface.data, preface.size)) {
        for (size_t at = 0, next; at < size; at += next) {
            next = piece ? piece : 1u + data[at] % 7;
            if (next > size - at)
                next = size - at;
            if (!feed(&world, data + at, next))
                break;
        }
    }
    session_close(world.session);
    for (size_t i = 0; i < STREAMS_MAX; i++)
        if (world.used[i])
            release(&world, &world.streams[i]);
    assert(world.memory_bytes == 0);
    arena_free(&world.arena);
}
