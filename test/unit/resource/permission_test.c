/* test/unit/resource/permission_test.c - links to what a permission is for. */
#include "resource/permission.h"
#include "test.h"

TEST(a_link_is_taken_apart_with_and_without_slashes_around_it)
{
    static const char *const forms[] = { "dbs/a/colls/b/docs/c", "/dbs/a/colls/b/docs/c",
                                         "dbs/a/colls/b/docs/c/" };
    struct resource_link link;

    for (size_t i = 0; i < 3; i++)
        CHECK(resource_link_parse(slice_of(forms[i]), &link) && slice_is(link.database, "a") &&
              slice_is(link.container, "b") && slice_is(link.type, "docs") && slice_is(link.id, "c"));
    CHECK(resource_link_parse(slice_of("dbs/a"), &link) && slice_is(link.database, "a") &&
          !link.container.data);
    CHECK(resource_link_parse(slice_of("dbs/a/colls/b/"), &link) && slice_is(link.container, "b") &&
          !link.type.data);
}

TEST(what_leads_to_nothing_that_can_be_granted_is_no_link)
{
    static const char *const texts[] = { "",
                                         "/",
                                         "dbs",
                                         "dbs/",
                                         "dbs//",
                                         "colls/b",
                                         "dbs/a/users/u",
                                         "dbs/a/colls",
                                         "dbs/a/colls/",
                                         "dbs/a/colls/b/docs",
                                         "dbs/a/colls/b/docs/",
                                         "dbs/a/colls/b/pkranges/0",
                                         "dbs/a/colls/b/docs/c/attachments/d",
                                         "dbs/a/colls/b/docs/c//" };
    struct resource_link link;

    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
        if (resource_link_parse(slice_of(texts[i]), &link))
            test_failed(__FILE__, __LINE__, texts[i]);
}
