/*
 * examples/tenants.c - tenants by lookup: a large tenant has a collection of its own, the small ones share one.
 *     cc examples/tenants.c $(pkg-config --cflags --libs orrery) -o tenants && ./tenants http://localhost:8081 KEY
 */
#include "example.h"

static const char large[] = "dbs/tenants/colls/contoso", shared[] = "dbs/tenants/colls/shared";

static void make_collections(void)
{
    orrery_container contoso = { .size = sizeof(contoso), .id = "contoso", .partition_key = { "/id" } };
    orrery_container rest = { .size = sizeof(rest), .id = "shared", .partition_key = { "/tenant" } };

    orrery_delete(client, "dbs/tenants", NULL, NULL); /* from an earlier run */
    must(orrery_database_create(client, "tenants", NULL, NULL));
    must(orrery_container_create(client, "dbs/tenants", &contoso, NULL, NULL));
    must(orrery_container_create(client, "dbs/tenants", &rest, NULL, NULL));
}

/* Which tenant lives where. From now on documents are created in, and asked of, the database. */
static void register_table(void)
{
    orrery_lookup table[] = { { orrery_key_text("contoso"), large },
                              { orrery_key_text("fabrikam"), shared },
                              { orrery_key_text("adatum"), shared } };
    orrery_extractor by_tenant = { .size = sizeof(by_tenant), .property = "tenant" };
    orrery_resolver *resolver = NULL;

    must(orrery_resolver_lookup(&by_tenant, table, 3, NULL, &resolver));
    must(orrery_client_set_resolver(client, "dbs/tenants", resolver));
    orrery_resolver_unref(resolver);
}

static void add_invoice(const char *id, const char *tenant, int amount)
{
    char json[128];

    snprintf(json, sizeof(json), "{\"id\":\"%s\",\"tenant\":\"%s\",\"amount\":%d}", id, tenant, amount);
    must(orrery_item_create(client, "dbs/tenants", json, ORRERY_TEXT, NULL, NULL, NULL));
}

/* All of one tenant's, or of all tenants: then from both collections, in one order. */
static void print_invoices(const char *tenant)
{
    orrery_key key = orrery_key_text(tenant); /* NULL: a null, which asks all */
    char value[64] = "null";
    orrery_parameter parameters[] = { { "@tenant", value } };
    orrery_query *query = NULL;
    orrery_status status;

    printf("%s:\n", tenant ? tenant : "everybody");
    if (tenant)
        snprintf(value, sizeof(value), "\"%s\"", tenant);
    must(
        orrery_query_open(client, "dbs/tenants",
                          "SELECT * FROM c WHERE c.tenant = @tenant OR @tenant = null ORDER BY c.amount DESC",
                          parameters, 1, &key, NULL, &query));
    while ((status = orrery_query_step(query)) == ORRERY_ROW) {
        orrery_value row = orrery_query_value(query);

        printf("  %s %s %d from %s\n", orrery_value_text(orrery_value_member(row, "id"), NULL),
               orrery_value_text(orrery_value_member(row, "tenant"), NULL),
               (int)orrery_value_int(orrery_value_member(row, "amount")), orrery_query_link(query));
    }
    must(status);
    orrery_query_close(query);
}

/* A tenant that nobody has entered in the table is told at once, and nothing is written. */
static void try_unknown(void)
{
    orrery_status status = orrery_item_create(
        client, "dbs/tenants", "{\"id\":\"9\",\"tenant\":\"northwind\"}", ORRERY_TEXT, NULL, NULL, NULL);

    printf("northwind: %s\n", orrery_status_text(status));
}

int main(int argc, char **argv)
{
    open_client(argc, argv);
    make_collections();
    register_table();
    add_invoice("1", "contoso", 900);
    add_invoice("2", "fabrikam", 120);
    add_invoice("3", "adatum", 300);
    add_invoice("4", "fabrikam", 450);
    print_invoices("fabrikam");
    print_invoices(NULL);
    try_unknown();
    must(orrery_delete(client, "dbs/tenants", NULL, NULL));
    orrery_close(client);
    return 0;
}
