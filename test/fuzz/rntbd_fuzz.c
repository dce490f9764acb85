/* test/fuzz/rntbd_fuzz.c - Direct mode, as session_fuzz.h has it. The first byte says how the rest is cut, and whether it greets. */
#include "rntbd/rntbd.h"
#include "session_fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char greeting[] = "\x2d\0\0\0\0\0\0\0................\0\0\2\1\0\0\0\1\0\7\xa"
                               "2020-07-15";

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size > 0)
        run(&session_rntbd, slice_make(greeting, data[0] % 2 ? 0 : sizeof(greeting) - 1), data + 1, size - 1,
            data[0] / 2);
    return 0;
}
