/* test/unit/keys/rid_test.c - resource ids as clients read them. */
#include "keys/rid.h"
#include "test.h"

static struct slice print(const struct rid *rid)
{
    struct buf out;

    buf_init(&out, &test_op()->arena);
    rid_print(&out, rid);
    return buf_as_slice(&out);
}

static bool bytes_are(const struct rid *rid, const char *bytes, size_t size)
{
    return slice_equal(rid_slice(rid), slice_make(bytes, size));
}

TEST(a_rid_is_laid_out_as_clients_expect)
{
    struct rid database = rid_database(0x3c3e4300);
    struct rid container = rid_container(&database, 0x38a00e0c);
    struct rid document = rid_child(&container, RID_DOCUMENT, 0x3d);
    struct rid procedure = rid_make(RID_TYPE_PROCEDURE, &container, 0x3d);

    CHECK(bytes_are(&database, "\x3c\x3e\x43\x00", 4));
    CHECK(bytes_are(&container, "\x3c\x3e\x43\x00\xb8\xa0\x0e\x0c", 8));
    CHECK(bytes_are(&document, "\x3c\x3e\x43\x00\xb8\xa0\x0e\x0c\x3d\0\0\0\0\0\0\0", 16));
    CHECK(bytes_are(&procedure, "\x3c\x3e\x43\x00\xb8\xa0\x0e\x0c\x3d\0\0\0\0\0\0\x80", 16));
    CHECK(slice_is(print(&database), "PD5DAA=="));
    CHECK(slice_is(print(&container), "PD5DALigDgw="));
    CHECK(print(&document).size == 24);
}

TEST(a_slash_is_printed_as_a_dash_and_a_plus_stays)
{
    struct rid rid = rid_database(0xfbefff00), back;

    CHECK(slice_is(print(&rid), "++--AA=="));
    CHECK(rid_parse(slice_of("++--AA=="), &back) && rid_equal(&rid, &back));
    CHECK(!rid_parse(slice_of("++//AA=="), &back));
}

TEST(every_rid_parses_back)
{
    for (int i = 0; i < 1000; i++) {
        struct rid database = rid_database((uint32_t)test_random() | 1), back;
        struct rid container = rid_container(&database, (uint32_t)test_random() >> 1);
        uint64_t number = test_random() >> 4, got;
        struct rid child = rid_child(&container, RID_RANGE, number), attachment = child;

        attachment.size = RID_BYTES_MAX;
        CHECK(rid_parse(print(&database), &back) && rid_equal(&database, &back));
        CHECK(rid_parse(print(&container), &back) && rid_equal(&container, &back));
        CHECK(rid_parse(print(&attachment), &back) && rid_equal(&attachment, &back));
        CHECK(rid_parse(print(&child), &back) && rid_equal(&child, &back));
        CHECK(rid_child_number(&back, RID_RANGE, &got) && got == number);
        CHECK(!rid_child_number(&back, RID_DOCUMENT, &got));
        CHECK(!rid_equal(&database, &container));
    }
}

TEST(a_child_of_a_user_or_a_container_itself_is_no_document)
{
    struct rid database = rid_database(1), container = rid_container(&database, 1);
    struct rid child = rid_child(&container, RID_DOCUMENT, 7);
    uint64_t number;

    CHECK(rid_child_number(&child, RID_DOCUMENT, &number) && number == 7);
    child.bytes[4] &= 0x7f;
    CHECK(!rid_child_number(&child, RID_DOCUMENT, &number));
    CHECK(!rid_child_number(&container, RID_DOCUMENT, &number));
    CHECK(!rid_child_number(&database, RID_DOCUMENT, &number));
}

TEST(text_that_is_no_rid_is_refused)
{
    static const char *const rows[] = {
        "",
        "PD5D", /* three bytes: an offer's */
        "PD5DAA",
        "PD5DAA=",
        "PD5DAB==",    /* decodes to the same bytes as PD5DAA== */
        "PD5DALigDgw", /* no padding */
        "PD5DALigDgx=",
        "PD5DALigDgwA",                     /* nine bytes */
        "PD5DALigDgw9AAAA",                 /* twelve */
        "PD5DALigDgw9AAAAAAAAAAAAAAAAAAAA", /* twenty-four */
        "mydatabase",
        "my database",
        "PD5DAA==PD5DAA==",
    };
    struct rid rid;

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        CHECK(!rid_parse(slice_of(rows[i]), &rid));
}

TEST(the_numbers_of_documents_order_as_clients_compare_them)
{
    struct rid database = rid_database(1), container = rid_container(&database, 1);

    for (int i = 0; i < 1000; i++) {
        uint64_t a = test_random() >> 4, b = test_random() >> 4;
        struct rid rid_a = rid_child(&container, RID_DOCUMENT, a),
                   rid_b = rid_child(&container, RID_DOCUMENT, b);
        int order = 0;

        for (int at = 15; at >= 8 && order == 0; at--) /* little-endian, from the top */
            order = rid_a.bytes[at] - rid_b.bytes[at];
        CHECK((a < b) == (order < 0));
    }
}

TEST(a_rid_tells_what_it_is_one_of_and_its_number)
{
    struct rid db = rid_database(7), coll = rid_container(&db, 9), user = rid_make(RID_TYPE_USER, &db, 9);
    struct rid permission = rid_make(RID_TYPE_PERMISSION, &user, 300), offer = rid_offer(300);
    struct rid key = rid_make(RID_TYPE_CLIENT_KEY, &db, 300), file;
    struct rid procedure = rid_make(RID_TYPE_PROCEDURE, &coll, 300),
               item = rid_child(&coll, RID_DOCUMENT, 300);
    struct rid odd = key;

    CHECK(rid_type(&db) == RID_TYPE_DATABASE && rid_number(&db) == 7);
    CHECK(rid_type(&coll) == RID_TYPE_CONTAINER && rid_number(&coll) == 9);
    CHECK(rid_type(&user) == RID_TYPE_USER && rid_number(&user) == 9);
    CHECK(rid_type(&permission) == RID_TYPE_PERMISSION && rid_number(&permission) == 300);
    CHECK(rid_type(&key) == RID_TYPE_CLIENT_KEY && rid_number(&key) == 300);
    CHECK(rid_type(&offer) == RID_TYPE_OFFER && rid_number(&offer) == 300);
    CHECK(rid_type(&procedure) == RID_TYPE_PROCEDURE && rid_number(&procedure) == 300);
    CHECK(rid_type(&item) == RID_TYPE_DOCUMENT && rid_number(&item) == 300);
    file = rid_attachment(&item, 0x80000300);
    CHECK(rid_type(&file) == RID_TYPE_ATTACHMENT && rid_number(&file) == 0x80000300);
    file = rid_attachment(&procedure, 1);
    CHECK(rid_type(&file) == RID_TYPE_NONE);
    odd.bytes[12] = 1; /* a user-defined type, of which we know nothing */
    CHECK(rid_type(&odd) == RID_TYPE_NONE && rid_number(&odd) == 0);
    memset(odd.bytes + 12, 0xff, 4); /* as a mark would be that is none */
    CHECK(rid_type(&odd) == RID_TYPE_NONE && rid_type(&(struct rid){ .size = 8 }) == RID_TYPE_NONE);
}

TEST(an_offers_rid_is_four_characters)
{
    struct rid offer = rid_offer(0xfbefbe), parsed;
    struct buf text;

    buf_init(&text, &test_op()->arena);
    rid_print(&text, &offer);
    CHECK(slice_is(buf_as_slice(&text), "++++") && rid_parse_offer(buf_as_slice(&text), &parsed) &&
          rid_equal(&offer, &parsed));
    CHECK(rid_parse_offer(slice_of("----"), &parsed) && rid_number(&parsed) == 0xffffff);
    CHECK(!rid_parse_offer(slice_of("abc"), &parsed) && !rid_parse_offer(slice_of("a/bc"), &parsed) &&
          !rid_parse_offer(slice_of("abc="), &parsed) && !rid_parse_offer(slice_of("a.bc"), &parsed));
}
