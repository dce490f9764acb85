/*
 * test/client/programs/place.c - where the library puts keys, for whoever compares: one JSON request a line, one answer a line.
 *     {"links":["dbs/a/colls/b",...],"nodes":128,"hash":"md5","msbFirst":false,"keys":["x",...]}   ->   [0,1,0,...]
 *     {"ranges":[[low,high,link],...],"keys":[5,"x",[1,2],...]}   ->   [["link"],[],...]   what a read asks
 * A key that is refused is null.
 */
#include <orrery.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const orrery_extractor by_id = { .size = sizeof(by_id), .property = "id" };

static orrery_key key_of(orrery_value value)
{
    size_t size;
    const char *text = orrery_value_text(value, &size);

    return orrery_value_type(value) == ORRERY_NUMBER ? orrery_key_number(orrery_value_number(value))
                                                     : orrery_key_bytes(text, size);
}

static orrery_status open_hash(orrery_value request, orrery_resolver **resolver)
{
    orrery_value list = orrery_value_member(request, "links");
    orrery_hash hash = orrery_value_equals(orrery_value_member(request, "hash"), "md5") ? orrery_hash_md5
                                                                                        : orrery_hash_murmur3;
    orrery_hash_options options = { .size = sizeof(options),
                                    &hash,
                                    (int)orrery_value_int(orrery_value_member(request, "nodes")) };
    const char **links = calloc(orrery_value_count(list) + 1, sizeof(*links));
    orrery_status status;

    hash.msb_first = orrery_value_bool(orrery_value_member(request, "msbFirst"));
    for (size_t i = 0; i < orrery_value_count(list); i++)
        links[i] = orrery_value_text(orrery_value_element(list, i), NULL);
    status = orrery_resolver_hash(&by_id, links, orrery_value_count(list), &options, resolver);
    free(links);
    return status;
}

static orrery_status open_ranges(orrery_value list, orrery_resolver **resolver)
{
    orrery_range *ranges = calloc(orrery_value_count(list) + 1, sizeof(*ranges));
    orrery_status status;

    for (size_t i = 0; i < orrery_value_count(list); i++) {
        orrery_value row = orrery_value_element(list, i);

        ranges[i] =
            (orrery_range){ key_of(orrery_value_element(row, 0)), key_of(orrery_value_element(row, 1)),
                            orrery_value_text(orrery_value_element(row, 2), NULL) };
    }
    status = orrery_resolver_range(&by_id, ranges, orrery_value_count(list), NULL, resolver);
    free(ranges);
    return status;
}

static void print_hashed(orrery_resolver *resolver, orrery_value request, const orrery_key *key)
{
    orrery_value list = orrery_value_member(request, "links");
    orrery_links *links = NULL;

    if (orrery_resolve_create(resolver, key, &links) != ORRERY_OK)
        printf("null");
    for (size_t i = 0; links && i < orrery_value_count(list); i++)
        if (orrery_value_equals(orrery_value_element(list, i), orrery_links_at(links, 0))) {
            printf("%zu", i);
            break;
        }
    orrery_links_free(links);
}

static void print_read(orrery_resolver *resolver, orrery_value value)
{
    orrery_key ends[2] = { key_of(orrery_value_element(value, 0)), key_of(orrery_value_element(value, 1)) };
    orrery_key key = orrery_value_type(value) == ORRERY_ARRAY ? orrery_key_range(ends) : key_of(value);
    orrery_links *links = NULL;

    if (orrery_resolve_read(resolver, &key, &links) != ORRERY_OK)
        printf("null");
    else
        printf("[");
    for (size_t i = 0; i < orrery_links_count(links); i++)
        printf("%s\"%s\"", i ? "," : "", orrery_links_at(links, i));
    printf("%s", links ? "]" : "");
    orrery_links_free(links);
}

static void answer(orrery_value request)
{
    orrery_value ranges = orrery_value_member(request, "ranges"), keys = orrery_value_member(request, "keys");
    bool is_range = orrery_value_type(ranges) == ORRERY_ARRAY;
    orrery_resolver *resolver = NULL;
    orrery_status status = is_range ? open_ranges(ranges, &resolver) : open_hash(request, &resolver);

    printf("%s", status == ORRERY_OK ? "[" : "null");
    for (size_t i = 0; i < orrery_value_count(keys) && resolver; i++) {
        orrery_value value = orrery_value_element(keys, i);
        orrery_key key = key_of(value);

        printf("%s", i ? "," : "");
        if (is_range)
            print_read(resolver, value);
        else
            print_hashed(resolver, request, &key);
    }
    printf("%s\n", status == ORRERY_OK ? "]" : "");
    orrery_resolver_unref(resolver);
}

int main(void)
{
    char *line = NULL;
    size_t capacity = 0;
    ssize_t size;

    while ((size = getline(&line, &capacity, stdin)) > 0) {
        orrery_json *json = NULL;

        if (orrery_json_parse(line, (size_t)size, &json) == ORRERY_OK)
            answer(orrery_json_root(json));
        else
            printf("null\n");
        orrery_json_free(json);
        fflush(stdout);
    }
    free(line);
    return 0;
}
