/* test/fuzz/http2_fuzz.c - HTTP/2, as session_fuzz.h has it. The first byte says how the rest is cut. */
#include "session_fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size > 0)
        run(&session_http2, slice_of("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"), data + 1, size - 1, data[0]);
    return 0;
}
