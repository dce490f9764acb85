/*
 * test/client/direct_test.c - Direct mode from the client's side, beside a peer that says what a test wants to hear.
 * What operations answer is compared by test/client/run --direct, and what becomes of calls at every step of every request by
 * test/client/faults --direct.
 */
#include <arpa/inet.h>
#include <orrery.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "client.h"
#include "failing_alloc.h"
#include "fake.h"
#include "frame/frame.h"
#include "test.h"

#define KEY "C2y6yDjf5/R+ob0N8A7Cgv30VRDJIWEHLM+4QDU5DE2nQ9nDuVTqobD4b8mGGyPMbIZnqyMsEcaGQy67XIw/Jw=="

enum { FRAME_BYTES_MAX = 4096, CALLS = 3, DOCUMENT_NAME = 0x17 };

static const char items[] = "dbs/d/colls/c";
static const char item[] = "{\"id\":\"1\",\"pk\":1}";

/* ---- the peer: one connection at a time, each served as the test says */

struct peer;
typedef void serving(struct peer *peer, int fd);

struct peer {
    serving *serve;
    pthread_t thread;
    int listener, connections, requests;
    char url[64];
    char name[64]; /* what the last request was about */
    size_t rid_bytes;
};

static void *run_peer(void *context)
{
    struct peer *peer = context;
    int fd;

    while ((fd = accept(peer->listener, NULL, NULL)) >= 0) {
        peer->connections++;
        peer->serve(peer, fd);
        close(fd);
    }
    return NULL;
}

static void start(struct peer *peer, serving *serve)
{
    struct sockaddr_in place = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    socklen_t size = sizeof(place);

    *peer = (struct peer){ .serve = serve, .listener = socket(AF_INET, SOCK_STREAM, 0) };
    REQUIRE(bind(peer->listener, (struct sockaddr *)&place, size) == 0);
    REQUIRE(listen(peer->listener, 16) == 0);
    getsockname(peer->listener, (struct sockaddr *)&place, &size);
    snprintf(peer->url, sizeof(peer->url), "http://127.0.0.1:%d", ntohs(place.sin_port));
    pthread_create(&peer->thread, NULL, run_peer, peer);
}

static void stop(struct peer *peer)
{
    shutdown(peer->listener, SHUT_RDWR);
    pthread_join(peer->thread, NULL);
    close(peer->listener);
}

static bool take(int fd, char *bytes, size_t size)
{
    return size == 0 || recv(fd, bytes, size, MSG_WAITALL) == (ssize_t)size;
}

/* The head and the payload of a frame; false: there is none. */
static bool take_frame(int fd, char bytes[FRAME_BYTES_MAX], struct slice *head)
{
    struct frame_token token;
    struct slice rest;
    char length[4], payload[FRAME_BYTES_MAX];

    if (!take(fd, bytes, 4))
        return false;
    *head = slice_make(bytes, frame_u32(slice_make(bytes, 4)));
    if (head->size > FRAME_BYTES_MAX || !take(fd, bytes + 4, head->size - 4))
        return false;
    if (frame_u32(slice_after(*head, 4)) == 0)
        return true;
    for (rest = slice_after(*head, FRAME_FIXED_BYTES); rest.size && frame_take_token(&rest, &token);)
        if (token.id == ASK_PAYLOAD_PRESENT && frame_token_number(&token))
            return take(fd, length, 4) && take(fd, payload, frame_u32(slice_make(length, 4)));
    return true;
}

static void copy(char to[64], struct slice value)
{
    memcpy(to, value.data, value.size < 63 ? value.size : 63);
    to[value.size < 63 ? value.size : 63] = '\0';
}

/* The number of a request, and what it is about. */
static uint32_t look(struct peer *peer, struct slice head)
{
    struct slice rest = slice_after(head, FRAME_FIXED_BYTES);
    struct frame_token token;
    uint32_t id = 0;

    peer->requests++;
    peer->name[0] = '\0';
    peer->rid_bytes = 0;
    while (rest.size && frame_take_token(&rest, &token)) {
        if (token.id == ASK_REQUEST_ID)
            id = (uint32_t)frame_token_number(&token);
        if (token.id == DOCUMENT_NAME)
            copy(peer->name, token.value);
        if (token.id == ASK_RESOURCE_ID)
            peer->rid_bytes = token.value.size;
    }
    return id;
}

static void say(int fd, uint32_t status, uint32_t id, const char *payload)
{
    static const uint8_t activity[GUID_BYTES] = { 1 };
    char room[FRAME_BYTES_MAX];
    struct buf out = { .data = room, .capacity = sizeof(room) };

    frame_begin(&out, status, activity);
    if (id) {
        frame_byte(&out, TELL_PAYLOAD_PRESENT, 1);
        frame_number(&out, TELL_REQUEST_ID, id);
        frame_text(&out, TELL_PARTITION_KEY_RANGE_ID, slice_of("4"));
        frame_text(&out, TELL_SESSION_TOKEN, slice_of("-1#7"));
    } else {
        frame_small_text(&out, HELLO_AGENT, slice_of("test"));
        frame_small_text(&out, HELLO_AGENT_VERSION, slice_of("1"));
    }
    frame_end(&out, strlen(payload));
    buf_text(&out, payload);
    CHECK(send(fd, out.data, out.size, MSG_NOSIGNAL) == (ssize_t)out.size);
}

static bool welcome(int fd)
{
    char bytes[FRAME_BYTES_MAX];
    struct slice head;

    if (!take_frame(fd, bytes, &head))
        return false;
    say(fd, 200, 0, "");
    return true;
}

static void answer_all(struct peer *peer, int fd)
{
    char bytes[FRAME_BYTES_MAX];
    struct slice head;

    if (!welcome(fd))
        return;
    while (take_frame(fd, bytes, &head))
        say(fd, 200, look(peer, head), item);
}

/* ---- clients */

static orrery_client *open_to(const char *url)
{
    orrery_settings settings = {
        .size = sizeof(settings), .endpoint = url, .key = KEY, .direct = 1, .connections_max = 1
    };
    orrery_client *client = NULL;

    CHECK(orrery_open(&settings, &client) == ORRERY_OK);
    return client;
}

static orrery_status create(orrery_client *client)
{
    orrery_key key = orrery_key_number(1);

    return orrery_item_create(client, items, item, ORRERY_TEXT, &key, NULL, NULL);
}

static orrery_status read_one(orrery_client *client, orrery_response **response)
{
    orrery_key key = orrery_key_number(1);

    return orrery_item_read(client, items, "1", &key, NULL, response);
}

/* ---- answers */

/* The last that was asked is answered first. */
static void answer_backwards(struct peer *peer, int fd)
{
    char bytes[FRAME_BYTES_MAX], names[CALLS][64];
    struct slice head;
    uint32_t ids[CALLS];

    if (!welcome(fd))
        return;
    for (int i = 0; i < CALLS; i++) {
        if (!take_frame(fd, bytes, &head))
            return;
        ids[i] = look(peer, head);
        memcpy(names[i], peer->name, sizeof(names[i]));
    }
    for (int i = CALLS; i-- > 0;)
        say(fd, 200, ids[i], names[i]);
    (void)take(fd, bytes, 1); /* until the client has had enough */
}

static void note_body(orrery_client *client, void *context, orrery_status status, orrery_response *response)
{
    (void)client;
    snprintf(context, 64, "%s", status == ORRERY_OK ? orrery_response_body(response, NULL) : "");
    orrery_response_free(response);
}

TEST(several_requests_are_in_flight_on_one_connection_and_each_gets_its_answer)
{
    static const char *const ids[CALLS] = { "one", "two", "\xc3\xbc%20" };
    orrery_key key = orrery_key_number(1);
    char bodies[CALLS][64] = { 0 };
    size_t under_way = CALLS;
    orrery_client *client;
    struct peer peer;

    start(&peer, answer_backwards);
    client = open_to(peer.url);
    for (int i = 0; i < CALLS; i++) {
        orrery_options options = { .size = sizeof(options), .done = note_body, .context = bodies[i] };

        CHECK(orrery_item_read(client, items, ids[i], &key, &options, NULL) == ORRERY_OK);
    }
    while (under_way > 0)
        CHECK(orrery_run(client, -1, &under_way) == ORRERY_OK);
    orrery_close(client);
    stop(&peer);
    CHECK(peer.connections == 1 && peer.requests == CALLS);
    for (int i = 0; i < CALLS; i++)
        CHECK(strcmp(bodies[i], ids[i]) == 0);
}

TEST(an_answer_has_the_headers_of_http)
{
    orrery_response *response = NULL;
    orrery_client *client;
    struct peer peer;

    start(&peer, answer_all);
    client = open_to(peer.url);
    CHECK(read_one(client, &response) == ORRERY_OK);
    CHECK(strcmp(orrery_response_body(response, NULL), item) == 0);
    CHECK(strcmp(orrery_response_session(response), "4:-1#7") == 0);
    CHECK(strcmp(orrery_response_activity(response), "00000001-0000-0000-0000-000000000000") == 0);
    CHECK(strcmp(orrery_session_token(client, items), "4:-1#7") == 0);
    orrery_response_free(response);
    orrery_close(client);
    stop(&peer);
}

TEST(a_link_of_rids_is_told_by_the_last_of_them)
{
    orrery_client *client;
    struct peer peer;

    start(&peer, answer_all);
    client = open_to(peer.url);
    CHECK(orrery_read(client, "dbs/AAAAAw==/colls/AAAAA4AAAAQ=/docs/AAAAA4AAAAQBAAAAAAAAAA==/", NULL, NULL) ==
          ORRERY_OK);
    orrery_close(client);
    stop(&peer);
    CHECK(peer.rid_bytes == 16 && !peer.name[0]);
}

/* ---- connections that end, and what is none */

static void end_after_a_request(struct peer *peer, int fd)
{
    char bytes[FRAME_BYTES_MAX];
    struct slice head;

    if (welcome(fd) && take_frame(fd, bytes, &head))
        look(peer, head);
}

static void end_once(struct peer *peer, int fd)
{
    if (peer->connections == 1)
        end_after_a_request(peer, fd);
    else
        answer_all(peer, fd);
}

TEST(a_write_whose_connection_ends_may_have_happened_and_is_not_sent_again)
{
    orrery_client *client;
    struct peer peer;

    start(&peer, end_after_a_request);
    client = open_to(peer.url);
    CHECK(create(client) == ORRERY_EIO);
    CHECK(strstr(orrery_error(client), "lost"));
    orrery_close(client);
    stop(&peer);
    CHECK(peer.requests == 1);
}

TEST(a_read_whose_connection_ends_is_asked_again)
{
    orrery_response *response = NULL;
    orrery_client *client;
    struct peer peer;

    start(&peer, end_once);
    client = open_to(peer.url);
    CHECK(read_one(client, &response) == ORRERY_OK);
    CHECK(orrery_response_attempts(response) == 2);
    orrery_response_free(response);
    orrery_close(client);
    stop(&peer);
    CHECK(peer.connections == 2 && peer.requests == 2);
}

/* A connection that the server has closed while nobody used it: nothing has been sent on it. */
static void end_after_an_answer(struct peer *peer, int fd)
{
    char bytes[FRAME_BYTES_MAX];
    struct slice head;

    if (welcome(fd) && take_frame(fd, bytes, &head))
        say(fd, 200, look(peer, head), item);
    shutdown(fd, SHUT_RDWR);
}

TEST(a_connection_that_was_closed_while_it_was_idle_costs_no_write)
{
    orrery_client *client;
    struct peer peer;
    int lost = 0;

    start(&peer, end_after_an_answer);
    client = open_to(peer.url);
    for (int i = 0; i < 5; i++) {
        orrery_status status = create(client);

        CHECK(status == ORRERY_OK || status == ORRERY_EIO);
        lost += status == ORRERY_EIO; /* the connection was closed after it was looked at */
    }
    orrery_close(client);
    stop(&peer);
    CHECK(peer.connections + lost >= 5 && peer.requests <= 5);
}

static const char *garbage;
static size_t garbage_bytes;

static void say_garbage(struct peer *peer, int fd)
{
    char bytes[FRAME_BYTES_MAX];
    struct slice head;

    if (!welcome(fd) || !take_frame(fd, bytes, &head))
        return;
    look(peer, head);
    send(fd, garbage, garbage_bytes, MSG_NOSIGNAL);
    (void)take(fd, bytes, 1);
}

TEST(bytes_that_are_no_answer_end_the_connection)
{
    static const struct {
        const char *bytes;
        size_t size;
    } rows[] = {
        { "\x17\0\0\0", 4 },                                                  /* shorter than any */
        { "\xff\xff\xff\x7f", 4 },                                            /* longer than any */
        { "\x1b\0\0\0\xc8\0\0\0................\x35\0\x63", 27 },             /* a type that is none */
        { "\x1f\0\0\0\xc8\0\0\0................\x35\0\x08\xff\xff\0\0", 31 }, /* a value beyond its frame */
        { "\x1d\0\0\0\xc8\0\0\0................\x35\0\x08\0\0", 29 },         /* a number that is a text */
        { "HTTP/1.1 200 OK\r\n\r\n", 19 },
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        orrery_client *client;
        struct peer peer;

        garbage = rows[i].bytes;
        garbage_bytes = rows[i].size;
        start(&peer, say_garbage);
        client = open_to(peer.url);
        CHECK(create(client) == ORRERY_EIO);
        CHECK(strstr(orrery_error(client), "no answer"));
        orrery_close(client);
        stop(&peer);
        CHECK(peer.requests == 1);
    }
}

static void speak_http(struct peer *peer, int fd)
{
    static const char answer[] = "HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n";
    char bytes[FRAME_BYTES_MAX];
    struct slice head;

    (void)peer;
    if (take_frame(fd, bytes, &head))
        send(fd, answer, sizeof(answer) - 1, MSG_NOSIGNAL);
    (void)take(fd, bytes, 1);
}

TEST(a_server_that_knows_no_frames_is_told_so)
{
    orrery_client *client;
    struct peer peer;

    start(&peer, speak_http);
    client = open_to(peer.url);
    CHECK(create(client) == ORRERY_EUNSUPPORTED);
    CHECK(strstr(orrery_error(client), "Direct mode"));
    CHECK(read_one(client, NULL) == ORRERY_EUNSUPPORTED);
    orrery_close(client);
    stop(&peer);
}

static void stay_silent(struct peer *peer, int fd)
{
    char bytes[FRAME_BYTES_MAX];
    struct slice head;

    if (welcome(fd) && take_frame(fd, bytes, &head))
        look(peer, head);
    (void)take(fd, bytes, 1);
}

TEST(a_call_that_is_not_answered_ends_in_its_time_and_may_have_happened)
{
    orrery_options options = { .size = sizeof(options), .timeout_ms = 50 };
    orrery_key key = orrery_key_number(1);
    orrery_client *client;
    struct peer peer;

    start(&peer, stay_silent);
    client = open_to(peer.url);
    CHECK(orrery_item_create(client, items, item, ORRERY_TEXT, &key, &options, NULL) == ORRERY_ETIMEOUT);
    orrery_close(client);
    stop(&peer);
}

TEST(nobody_listens_and_the_request_was_never_sent)
{
    orrery_settings settings = {
        .size = sizeof(settings), .endpoint = "http://127.0.0.1:1", .key = KEY, .direct = 1, .retries_max = -1
    };
    orrery_client *client = NULL;

    CHECK(orrery_open(&settings, &client) == ORRERY_OK);
    CHECK(create(client) == ORRERY_ECONNECT);
    orrery_close(client);
}

/* ---- which way a call goes */

static void answer_http(void *context, const char *request, struct fake_answer *answer)
{
    (void)context, (void)request;
    answer->bytes = "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n{\"id\":\"1\"}";
}

TEST(what_frames_have_no_word_for_goes_over_http)
{
    static const char *const headers[] = { "x-orrery-explain: true", NULL };
    static const char *const odd[] = { "x-ms-consistency-level: Whatever", NULL };
    orrery_options options = { .size = sizeof(options), .headers = headers };
    struct fake *fake = fake_start(answer_http, NULL);
    orrery_client *client = open_to(fake_url(fake));
    orrery_key key = orrery_key_number(1);

    CHECK(orrery_item_read(client, items, "1", &key, &options, NULL) == ORRERY_OK);
    options.headers = odd;
    CHECK(orrery_item_read(client, items, "1", &key, &options, NULL) == ORRERY_OK);
    options = (orrery_options){ .size = sizeof(options), .if_none_match = "*" };
    CHECK(orrery_item_create(client, items, item, ORRERY_TEXT, &key, &options, NULL) == ORRERY_OK);
    CHECK(orrery_read(client, items, NULL, NULL) == ORRERY_OK);
    CHECK(fake_asked(fake) == 4);
    orrery_close(client);
    fake_stop(fake);
}

TEST(direct_mode_is_for_an_endpoint)
{
    orrery_settings settings = { .size = sizeof(settings), .memory = 1, .direct = 1 };

    CHECK(strstr(orrery_open_error(&settings), "endpoint"));
}

/* ---- memory */

static void note_end(orrery_client *client, void *context, orrery_status status, orrery_response *response)
{
    (void)client;
    *(orrery_status *)context = status;
    orrery_response_free(response);
}

static orrery_status read_later(orrery_client *client)
{
    orrery_status ended = ORRERY_WAIT, status;
    orrery_options options = { .size = sizeof(options), .done = note_end, .context = &ended };
    orrery_key key = orrery_key_number(1);

    status = orrery_item_read(client, items, "1", &key, &options, NULL);
    while (status == ORRERY_OK && ended == ORRERY_WAIT)
        status = orrery_run(client, -1, NULL);
    return status == ORRERY_OK ? ended : status;
}

static orrery_status do_all(const char *url)
{
    orrery_settings settings = { .size = sizeof(settings), .endpoint = url, .key = KEY, .direct = 1 };
    orrery_client *client = NULL;
    orrery_status status = orrery_open(&settings, &client);

    if (status == ORRERY_OK)
        status = create(client);
    if (status == ORRERY_OK)
        status = read_one(client, NULL);
    if (status == ORRERY_OK)
        status = read_later(client);
    orrery_close(client);
    return status;
}

TEST(every_allocation_that_fails_is_told)
{
    struct peer peer;
    size_t refused = 0;
    bool happened = true;

    start(&peer, answer_all);
    for (size_t i = 1; happened; i++) {
        orrery_status status;

        failing_alloc_at(i);
        status = do_all(peer.url);
        happened = failing_alloc_happened();
        failing_alloc_at(0);
        CHECK(happened ? status == ORRERY_ENOMEM || status == ORRERY_OK : status == ORRERY_OK);
        refused += status == ORRERY_ENOMEM;
    }
    CHECK(refused > 20);
    stop(&peer);
}
