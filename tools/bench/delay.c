/*
 * tools/bench/delay.c - stands between servers and a PostgreSQL, and has everything that is sent to it come later. Answers
 * come back at once, so a round trip takes that much more.
 *     bench-delay SOCKET MICROSECONDS     prints the port of 127.0.0.1 that it listens on, and serves until it is ended
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

enum { LANES_MAX = 1024, CHUNK_BYTES = 1 << 16 };

struct chunk {
    struct chunk *next;
    int64_t due_ns;
    size_t at, size;
    char bytes[];
};

/* One direction of a connection. Lanes 2n and 2n + 1 are of one. */
struct lane {
    int from, to;
    int64_t delay_ns;
    struct chunk *first, **last;
};

static struct lane lanes[LANES_MAX];
static size_t lane_count;

static int64_t now_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1000000000LL + now.tv_nsec;
}

static void check(int result, const char *what)
{
    if (result < 0) {
        perror(what);
        exit(1);
    }
}

static void close_pair(size_t lane)
{
    struct lane *pair = &lanes[lane & ~(size_t)1];

    close(pair[0].from);
    close(pair[0].to);
    for (int i = 0; i < 2; i++) {
        for (struct chunk *chunk = pair[i].first, *next; chunk; chunk = next) {
            next = chunk->next;
            free(chunk);
        }
        pair[i] = (struct lane){ .from = -1, .to = -1 };
    }
}

static void open_lane(size_t lane, int from, int to, int64_t delay_ns)
{
    lanes[lane] = (struct lane){ .from = from, .to = to, .delay_ns = delay_ns };
    lanes[lane].last = &lanes[lane].first;
}

static void accept_one(int listener, const char *target, int64_t delay_ns)
{
    struct sockaddr_un address = { .sun_family = AF_UNIX };
    int client = accept(listener, NULL, NULL), server = socket(AF_UNIX, SOCK_STREAM, 0), one = 1;
    size_t lane = 0;

    check(client, "accept");
    snprintf(address.sun_path, sizeof(address.sun_path), "%s", target);
    while (lane < lane_count && lanes[lane].from >= 0)
        lane += 2;
    if (lane + 2 > LANES_MAX || connect(server, (struct sockaddr *)&address, sizeof(address)) < 0) {
        close(client);
        close(server);
        return;
    }
    setsockopt(client, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
    fcntl(client, F_SETFL, O_NONBLOCK);
    fcntl(server, F_SETFL, O_NONBLOCK);
    open_lane(lane, client, server, delay_ns);
    open_lane(lane + 1, server, client, 0);
    if (lane_count < lane + 2)
        lane_count = lane + 2;
}

/* False: the connection is over. */
static int take_in(struct lane *lane)
{
    struct chunk *chunk = malloc(sizeof(*chunk) + CHUNK_BYTES);
    ssize_t got = recv(lane->from, chunk->bytes, CHUNK_BYTES, 0);

    if (got <= 0) {
        int again = got < 0 && (errno == EAGAIN || errno == EINTR);

        free(chunk);
        return again;
    }
    chunk->next = NULL;
    chunk->due_ns = now_ns() + lane->delay_ns;
    chunk->at = 0;
    chunk->size = (size_t)got;
    *lane->last = chunk;
    lane->last = &chunk->next;
    return 1;
}

static int give_out(struct lane *lane)
{
    int64_t now = now_ns();

    while (lane->first && lane->first->due_ns <= now) {
        struct chunk *chunk = lane->first;
        ssize_t put = send(lane->to, chunk->bytes + chunk->at, chunk->size - chunk->at, MSG_NOSIGNAL);

        if (put < 0)
            return errno == EAGAIN || errno == EINTR;
        chunk->at += (size_t)put;
        if (chunk->at < chunk->size)
            return 1;
        lane->first = chunk->next;
        if (!lane->first)
            lane->last = &lane->first;
        free(chunk);
    }
    return 1;
}

static int64_t next_due(void)
{
    int64_t next = now_ns() + 1000000000LL;

    for (size_t i = 0; i < lane_count; i++)
        if (lanes[i].from >= 0 && lanes[i].first && lanes[i].first->due_ns < next)
            next = lanes[i].first->due_ns;
    return next;
}

static void serve(int listener, const char *target, int64_t delay_ns)
{
    static struct pollfd polled[LANES_MAX + 1];

    for (;;) {
        int64_t left = next_due() - now_ns();
        struct timespec wait = { .tv_nsec = left > 0 ? (long)(left % 1000000000) : 0 };
        size_t count = lane_count;

        for (size_t i = 0; i < count; i++)
            polled[i] = (struct pollfd){ .fd = lanes[i].from, .events = POLLIN };
        polled[count] = (struct pollfd){ .fd = listener, .events = POLLIN };
        ppoll(polled, count + 1, &wait, NULL);
        for (size_t i = 0; i < count; i++) {
            if (lanes[i].from < 0)
                continue;
            if ((polled[i].revents && !take_in(&lanes[i])) || !give_out(&lanes[i]))
                close_pair(i);
        }
        if (polled[count].revents)
            accept_one(listener, target, delay_ns);
    }
}

int main(int argc, char **argv)
{
    struct sockaddr_in address = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    socklen_t size = sizeof(address);
    int listener = socket(AF_INET, SOCK_STREAM, 0);

    if (argc != 3)
        return fprintf(stderr, "usage: bench-delay SOCKET MICROSECONDS\n"), 2;
    check(bind(listener, (struct sockaddr *)&address, size), "bind");
    check(listen(listener, 256), "listen");
    check(getsockname(listener, (struct sockaddr *)&address, &size), "getsockname");
    printf("%d\n", ntohs(address.sin_port));
    fflush(stdout);
    serve(listener, argv[1], atoll(argv[2]) * 1000);
    return 0;
}
