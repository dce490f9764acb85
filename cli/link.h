/* cli/link.h - links as they are typed in a shell, relative to where it stands: "", "dbs/x", "dbs/x/colls/y". */
#pragma once
#include "text.h"

/*
 * "/..." and "dbs/..." are whole links, ".." goes up. Otherwise a name is a database's at the top, a container's in a
 * database, an item's in a container, unless a kind is named ("users/ann", "sprocs/hello").
 */
void link_resolve(const char *here, const char *typed, struct text *link);

size_t link_depth(const char *link); /* how many parts it has: "dbs/x/colls/y" has 4 */
int link_is_container(const char *link);

/* The part with that number, from 0; its size. NULL: there is none. */
const char *link_part(const char *link, size_t number, size_t *size);

/* The first `count` parts. */
void link_head(const char *link, size_t count, struct text *head);
