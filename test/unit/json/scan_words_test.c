/* test/unit/json/scan_words_test.c - the tests of scan_test.c where no processor's own instructions are used. */
#define SCAN_BY_WORDS
#include "scan_test.c"
