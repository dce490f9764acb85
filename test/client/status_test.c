/* test/client/status_test.c - texts of statuses. */
#include <orrery.h>

#include "test.h"

TEST(every_status_has_a_text_of_its_own)
{
    const char *unknown = orrery_status_text((orrery_status)9999);

    for (int i = ORRERY_WAIT; i <= ORRERY_ECALLBACK; i++) {
        bool defined = i <= ORRERY_ECANCELED || i >= ORRERY_EKEYTYPE;

        CHECK((strcmp(orrery_status_text((orrery_status)i), unknown) != 0) == defined);
        for (int j = ORRERY_WAIT; defined && j < i; j++)
            CHECK(strcmp(orrery_status_text((orrery_status)i), orrery_status_text((orrery_status)j)) != 0);
    }
}

TEST(only_failures_are_above_zero)
{
    CHECK(!orrery_failed(ORRERY_OK) && !orrery_failed(ORRERY_ROW) && !orrery_failed(ORRERY_WAIT));
    CHECK(orrery_failed(ORRERY_EINVAL) && orrery_failed(ORRERY_ECALLBACK));
}
