/*
 * embedded/curl.c - libcurl for liborrery-embedded, loaded when a client is opened over HTTP and not before.
 * A program whose database is inside needs none of it. It would draw in some twenty-five other libraries, and with them
 * four megabytes and half of the time that the program takes to start.
 */
#include <curl/curl.h>
#include <dlfcn.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdbool.h>

#undef curl_easy_setopt /* macros that look at types; here they are functions */
#undef curl_easy_getinfo
#undef curl_multi_setopt

#define FUNCTIONS(FUNCTION)            \
    FUNCTION(curl_global_init_mem)     \
    FUNCTION(curl_easy_init)           \
    FUNCTION(curl_easy_setopt)         \
    FUNCTION(curl_easy_getinfo)        \
    FUNCTION(curl_easy_perform)        \
    FUNCTION(curl_easy_reset)          \
    FUNCTION(curl_easy_cleanup)        \
    FUNCTION(curl_easy_strerror)       \
    FUNCTION(curl_multi_init)          \
    FUNCTION(curl_multi_setopt)        \
    FUNCTION(curl_multi_add_handle)    \
    FUNCTION(curl_multi_remove_handle) \
    FUNCTION(curl_multi_info_read)     \
    FUNCTION(curl_multi_socket_action) \
    FUNCTION(curl_multi_cleanup)

static struct {
#define MEMBER(name) __typeof__(&name) name;
    FUNCTIONS(MEMBER)
    bool is_ready;
} curl;

static void load(void)
{
    static const char *const names[] = { "libcurl.so.4", "libcurl-gnutls.so.4", "libcurl.dylib" };
    void *library = NULL;

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]) && !library; i++)
        library = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
    curl.is_ready = library;
#define LOAD(name) \
    curl.is_ready = curl.is_ready && (curl.name = (__typeof__(curl.name))dlsym(library, #name)) != NULL;
    FUNCTIONS(LOAD)
}

/* The first that is called: without it there is no client over HTTP, and so none of the others is. */
CURLcode curl_global_init_mem(long flags, curl_malloc_callback get, curl_free_callback give_back,
                              curl_realloc_callback resize, curl_strdup_callback copy,
                              curl_calloc_callback zeroed)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;

    pthread_once(&once, load);
    return curl.is_ready ? curl.curl_global_init_mem(flags, get, give_back, resize, copy, zeroed)
                         : CURLE_NOT_BUILT_IN;
}

CURL *curl_easy_init(void)
{
    return curl.curl_easy_init();
}

/* What follows an option is a long, an offset or a pointer, one argument of 64 bits in any case. */
_Static_assert(sizeof(long) == sizeof(void *) && sizeof(curl_off_t) == sizeof(void *),
               "one kind of argument");

#define FORWARD(function, handle, last)   \
    va_list arguments;                    \
    void *argument;                       \
                                          \
    va_start(arguments, last);            \
    argument = va_arg(arguments, void *); \
    va_end(arguments);                    \
    return curl.function(handle, last, argument)

CURLcode curl_easy_setopt(CURL *handle, CURLoption option, ...)
{
    FORWARD(curl_easy_setopt, handle, option);
}

CURLcode curl_easy_getinfo(CURL *handle, CURLINFO info, ...)
{
    FORWARD(curl_easy_getinfo, handle, info);
}

CURLMcode curl_multi_setopt(CURLM *multi, CURLMoption option, ...)
{
    FORWARD(curl_multi_setopt, multi, option);
}

CURLcode curl_easy_perform(CURL *handle)
{
    return curl.curl_easy_perform(handle);
}

void curl_easy_reset(CURL *handle)
{
    curl.curl_easy_reset(handle);
}

void curl_easy_cleanup(CURL *handle)
{
    curl.curl_easy_cleanup(handle);
}

/* Asked also of a call that was never sent. */
const char *curl_easy_strerror(CURLcode code)
{
    return curl.is_ready ? curl.curl_easy_strerror(code) : "failed";
}

CURLM *curl_multi_init(void)
{
    return curl.curl_multi_init();
}

CURLMcode curl_multi_add_handle(CURLM *multi, CURL *handle)
{
    return curl.curl_multi_add_handle(multi, handle);
}

CURLMcode curl_multi_remove_handle(CURLM *multi, CURL *handle)
{
    return curl.curl_multi_remove_handle(multi, handle);
}

CURLMsg *curl_multi_info_read(CURLM *multi, int *left)
{
    return curl.curl_multi_info_read(multi, left);
}

CURLMcode curl_multi_socket_action(CURLM *multi, curl_socket_t socket, int events, int *running)
{
    return curl.curl_multi_socket_action(multi, socket, events, running);
}

CURLMcode curl_multi_cleanup(CURLM *multi)
{
    return curl.curl_multi_cleanup(multi);
}
