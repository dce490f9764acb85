/*
 * src/resource/offer.c - throughput: what databases and containers were promised. Read, list, query, replace.
 * throughput.c holds requests back to it where the server was told to.
 */
#include <assert.h>

#include "base/limits.h"
#include "resource/offer.h"
#include "resource/split.h"
#include "resource/resource.h"
#include "resource/child_feed.h"
#include "resource/system.h"

/*
 * The terms of the two ways to pay. The most that was ever provisioned raises the minimum for good: to a hundredth
 * of it, or to a tenth with autoscale.
 */
static const struct terms {
    uint64_t least, step, share;
} fixed_terms = { THROUGHPUT_MIN, THROUGHPUT_STEP, 100 },
  autoscale_terms = { AUTOSCALE_MIN, AUTOSCALE_STEP, 10 };

static const struct terms *terms_of(bool autoscale)
{
    return autoscale ? &autoscale_terms : &fixed_terms;
}

static uint64_t round_up(uint64_t units, uint64_t step)
{
    return (units + step - 1) / step * step;
}

static uint64_t least_of(bool autoscale, uint64_t most_ever)
{
    const struct terms *terms = terms_of(autoscale);
    uint64_t least = round_up(most_ever / terms->share, terms->step);

    return least > terms->least ? least : terms->least;
}

/* The service's words, which are the same for both. */
static enum status check_units(struct op *op, const struct throughput *wanted, uint64_t most_ever)
{
    uint64_t least = least_of(wanted->autoscale, most_ever);
    unsigned step = (unsigned)terms_of(wanted->autoscale)->step;
    struct json most = json_get(wanted->settings, "maxThroughput");

    if (wanted->units >= least && wanted->units <= THROUGHPUT_MAX && wanted->units % step == 0)
        return ST_OK;
    if (wanted->autoscale && json_kind(most) == JSON_NUMBER && json_double(most) < (double)least)
        return op_fail(op, ST_BAD_REQUEST,
                       "Requested throughput %.0f is less than required minimum throughput %llu",
                       json_double(most), (unsigned long long)least);
    return op_fail(
        op, ST_BAD_REQUEST,
        "The offer should have valid throughput values between %llu and %d inclusive in increments of %u.",
        (unsigned long long)least, THROUGHPUT_MAX, step);
}

/* A positive whole number. Anything else becomes 1, which no offer may have. */
static uint64_t units_of(struct json number)
{
    if (json_kind(number) != JSON_NUMBER || !json_is_int(number) || json_int(number) <= 0)
        return 1;
    return (uint64_t)json_int(number);
}

/* --- what a client asks for --- */

static enum status read_autoscale(struct op *op, struct slice header, struct throughput *wanted)
{
    enum status st;

    wanted->autoscale = true;
    TRY(json_parse(op, header, &wanted->settings));
    if (json_kind(wanted->settings) != JSON_OBJECT)
        TRY(op_fail_as(op, ST_BAD_REQUEST));
    wanted->units = units_of(json_get(wanted->settings, "maxThroughput"));
out:
    return st;
}

/* The names that clients of the first versions give: the offer tells them again, and they mean nothing else. */
static struct slice level_of_header(const struct call *call)
{
    static const char *const levels[] = { "S1", "S2", "S3" };
    struct slice header = slice_trim(call_header(call, HEADER_OFFER_TYPE));

    for (size_t i = 0; i < sizeof(levels) / sizeof(levels[0]); i++)
        if (slice_is(header, levels[i]))
            return header;
    return (struct slice){ 0 };
}

enum status throughput_of_headers(struct op *op, const struct call *call, struct throughput *throughput)
{
    struct slice fixed = slice_trim(call_header(call, HEADER_OFFER_THROUGHPUT));
    struct slice autoscale = slice_trim(call_header(call, HEADER_OFFER_AUTOPILOT));
    enum status st = ST_OK;

    *throughput = (struct throughput){ .level = level_of_header(call) };
    if (!fixed.data && !autoscale.data)
        return ST_OK;
    if (fixed.data && autoscale.data)
        TRY(op_fail(op, ST_BAD_HEADER,
                    "Both x-ms-offer-throughput and x-ms-cosmos-offer-autopilot-settings cannot be specified "
                    "at the same time."));
    if (autoscale.data)
        TRY(read_autoscale(op, autoscale, throughput));
    else if (!slice_to_u64(fixed, &throughput->units))
        TRY(op_fail(op, ST_BAD_HEADER,
                    "Value '%.*s' specified for the header 'x-ms-offer-throughput' is invalid. ",
                    fixed.size > 100 ? 100 : (int)fixed.size, fixed.data));
    TRY(check_units(op, throughput, 0));
out:
    return st;
}

/* --- as it is stored --- */

enum { POLICY_BYTES_MAX = 256 }; /* what the service knows of is far smaller */

static void add_settings(struct json_builder *out, const struct throughput *throughput)
{
    struct json policy = json_get(throughput->settings, "autoUpgradePolicy");

    json_add_name(out, slice_of("offerAutopilotSettings"));
    json_begin_object(out);
    if (json_kind(policy) == JSON_OBJECT && json_size(policy) <= POLICY_BYTES_MAX) {
        json_add_name(out, slice_of("autoUpgradePolicy"));
        json_add(out, policy);
    }
    json_add_name(out, slice_of("maxThroughput"));
    json_add_int(out, (int64_t)throughput->units);
    json_end(out);
}

static void add_content(struct json_builder *out, const struct throughput *throughput, uint64_t most_ever)
{
    uint64_t now;

    assert(throughput->units > 0); /* check_units() has let them in */
    now = throughput->autoscale ? throughput->units / 10 : throughput->units;

    json_add_name(out, slice_of("offerThroughput"));
    json_add_int(out, (int64_t)now);
    json_add_name(out, slice_of("offerIsRUPerMinuteThroughputEnabled"));
    json_add_bool(out, false);
    json_add_name(out, slice_of("offerMinimumThroughputParameters"));
    json_begin_object(out);
    json_add_name(out, slice_of("maxThroughputEverProvisioned"));
    json_add_int(out, (int64_t)(most_ever > throughput->units ? most_ever : throughput->units));
    json_add_name(out, slice_of("maxConsumedStorageEverInKB"));
    json_add_int(out, 0);
    json_end(out);
    if (throughput->autoscale)
        add_settings(out, throughput);
}

static struct json offer_body(struct op *op, const struct throughput *throughput, uint64_t most_ever)
{
    struct json_builder out;

    json_builder_init(&out, &op->arena);
    json_begin_object(&out);
    json_add_name(&out, slice_of("content"));
    json_begin_object(&out);
    add_content(&out, throughput, most_ever);
    json_end(&out);
    if (throughput->level.data) {
        json_add_name(&out, slice_of("offerType"));
        json_add_string(&out, throughput->level);
    }
    json_end(&out);
    return json_built(&out);
}

struct json throughput_offer(struct op *op, const struct throughput *throughput)
{
    return throughput->units ? offer_body(op, throughput, 0) : json_undefined;
}

static struct json content_of(const struct child *offer)
{
    return json_get(offer->body, "content");
}

static struct json settings_of(struct json content)
{
    return json_get(content, "offerAutopilotSettings");
}

static bool is_autoscale(const struct child *offer)
{
    return json_kind(settings_of(content_of(offer))) == JSON_OBJECT;
}

uint64_t throughput_of_offer(const struct child *offer)
{
    struct json settings = settings_of(content_of(offer));

    assert(offer->type == RID_TYPE_OFFER);
    return units_of(json_kind(settings) == JSON_OBJECT ? json_get(settings, "maxThroughput")
                                                       : json_get(content_of(offer), "offerThroughput"));
}

static uint64_t most_ever_of(const struct child *offer)
{
    return units_of(json_get(json_get(content_of(offer), "offerMinimumThroughputParameters"),
                             "maxThroughputEverProvisioned"));
}

/* --- printing --- */

/* The _self of what the offer is for. */
static void print_resource(struct buf *body, const struct rid *owner)
{
    struct rid database = *owner;

    assert(owner->size == RID_DATABASE_BYTES || owner->size == RID_CONTAINER_BYTES);
    database.size = RID_DATABASE_BYTES;
    buf_text(body, "dbs/");
    rid_print(body, &database);
    if (owner->size == RID_CONTAINER_BYTES) {
        buf_text(body, "/colls/");
        rid_print(body, owner);
    }
    buf_byte(body, '/');
}

static void print_offer(struct buf *body, const struct child *offer)
{
    struct json level = json_get(offer->body, "offerType");

    buf_text(body, "{\"resource\":\"");
    print_resource(body, &offer->parent);
    buf_text(body, "\",\"offerType\":");
    json_print_string(body, json_kind(level) == JSON_STRING ? json_string(level) : slice_of("Invalid"));
    buf_text(body, ",\"offerResourceId\":\"");
    rid_print(body, &offer->parent);
    buf_text(body, "\",\"offerVersion\":\"V2\",\"content\":");
    json_print(body, content_of(offer));
    buf_text(body, ",\"id\":\"");
    rid_print(body, &offer->rid);
    buf_text(body, "\",\"_rid\":\"");
    rid_print(body, &offer->rid);
    buf_text(body, "\",\"_self\":\"offers/");
    rid_print(body, &offer->rid);
    buf_text(body, "/\",");
    print_etag_member(body, offer->etag, offer->ts_ms);
    buf_byte(body, ',');
    print_ts_member(body, offer->ts_ms);
    buf_byte(body, '}');
}

static void reply_offer(struct reply *reply, const struct child *offer)
{
    print_offer(reply_body(reply), offer);
    reply_etag(reply, offer->etag, offer->ts_ms);
    reply_header_u64(reply, "x-ms-cosmos-min-throughput", least_of(is_autoscale(offer), most_ever_of(offer)));
    reply_header(reply, "x-ms-offer-replace-pending", slice_of("false"));
}

/* --- operations --- */

static const struct rid account = { 0 };

enum { OFFER_RID_CHARS = 4 }; /* three bytes */

static enum status find(struct op *op, const struct call *call, struct child **offer)
{
    if (call->id.size != OFFER_RID_CHARS)
        return op_fail_as(op, ST_BAD_REQUEST);
    *offer = catalog_find_child(call->service->catalog, RID_TYPE_OFFER, &account, call->id);
    if (*offer)
        return ST_OK;
    return op_fail_as(op, ST_NOT_FOUND);
}

enum status offer_read(struct op *op, struct call *call, struct reply *reply)
{
    struct child *offer = NULL;
    enum status st;

    TRY(find(op, call, &offer));
    TRY(call_if_none_match(op, call, reply, offer->etag, offer->ts_ms));
    reply_offer(reply, offer);
out:
    child_release(offer);
    return st;
}

/* A request that changes the way to pay says so in a header. Its content is still that of the old way. */
static enum status read_migration(struct op *op, const struct call *call, const struct child *old,
                                  bool has_settings, struct throughput *wanted)
{
    bool to_autoscale = header_is_true(call->request, HEADER_OFFER_TO_AUTOSCALE);
    bool to_fixed = header_is_true(call->request, HEADER_OFFER_TO_FIXED);
    uint64_t units = throughput_of_offer(old);

    if (is_autoscale(old) && !(to_fixed && has_settings))
        return op_fail(
            op, ST_BAD_REQUEST,
            "x-ms-cosmos-migrate-offer-to-manual-throughput must be supplied and offercontent must "
            "contain autopilotSettings for migration of autoscale collection to manual throughput.");
    if (!is_autoscale(old) && (!to_autoscale || has_settings))
        return op_fail(op, ST_BAD_REQUEST,
                       "x-ms-cosmos-migrate-offer-to-autopilot must be supplied and offercontent must not "
                       "contain autopilotSettings for migration from manual throughput to autoscale.");
    *wanted = (struct throughput){ .autoscale = !is_autoscale(old), .units = units };
    if (wanted->autoscale)
        wanted->units = round_up(units, AUTOSCALE_STEP);
    return ST_OK;
}

/* A body that names an offer names this one. */
static enum status check_names(struct op *op, struct json body, const struct child *old)
{
    static const char *const names[] = { "id", "_rid" };
    struct buf rid;

    buf_init(&rid, &op->arena);
    rid_print(&rid, &old->rid);
    if (json_kind(json_get(body, "id")) == JSON_UNDEFINED &&
        json_kind(json_get(body, "_rid")) == JSON_UNDEFINED)
        return op_fail_as(op, ST_BAD_REQUEST);
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        struct json name = json_get(body, names[i]);

        if (json_kind(name) != JSON_UNDEFINED &&
            (json_kind(name) != JSON_STRING || !slice_equal(json_string(name), buf_as_slice(&rid))))
            return op_fail(op, ST_BAD_REQUEST, "The '%s' of the offer does not match the request's.",
                           names[i]);
    }
    return ST_OK;
}

/* The service chooses the units when the way to pay changes; else the content has them. */
static enum status read_wanted(struct op *op, const struct call *call, const struct child *old,
                               struct throughput *wanted)
{
    struct json body, content, settings;
    bool asks, has_settings;
    enum status st;

    TRY(call_body(op, call, HTTP_BODY_BYTES_MAX, &body));
    TRY(check_names(op, body, old));
    content = json_get(body, "content");
    if (json_kind(content) != JSON_OBJECT)
        TRY(op_fail(
            op, ST_BAD_REQUEST,
            "The input content is invalid because the required properties - 'content; ' - are missing"));
    settings = settings_of(content);
    has_settings = json_kind(settings) == JSON_OBJECT;
    asks =
        header_is_true(call->request, is_autoscale(old) ? HEADER_OFFER_TO_FIXED : HEADER_OFFER_TO_AUTOSCALE);
    if (asks || has_settings != is_autoscale(old)) {
        TRY(read_migration(op, call, old, has_settings, wanted));
    } else {
        *wanted = (struct throughput){ .autoscale = has_settings, .settings = settings };
        wanted->units = units_of(has_settings ? json_get(settings, "maxThroughput")
                                              : json_get(content, "offerThroughput"));
    }
out:
    return st;
}

/* If the ranges cannot serve the new throughput, they are split. Less throughput merges none, as on the service. */
enum status offer_replace(struct op *op, struct call *call, struct reply *reply)
{
    struct child *old = NULL, *offer = NULL;
    struct throughput wanted;
    struct json body;
    enum status st;

    TRY(find(op, call, &old));
    TRY(read_wanted(op, call, old, &wanted));
    TRY(check_units(op, &wanted, most_ever_of(old)));
    body = offer_body(op, &wanted, most_ever_of(old));
    if (json_kind(body) == JSON_UNDEFINED)
        TRY(op_fail_as(op, ST_TOO_LARGE));
    TRY(split_with_offer(op, call->service, old, body, call_header(call, HEADER_IF_MATCH), wanted.units,
                         &offer));
    work_wrote(&op->work, 0);
    work_removed(&op->work, 0);
    reply_offer(reply, offer);
out:
    child_release(offer);
    child_release(old);
    return st;
}

static void print_row(struct buf *out, const struct child *offer, struct json body, const void *context)
{
    (void)body, (void)context; /* an offer has its body in memory */
    print_offer(out, offer);
}

static const struct child_feed offers = {
    .type = RID_TYPE_OFFER, .parent = &account, .collective = "Offers", .print = print_row
};

enum status offer_list(struct op *op, struct call *call, struct reply *reply)
{
    return child_feed_list(op, call, reply, &offers);
}

/* Queries all offers: each database and each container has at most one. */
enum status offer_query(struct op *op, struct call *call, struct reply *reply)
{
    size_t databases, containers;

    catalog_count(call->service->catalog, &databases, &containers);
    return child_feed_query(op, call, reply, &offers, databases + containers);
}
