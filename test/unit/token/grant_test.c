/* test/unit/token/grant_test.c - what a resource token says, as bytes and back. */
#include "test.h"
#include "token/grant.h"

static struct grant grant_for(struct rid resource)
{
    struct rid db = rid_database(1), user = rid_make(RID_TYPE_USER, &db, 2);

    return (struct grant){ .permission = rid_make(RID_TYPE_PERMISSION, &user, 3),
                           .etag = UINT64_MAX - 1,
                           .issued_ms = 1700000000000,
                           .expires_ms = 1700003600000,
                           .resource = resource };
}

TEST(a_grant_reads_back_as_it_was_written)
{
    struct rid db = rid_database(7), resources[] = { db, rid_container(&db, 8), { 0 } };

    for (size_t i = 0; i < 3; i++) {
        struct grant given = grant_for(resources[i]), got;
        uint8_t bytes[GRANT_BYTES_MAX];
        size_t size = grant_encode(&given, bytes);

        CHECK(size <= GRANT_BYTES_MAX && grant_decode(slice_make(bytes, size), &got));
        CHECK(rid_equal(&given.permission, &got.permission) && rid_equal(&given.resource, &got.resource));
        CHECK(given.etag == got.etag && given.issued_ms == got.issued_ms &&
              given.expires_ms == got.expires_ms);
    }
}

TEST(a_grant_of_another_size_or_version_is_none)
{
    struct rid db = rid_database(7);
    struct grant given = grant_for(db), got;
    uint8_t bytes[GRANT_BYTES_MAX + 1] = { 0 };
    size_t size = grant_encode(&given, bytes);

    for (size_t other = 0; other <= sizeof(bytes); other++)
        CHECK(grant_decode(slice_make(bytes, other), &got) == (other == size));
    bytes[0]++;
    CHECK(!grant_decode(slice_make(bytes, size), &got));
}
