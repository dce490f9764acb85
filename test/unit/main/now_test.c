/* test/unit/main/now_test.c - the figures of the last hour: what is kept, and for how long. */
#include "json/json.h"
#include "main/now.h"
#include "main/observer.h"
#include "rig.h"
#include "route/route.h"

enum { SAMPLE_MS = 5000, HOUR_SAMPLES = 720 };

/* A server's parts, as far as they are asked for figures. */
struct parts {
    struct rig rig;
    struct account account;
    struct service service;
    struct observer *observer;
    struct now *now;
    struct now_sources of;
    struct router *router;
    struct container *container;
};

static void open_parts(struct parts *parts)
{
    static const char *const listen[] = { "127.0.0.1:0" };
    const struct http_options options = { .listen = listen,
                                          .listen_count = 1,
                                          .loops = 1,
                                          .connections_max = 10,
                                          .head_bytes_max = 1024,
                                          .body_bytes_max = 1024,
                                          .idle_ms = 1000,
                                          .request_ms = 1000,
                                          .env = env_system(),
                                          .handler = route_handle,
                                          .write_error = reply_write_error };
    struct settings settings = { 0 };

    *parts = (struct parts){ 0 };
    rig_open(&parts->rig, false);
    account_init(&parts->account, 0);
    parts->container = rig_container(&parts->rig, "{'id':'c','partitionKey':{'paths':['/pk'],'version':2}}");
    CHECK(observer_open(parts->rig.op, &settings, &parts->observer) == ST_OK);
    parts->now = now_open(parts->rig.op->env, &parts->account);
    parts->service = (struct service){ .heat = now_heat(parts->now) };
    parts->router = route_open(&(struct route_options){ .service = &parts->service });
    parts->of = (struct now_sources){
        .statistics = { .store = parts->rig.store,
                        .catalog = parts->rig.catalog,
                        .ledger = parts->rig.ledger,
                        .scripts = scripts_open(&(struct script_options){
                            .env = env_system(), .program = "/none", .children_max = 1 }),
                        .housekeeping = housekeeping_open(&(struct housekeeping_options){
                            .catalog = parts->rig.catalog, .ledger = parts->rig.ledger }),
                        .account = &parts->account,
                        .observer = parts->observer },
        .router = parts->router,
        .slow = observer_slow(parts->observer),
    };
    CHECK(http_open(parts->rig.op, &options, &parts->of.statistics.http) == ST_OK);
}

static void close_parts(struct parts *parts)
{
    http_free(parts->of.statistics.http);
    housekeeping_close(parts->of.statistics.housekeeping);
    scripts_close(parts->of.statistics.scripts);
    route_close(parts->router);
    now_close(parts->now);
    CHECK(atomic_load(&parts->account.used_bytes) == 0);
    observer_close(parts->observer);
    rig_close(&parts->rig);
}

static struct json told(struct parts *parts, uint64_t since)
{
    struct json whole = json_undefined;
    struct buf out;

    buf_init(&out, &parts->rig.op->arena);
    buf_byte(&out, '{');
    now_print(parts->now, parts->rig.op, &parts->of, since, &out);
    buf_byte(&out, '}');
    CHECK(json_parse(parts->rig.op, buf_as_slice(&out), &whole) == ST_OK);
    return whole;
}

/* So many moments at which housekeeping might take a sample. */
static void pass(struct parts *parts, int samples)
{
    for (int i = 0; i < samples; i++) {
        now_sample(parts->now, &parts->of);
        now_sample(parts->now, &parts->of); /* too early */
        rig_advance_ms(&parts->rig, SAMPLE_MS);
    }
}

static size_t count_of(struct json whole, const char *name)
{
    return json_count(json_get(whole, name));
}

static struct json last_of(struct json list)
{
    return json_element(list, json_count(list) - 1);
}

TEST(an_hour_of_samples_is_kept_and_no_more_and_its_memory_is_on_the_account)
{
    struct parts parts;
    size_t held;

    open_parts(&parts);
    held = atomic_load(&parts.account.used_bytes);
    CHECK(held > 100 * 1024 && held < 2 * 1024 * 1024);
    CHECK(count_of(told(&parts, 0), "samples") == 1); /* of this moment */
    pass(&parts, 10);
    CHECK(json_int(json_get(told(&parts, 0), "next")) == 10 && count_of(told(&parts, 0), "samples") == 11);
    CHECK(count_of(told(&parts, 7), "samples") == 4 && count_of(told(&parts, 99), "samples") == 1);
    pass(&parts, 2 * HOUR_SAMPLES);
    CHECK(count_of(told(&parts, 0), "samples") == HOUR_SAMPLES + 1);
    CHECK(count_of(told(&parts, 0), "minutes") <= 61 && count_of(told(&parts, 0), "minutes") >= 56);
    CHECK(atomic_load(&parts.account.used_bytes) == held);
    close_parts(&parts);
}

TEST(a_sample_tells_what_each_container_spent_since_the_one_before)
{
    struct json sample, units;
    struct parts parts;

    open_parts(&parts);
    meter_note_spent(parts.container->meter, 250);
    pass(&parts, 1);
    meter_note_spent(parts.container->meter, 750);
    pass(&parts, 1);
    pass(&parts, 1);
    for (int i = 0; i < 3; i++) {
        static const double spent[] = { 2.5, 7.5, 0 };

        sample = json_element(json_get(told(&parts, 0), "samples"), (size_t)i);
        units = json_element(json_element(json_get(sample, "units"), 0), 1);
        CHECK(spent[i] > 0 ? json_double(units) == spent[i] : json_kind(units) == JSON_UNDEFINED);
    }
    CHECK(slice_is(json_string(json_element(json_get(told(&parts, 0), "containers"), 0)), "dbs/db/colls/c"));
    close_parts(&parts);
}

/* Four requests of one unit, and how the hottest key is told. */
static struct json heat(struct parts *parts, struct call *call)
{
    struct placed_key key = { .values = { .count = 1, .component = { rig_json(parts->rig.op, "'<b>'") } } };

    call->service = &parts->service;
    call->container = parts->container;
    partition_key_place(parts->container, &key);
    for (int i = 0; i < 4; i++)
        heat_note_place(parts->rig.op, call, &key, 1);
    return last_of(json_get(told(parts, 0), "minutes"));
}

TEST(keys_and_ranges_are_told_by_the_minute)
{
    struct call call = { 0 };
    struct json minute, key;
    struct parts parts;

    open_parts(&parts);
    minute = heat(&parts, &call);
    key = json_element(json_get(minute, "keys"), 0);
    CHECK(slice_is(json_string(json_get(key, "key")), "[\"<b>\"]") &&
          json_double(json_get(key, "units")) == 4);
    CHECK(json_double(json_get(json_element(json_get(minute, "ranges"), 0), "units")) == 4);
    pass(&parts, 14); /* a minute and more */
    CHECK(count_of(told(&parts, 0), "minutes") == 2);
    CHECK(json_count(json_get(last_of(json_get(told(&parts, 0), "minutes")), "keys")) == 0);
    close_parts(&parts);
}
