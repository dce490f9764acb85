/* test/unit/rntbd/session_test.c - frames of Direct mode become requests, and answers become frames. */
#include <stdlib.h>

#include "base/encode.h"
#include "frame/frame.h"
#include "rntbd/rntbd.h"
#include "test.h"

enum { STREAMS = 4, BODY_BYTES_MAX = 4096, FRAME_BYTES_MAX = 4096 };

static const struct session_limits limits = {
    .head_bytes_max = 8192, .body_bytes_max = BODY_BYTES_MAX, .small_body_bytes = 1024, .streams_max = STREAMS
};

/* An owner with room for a few requests, and a client's end of the connection. */
struct peer {
    struct session *session;
    struct stream streams[STREAMS];
    bool is_used[STREAMS], admits;
    struct arena arena;
};

static struct stream *begin(void *context)
{
    struct peer *peer = context;

    for (size_t i = 0; i < STREAMS; i++) {
        if (peer->is_used[i])
            continue;
        peer->is_used[i] = true;
        peer->streams[i] = (struct stream){ 0 };
        return &peer->streams[i];
    }
    return NULL;
}

static bool reserve(void *context, struct input *input, size_t bytes)
{
    (void)context;
    return input_reserve(input, bytes);
}

static void release(void *context, struct input *input)
{
    (void)context;
    input_free(input);
}

static void ended(void *context, struct stream *stream)
{
    struct peer *peer = context;

    input_free(&stream->head);
    input_free(&stream->body);
    peer->is_used[stream - peer->streams] = false;
}

static bool admit(void *context, struct stream *stream)
{
    (void)stream;
    return ((struct peer *)context)->admits;
}

static const struct session_owner owner = { begin, reserve, release, ended, admit };

static void connect(struct peer *peer)
{
    *peer = (struct peer){ .admits = true };
    arena_init(&peer->arena, 1 << 20);
    peer->session = session_open(&session_rntbd, &limits, &owner, peer);
}

static void disconnect(struct peer *peer)
{
    session_close(peer->session);
    for (size_t i = 0; i < STREAMS; i++)
        if (peer->is_used[i])
            ended(peer, &peer->streams[i]);
    arena_free(&peer->arena);
}

static bool feed(struct peer *peer, struct slice bytes)
{
    return session_rntbd.feed(peer->session, bytes);
}

/* What is sent now, all of it. */
static struct slice pull(struct peer *peer)
{
    struct slice piece;
    struct buf all;

    buf_init(&all, &test_op()->arena);
    while (session_rntbd.pull(peer->session, &piece) && piece.size)
        buf_slice(&all, piece);
    return buf_as_slice(&all);
}

static void answer(struct peer *peer, struct stream *stream, int status, const char *head, struct slice body)
{
    CHECK(session_rntbd.answer(
        stream, &peer->arena,
        &(struct session_answer){ .status = status, .head = slice_of(head), .body = body }));
}

/* Frames that an SDK sent (frames.txt). */
static struct slice captured(const char *name)
{
    static uint8_t bytes[FRAME_BYTES_MAX];
    static char line[3 * FRAME_BYTES_MAX];
    FILE *file = fopen(test_source_path("test/unit/rntbd/frames.txt"), "r");
    size_t size = 0;

    CHECK(file);
    while (file && fgets(line, sizeof(line), file))
        if (strncmp(line, name, strlen(name)) == 0 && line[strlen(name)] == ' ') {
            line[strcspn(line, "\n")] = '\0';
            CHECK(hex_decode(slice_of(line + strlen(name) + 1), bytes, sizeof(bytes), &size));
        }
    if (file)
        fclose(file);
    CHECK(size > 0);
    return slice_make(bytes, size);
}

static void connect_known(struct peer *peer)
{
    connect(peer);
    CHECK(feed(peer, captured("context_request")));
    CHECK(pull(peer).size > 0);
}

/* Frames of our own */

static struct buf frame_of(uint16_t resource, uint16_t operation)
{
    static const uint8_t activity[GUID_BYTES] = { 1, 2, 3 };
    struct buf frame;

    buf_init(&frame, &test_op()->arena);
    frame_begin(&frame, resource | (uint32_t)operation << 16, activity);
    return frame;
}

/* A read of dbs/d/colls/c/docs/{id}. */
static struct slice read_of(uint32_t request_id, const char *id)
{
    struct buf frame = frame_of(3, 3);

    frame_text(&frame, 0x15, slice_of("d"));
    frame_text(&frame, 0x16, slice_of("c"));
    frame_text(&frame, 0x17, slice_of(id));
    frame_number(&frame, 0x4d, request_id);
    frame_end(&frame, 0);
    return buf_as_slice(&frame);
}

static struct slice create_of(uint32_t request_id, size_t payload_bytes)
{
    struct buf frame = frame_of(3, 1);

    frame_text(&frame, 0x15, slice_of("d"));
    frame_text(&frame, 0x16, slice_of("c"));
    frame_number(&frame, 0x4d, request_id);
    frame_byte(&frame, 0x02, 1);
    frame_end(&frame, payload_bytes);
    for (size_t i = 0; i < payload_bytes; i++)
        buf_byte(&frame, 'x');
    return buf_as_slice(&frame);
}

/* The value of an answer's token, or absent. */
static struct slice token_of(struct slice frame, uint16_t id)
{
    struct slice rest = slice_make(frame.data + FRAME_FIXED_BYTES, frame_u32(frame) - FRAME_FIXED_BYTES);
    struct frame_token token;

    while (rest.size && frame_take_token(&rest, &token))
        if (token.id == id)
            return token.value;
    return (struct slice){ 0 };
}

static uint64_t number_of(struct slice frame, uint16_t id)
{
    uint64_t number = 0;
    struct slice value = token_of(frame, id);

    memcpy(&number, value.data, value.size);
    return number;
}

TEST(the_first_frame_is_answered_as_the_sdk_accepts_it)
{
    struct peer peer;

    connect(&peer);
    CHECK(feed(&peer, captured("context_request")));
    CHECK(slice_equal(pull(&peer),
                      slice_make(captured("context_answer_200").data, captured("context_answer_200").size)));
    disconnect(&peer);
}

/* What the frames of frames.txt mean over HTTP. */
static const struct {
    const char *frame;
    enum method method;
    const char *target;
    size_t body_bytes;
    struct {
        enum header_id id;
        const char *value;
    } headers[6];
} meanings[] = {
    { "database_read", METHOD_GET, "/dbs/probe", 0, { { HEADER_VERSION, "2020-07-15" } } },
    { "document_upsert",
      METHOD_POST,
      "/dbs/probe/colls/c/docs",
      25,
      { { HEADER_IS_UPSERT, "true" },
        { HEADER_PARTITION_KEY, "[\"x\"]" },
        { HEADER_CONTAINER_RID, "AAAAI4AAACQ=" } } },
    { "document_read_with_session_token",
      METHOD_GET,
      "/dbs/probe/colls/c/docs/a",
      0,
      { { HEADER_SESSION_TOKEN, "0:-1#1" } } },
    { "document_query_one_range",
      METHOD_POST,
      "/dbs/probe/colls/c/docs",
      27,
      { { HEADER_IS_QUERY, "true" },
        { HEADER_MAX_ITEM_COUNT, "1000" },
        { HEADER_PARTITION_KEY_RANGE_ID, "0" },
        { HEADER_QUERY_METRICS, "true" },
        { HEADER_CROSS_PARTITION, "true" } } },
    { "document_readfeed_change_feed_from_now",
      METHOD_GET,
      "/dbs/probe/colls/c/docs",
      0,
      { { HEADER_IF_NONE_MATCH, "*" }, { HEADER_A_IM, "Incremental Feed" } } },
    { "document_batch_transactional_read_with_ifnonematch_patch_with_condition",
      METHOD_POST,
      "/dbs/probe/colls/c/docs",
      196,
      { { HEADER_IS_BATCH, "true" },
        { HEADER_BATCH_ATOMIC, "true" },
        { HEADER_PARTITION_KEY, "[\"x\"]" },
        { HEADER_SESSION_TOKEN, "0:-1#7" } } },
    { "document_batch_bulk_6_creates",
      METHOD_POST,
      "/dbs/netea68bcfe/colls/items/docs",
      0,
      { { HEADER_IS_BATCH, "true" }, { HEADER_BATCH_ATOMIC, "false" }, { HEADER_BATCH_CONTINUE, "true" } } },
    { "storedprocedure_executejavascript",
      METHOD_POST,
      "/dbs/probe/colls/c/sprocs/one",
      0,
      { { HEADER_SCRIPT_LOG, "true" }, { HEADER_PARTITION_KEY, "[\"x\"]" } } },
    { "collection_head_read_barrier", METHOD_HEAD, "/dbs/probe/colls/c", 0, { { 0 } } },
    { "database_headfeed", METHOD_HEAD, "/dbs", 0, { { 0 } } },
    { "document_read_by_rid",
      METHOD_GET,
      "/dbs/AAAAIw==/colls/AAAAI4AAACQ=/docs/AAAAI4AAACQBAAAAABpZBw==",
      0,
      { { 0 } } },
    { "document_read_with_resource_token",
      METHOD_GET,
      "/dbs/netea68bcfe/colls/items/docs/i5",
      0,
      { { HEADER_PARTITION_KEY, "[\"p5\"]" }, { HEADER_CONTAINER_RID, "AAAAEoAAABM=" } } },
};

/* Who has one signs nothing, and so tells no date. */
static bool has_resource_token(const struct request *request)
{
    return slice_starts_with(request->header[HEADER_AUTHORIZATION], "type%3dresource");
}

static void check_meaning(size_t i, struct stream *stream)
{
    struct request request = { .target = slice_of(""), .body = slice_of("") };

    CHECK(stream && stream->why == ST_OK);
    if (!stream)
        return;
    stream_request(stream, &request);
    CHECK(request.direct && request.method == meanings[i].method);
    CHECK(slice_is(request.target, meanings[i].target));
    CHECK(meanings[i].body_bytes == 0 || request.body.size == meanings[i].body_bytes);
    CHECK(request.header[HEADER_AUTHORIZATION].size > 20);
    CHECK(request.header[HEADER_MS_DATE].size == (has_resource_token(&request) ? 0 : HTTP_DATE_SIZE));
    CHECK(!request.header[HEADER_CONSISTENCY_LEVEL].data);
    for (size_t h = 0; h < 6 && meanings[i].headers[h].value; h++)
        CHECK(slice_is(request.header[meanings[i].headers[h].id], meanings[i].headers[h].value));
}

TEST(each_captured_frame_means_the_request_that_it_would_be_over_http)
{
    struct peer peer;

    for (size_t i = 0; i < sizeof(meanings) / sizeof(meanings[0]); i++) {
        connect_known(&peer);
        CHECK(feed(&peer, captured(meanings[i].frame)));
        check_meaning(i, session_next(peer.session));
        CHECK(!session_next(peer.session) && !peer.session->is_partial);
        disconnect(&peer);
    }
}

TEST(a_request_is_the_same_however_its_bytes_are_cut)
{
    struct peer peer;
    struct slice bytes;

    for (size_t piece = 1; piece < 40; piece += 3) {
        connect_known(&peer);
        bytes = captured("document_upsert");
        while (bytes.size) {
            size_t size = bytes.size < piece ? bytes.size : piece;

            CHECK(!session_next(peer.session));
            CHECK(feed(&peer, slice_make(bytes.data, size)));
            bytes = slice_after(bytes, size);
            CHECK(peer.session->is_partial == (bytes.size > 0));
        }
        check_meaning(1, session_next(peer.session));
        disconnect(&peer);
    }
}

/* What was answered to them, and the lines that HTTP had for it. */
#define OWNER "x-ms-alt-content-path: dbs/probe/colls/c\r\nx-ms-content-path: AAAAI4AAACQ=\r\n"
#define QUOTA "x-ms-resource-quota: documentsSize=-1;documentsCount=-1;collectionSize=-1;\r\n"
#define USAGE(kilobytes, count)                                                    \
    QUOTA "x-ms-resource-usage: documentsSize=" kilobytes ";documentsCount=" count \
          ";collectionSize=" kilobytes ";\r\n"
#define AT(range, lsn) "lsn: " lsn "\r\nx-ms-session-token: " range ":-1#" lsn "\r\n"
#define ITEM_OF_5F43 "etag: \"5f43faa7-0000-71d7-027b-6afa9ad80000\"\r\n" OWNER USAGE("1", "1")
#define OTHER_OWNER \
    "x-ms-alt-content-path: dbs/netea68bcfe/colls/items\r\nx-ms-content-path: AAAAEoAAABM=\r\n"
#define METRICS                                                                                              \
    "x-ms-documentdb-query-metrics: totalExecutionTimeInMs=0.02;queryCompileTimeInMs=0.00;"                  \
    "queryLogicalPlanBuildTimeInMs=0.00;queryPhysicalPlanBuildTimeInMs=0.00;queryOptimizationTimeInMs=0.00;" \
    "VMExecutionTimeInMs=0.01;indexLookupTimeInMs=0.01;documentLoadTimeInMs=0.00;"                           \
    "systemFunctionExecuteTimeInMs=0.00;userFunctionExecuteTimeInMs=0.00;retrievedDocumentCount=3;"          \
    "retrievedDocumentSize=242;outputDocumentCount=3;outputDocumentSize=680;writeOutputTimeInMs=0.00;"       \
    "indexUtilizationRatio=1.00\r\n"

static const struct {
    const char *request, *answer;
    int status;
    const char *lines;
} answers[] = {
    { "database_read", "database_read_answer_404", 404, "x-ms-request-charge: 1\r\n" },
    { "document_upsert", "document_upsert_answer_201", 201,
      ITEM_OF_5F43 "x-ms-request-charge: 5.19\r\nx-ms-item-lsn: 1\r\n" AT("0", "1") },
    { "document_read_with_session_token", "document_read_with_session_token_answer_200", 200,
      ITEM_OF_5F43 "x-ms-request-charge: 1\r\nx-ms-item-lsn: 1\r\n" AT("0", "1") },
    { "document_query_one_range", "document_query_one_range_answer_200", 200,
      OWNER METRICS USAGE("1", "3") "x-ms-request-charge: 2.84\r\nx-ms-item-count: 3\r\n" AT("0", "6") },
    { "document_readfeed_change_feed_from_now", "document_readfeed_change_feed_from_now_answer_304", 304,
      "etag: \"6\"\r\n" OWNER USAGE("1", "3") "x-ms-request-charge: 1\r\nx-ms-item-count: 0\r\n" AT("0",
                                                                                                    "6") },
    { "document_batch_transactional_read_with_ifnonematch_patch_with_condition",
      "document_batch_transactional_read_with_ifnonematch_patch_with_condition_answer_207", 207,
      OWNER USAGE("1", "3") "x-ms-request-charge: 11.09\r\n" AT("0", "8") },
    { "document_batch_bulk_6_creates", "document_batch_bulk_6_creates_answer_200", 200,
      OTHER_OWNER USAGE("17", "107") "x-ms-request-charge: 33.66\r\n" AT("2", "114") },
    { "storedprocedure_executejavascript", "storedprocedure_executejavascript_answer_200", 200,
      OWNER USAGE("1", "3") "x-ms-request-charge: 1.5\r\n" AT("0", "6") },
    { "collection_head_read_barrier", "collection_head_read_barrier_answer_200", 200,
      "x-ms-request-charge: 0\r\nlsn: 373\r\n" },
    { "database_headfeed", "database_headfeed_answer_200", 200, "x-ms-request-charge: 0\r\nlsn: 377\r\n" },
    { "document_read_by_rid", "document_read_by_rid_answer_200", 200,
      "etag: \"14ec076f-0000-3159-50f3-6afa9f6b0000\"\r\n" OWNER USAGE(
          "3", "26") "x-ms-request-charge: 1\r\nx-ms-item-lsn: 455\r\n" AT("0", "455") },
    { "document_read_with_resource_token", "document_read_with_resource_token_answer_200", 200,
      "etag: \"e81bee59-0000-a707-93d3-6afa99b80000\"\r\n" OTHER_OWNER USAGE(
          "16", "102") "x-ms-request-charge: 1\r\nx-ms-item-lsn: 6\r\n" AT("2", "911") },
};

/* Each token of one is in the other, of the same type and with the same bytes. */
static bool has_tokens_of(struct slice frame, struct slice wanted)
{
    struct slice rest = slice_make(wanted.data + FRAME_FIXED_BYTES, frame_u32(wanted) - FRAME_FIXED_BYTES);
    struct slice tokens = slice_make(frame.data + FRAME_FIXED_BYTES, frame_u32(frame) - FRAME_FIXED_BYTES);
    struct frame_token token;

    while (rest.size) {
        const char *begin = rest.data;

        if (!frame_take_token(&rest, &token) ||
            !memmem(tokens.data, tokens.size, begin, (size_t)(rest.data - begin)))
            return false;
    }
    return true;
}

TEST(each_captured_answer_is_what_is_sent_for_its_status_and_lines)
{
    struct peer peer;
    struct slice wanted, payload, sent;

    for (size_t i = 0; i < sizeof(answers) / sizeof(answers[0]); i++) {
        connect_known(&peer);
        CHECK(feed(&peer, captured(answers[i].request)));
        wanted = arena_copy(&test_op()->arena, captured(answers[i].answer));
        payload = slice_after(wanted, frame_u32(wanted));
        if (payload.size)
            payload = slice_after(payload, FRAME_LENGTH_BYTES);
        answer(&peer, session_next(peer.session), answers[i].status, answers[i].lines, payload);
        sent = pull(&peer);
        CHECK(sent.size == wanted.size);
        CHECK(memcmp(sent.data, wanted.data, FRAME_FIXED_BYTES) == 0); /* size, status, activity */
        CHECK(has_tokens_of(sent, wanted) && has_tokens_of(wanted, sent));
        CHECK(slice_equal(slice_after(sent, frame_u32(sent)), slice_after(wanted, frame_u32(wanted))));
        disconnect(&peer);
    }
}

TEST(names_come_as_they_are_and_are_encoded_in_the_target)
{
    struct request request = { .target = slice_of("") };
    struct peer peer;

    connect_known(&peer);
    CHECK(feed(&peer, read_of(1, "a/b?c%20d \xc3\xbc")));
    stream_request(session_next(peer.session), &request);
    CHECK(slice_is(request.target, "/dbs/d/colls/c/docs/a%2Fb%3Fc%2520d%20%C3%BC"));
    disconnect(&peer);
}

TEST(answers_come_in_the_order_in_which_they_are_done)
{
    struct peer peer;
    struct stream *first, *second;
    struct slice sent;

    connect_known(&peer);
    CHECK(feed(&peer, read_of(7, "a")));
    CHECK(feed(&peer, read_of(8, "b")));
    first = session_next(peer.session);
    second = session_next(peer.session);
    answer(&peer, second, 200,
           "etag: \"e\"\r\nlsn: 68\r\nx-ms-session-token: 4:-1#68\r\nx-ms-request-charge: 10.02\r\n",
           slice_of("{}"));
    answer(&peer, first, 404, "x-ms-substatus: 1002\r\n", slice_of("{\"code\":\"NotFound\"}"));
    sent = pull(&peer);
    CHECK(frame_u32(slice_after(sent, 4)) == 200);
    CHECK(number_of(sent, 0x35) == 8);
    CHECK(number_of(sent, 0x00) == 1);
    CHECK(slice_is(token_of(sent, 0x04), "\"e\""));
    CHECK(slice_is(token_of(sent, 0x21), "4") && slice_is(token_of(sent, 0x3e), "-1#68"));
    CHECK(number_of(sent, 0x13) == 68 && number_of(sent, 0x3a) == 68 && number_of(sent, 0x29) == 68);
    CHECK(memcmp(token_of(sent, 0x15).data, &(double){ 10.02 }, sizeof(double)) == 0);
    sent = slice_after(sent, frame_u32(sent) + FRAME_LENGTH_BYTES + 2);
    CHECK(number_of(sent, 0x35) == 7 && frame_u32(slice_after(sent, 4)) == 404 &&
          number_of(sent, 0x1c) == 1002);
    CHECK(number_of(sent, 0x13) == 1 && number_of(sent, 0x3a) == 1); /* clients believe no failure without */
    disconnect(&peer);
}

TEST(a_failure_that_names_no_session_has_the_one_that_its_client_told)
{
    struct peer peer;
    struct slice sent;

    connect_known(&peer);
    CHECK(feed(&peer, captured("document_read_with_session_token")));
    answer(&peer, session_next(peer.session), 404, "x-ms-substatus: 1003\r\n", slice_of("{}"));
    sent = pull(&peer);
    CHECK(slice_is(token_of(sent, 0x3e), "-1#1") && slice_is(token_of(sent, 0x21), "0"));
    disconnect(&peer);
}

TEST(a_large_answer_is_sent_whole)
{
    enum { LARGE = 100000 };
    struct peer peer;
    char *body = arena_alloc(&test_op()->arena, LARGE);
    struct slice sent;

    memset(body, 'y', LARGE);
    connect_known(&peer);
    CHECK(feed(&peer, read_of(1, "a")));
    answer(&peer, session_next(peer.session), 200, "", slice_make(body, LARGE));
    sent = pull(&peer);
    CHECK(sent.size == frame_u32(sent) + FRAME_LENGTH_BYTES + LARGE);
    CHECK(frame_u32(slice_after(sent, frame_u32(sent))) == LARGE);
    CHECK(memcmp(sent.data + sent.size - LARGE, body, LARGE) == 0);
    CHECK(!peer.is_used[0]);
    disconnect(&peer);
}

TEST(what_there_is_no_room_for_waits)
{
    struct peer peer;
    struct stream *streams[STREAMS];

    connect_known(&peer);
    for (uint32_t i = 0; i < STREAMS + 2; i++)
        CHECK(feed(&peer, read_of(i, "a")));
    CHECK(peer.session->is_held);
    for (size_t i = 0; i < STREAMS; i++)
        streams[i] = session_next(peer.session);
    CHECK(!session_next(peer.session));
    answer(&peer, streams[1], 200, "", slice_of("{}"));
    CHECK(pull(&peer).size > 0);
    CHECK(feed(&peer, slice_of("")) && peer.session->is_held);
    CHECK(session_next(peer.session)->id == STREAMS);
    answer(&peer, streams[0], 200, "", slice_of("{}"));
    CHECK(pull(&peer).size > 0);
    CHECK(feed(&peer, slice_of("")) && !peer.session->is_held);
    CHECK(session_next(peer.session)->id == STREAMS + 1);
    disconnect(&peer);
}

/* The stream that was refused, and the one behind it, which is not. */
static void check_refused(struct peer *peer, struct slice frame, enum status why)
{
    struct stream *stream;

    CHECK(feed(peer, frame));
    CHECK(feed(peer, read_of(99, "z")));
    stream = session_next(peer->session);
    CHECK(stream && stream->why == why);
    stream = session_next(peer->session);
    CHECK(stream && stream->why == ST_OK && stream->id == 99);
}

TEST(what_is_asked_wrongly_is_answered_and_the_connection_goes_on)
{
    struct buf nameless = frame_of(3, 3), unknown = frame_of(3, 0x0e), strange = frame_of(0x0c, 3);
    struct peer peer;

    frame_text(&nameless, 0x15, slice_of("d"));
    frame_end(&nameless, 0);
    frame_end(&unknown, 0);
    frame_end(&strange, 0);
    connect_known(&peer);
    check_refused(&peer, buf_as_slice(&nameless), ST_BAD_HEADER);
    disconnect(&peer);
    connect_known(&peer);
    check_refused(&peer, buf_as_slice(&unknown), ST_BAD_HEADER);
    disconnect(&peer);
    connect_known(&peer);
    check_refused(&peer, buf_as_slice(&strange), ST_BAD_HEADER);
    disconnect(&peer);
    connect_known(&peer);
    check_refused(&peer, create_of(1, BODY_BYTES_MAX + 1), ST_TOO_LARGE);
    disconnect(&peer);
    connect_known(&peer);
    peer.admits = false;
    check_refused(&peer, create_of(1, 2000), ST_UNAUTHORIZED);
    disconnect(&peer);
}

TEST(a_payload_arrives_whole_and_an_empty_one_is_none)
{
    struct request request = { .target = slice_of(""), .body = slice_of("") };
    struct peer peer;

    connect_known(&peer);
    CHECK(feed(&peer, create_of(1, BODY_BYTES_MAX)));
    stream_request(session_next(peer.session), &request);
    CHECK(request.body.size == BODY_BYTES_MAX && request.body.data[BODY_BYTES_MAX - 1] == 'x');
    disconnect(&peer);
}

/* Whether the connection ends by these bytes. */
static bool ends_by(struct slice bytes, bool is_known)
{
    struct peer peer;
    bool ends;

    if (is_known)
        connect_known(&peer);
    else
        connect(&peer);
    ends = !feed(&peer, bytes);
    disconnect(&peer);
    return ends;
}

TEST(bytes_that_are_no_frame_end_the_connection)
{
    struct buf wrong_type = frame_of(3, 3), cut = frame_of(3, 3);

    frame_number(&wrong_type, 0x15, 5); /* a name is no number */
    frame_end(&wrong_type, 0);
    frame_text(&cut, 0x15, slice_of("name"));
    cut.size -= 2;
    frame_end(&cut, 0);
    CHECK(ends_by(buf_as_slice(&wrong_type), true));
    CHECK(ends_by(buf_as_slice(&cut), true));
    CHECK(ends_by(slice_make("\x17\0\0\0", 4), true)); /* shorter than any */
    CHECK(ends_by(slice_make("\0\0\0\x01", 4), true)); /* longer than any */
    CHECK(ends_by(read_of(1, "a"), false));            /* nobody knows who asks */
    CHECK(!ends_by(captured("context_request"), false));
}

TEST(a_second_greeting_ends_the_connection)
{
    CHECK(ends_by(captured("context_request"), true));
}

TEST(what_comes_to_a_session_that_drains_is_sent_elsewhere)
{
    struct peer peer;
    struct stream *before, *after;

    connect_known(&peer);
    CHECK(feed(&peer, read_of(1, "a")));
    before = session_next(peer.session);
    session_drain(peer.session);
    CHECK(feed(&peer, read_of(2, "b")));
    after = session_next(peer.session);
    CHECK(before->why == ST_OK && after->why == ST_LEAVING);
    CHECK(error_row(ST_LEAVING)->http == 410 &&
          error_row(ST_LEAVING)->sub == 0); /* clients send it again, writes too */
    answer(&peer, before, 200, "", slice_of("{}"));
    answer(&peer, after, 410, "", slice_of("{}"));
    CHECK(pull(&peer).size > 0);
    CHECK(!session_rntbd.is_over(peer.session)); /* more may be on its way */
    session_rntbd.end(peer.session);
    CHECK(session_rntbd.is_over(peer.session));
    disconnect(&peer);
}
