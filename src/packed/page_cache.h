/*
 * src/packed/page_cache.h - pages of runs, unpacked once for all who read, up to a bound.
 * They lie in the order of their keys, so the page of an entry that nobody has asked for is found too, where the cache
 * has the page before it as well.
 *
 * Ownership. A page that was given is the caller's until it is released.
 * Threads. Anybody's.
 */
#pragma once
#include "packed/run_page.h"

struct page_cache;

struct page_cache *page_cache_new(size_t bytes_max); /* 0: it keeps nothing */
void page_cache_free(struct page_cache *cache);      /* NULL is welcome */

/* The first page of the run that has something at (place, number) or after it; NULL: nobody here knows. */
struct run_page *page_cache_at(struct page_cache *cache, uint64_t run, struct slice key);

/* The one after it, or before it; NULL: nobody here knows. */
struct run_page *page_cache_neighbour(struct page_cache *cache, const struct run_page *from, bool reverse);

/* Keeps the page, unless it has it. Those that were asked for least lately make room. */
void page_cache_add(struct page_cache *cache, struct run_page *page);

/* The run's pages are of no use any more. */
void page_cache_drop(struct page_cache *cache, uint64_t run);

size_t page_cache_bytes(struct page_cache *cache);
