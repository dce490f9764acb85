/* src/store/folder.h - the few things to be done with a folder of files as a whole. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

/* What its files take on disk; 0 when it cannot be read. */
uint64_t folder_bytes(const char *path);

/* Copies the files whose names have that ending into a folder that is made for them, and syncs it. False when any is missing. */
bool folder_copy(const char *from, const char *to, const char *ending);

/*
 * The same of all its files, but those with that ending are linked: the caller knows that they never change. What a RocksDB
 * that opens the folder makes anew is left out.
 */
bool folder_link(const char *from, const char *to, const char *ending);

/* The files in it whose names have that ending. */
void folder_clear(const char *path, const char *ending);

/* The folder and the files in it; there are no folders inside. */
void folder_remove(const char *path);
