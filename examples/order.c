/*
 * examples/order.c - an order takes stock, is written into a ledger and brings along a customer's name, in three containers:
 * all of it is done, or nothing.
 *     cc examples/order.c $(pkg-config --cflags --libs orrery) -o order && ./order http://localhost:8081 KEY
 */
#include "example.h"

static const char orders[] = "dbs/store/colls/orders"; /* by /customer */
static const char stock[] = "dbs/store/colls/stock";   /* by /sku */
static const char ledger[] = "dbs/store/colls/ledger"; /* by /day */

struct order {
    const char *id, *customer, *name, *sku;
    int count, price;
};

/* As many as are ordered must be there. Nobody can take them in between: the condition is looked at when it is done. */
static void take_stock(orrery_transaction *transaction, const struct order *order)
{
    orrery_key sku = orrery_key_text(order->sku);
    orrery_patch *patch = NULL;
    char condition[64], name[128];

    snprintf(condition, sizeof(condition), "FROM s WHERE s.available >= %d", order->count);
    snprintf(name, sizeof(name), "\"%s\"", order->name);
    must(orrery_patch_new(&patch));
    orrery_patch_increment(patch, "/available", -order->count);
    orrery_patch_set(patch, "/lastCustomer", name); /* a copy, which cannot differ from the order's */
    orrery_patch_condition(patch, condition);
    orrery_transaction_patch(transaction, stock, order->sku, patch, NULL, &sku);
    orrery_patch_free(patch);
}

/* Keys are taken out of the documents. The ids come from the order: a repetition has the same bytes. */
static void add_documents(orrery_transaction *transaction, const struct order *order)
{
    char json[256];

    snprintf(json, sizeof(json),
             "{\"id\":\"%s\",\"customer\":\"%s\",\"name\":\"%s\",\"sku\":\"%s\",\"count\":%d}", order->id,
             order->customer, order->name, order->sku, order->count);
    orrery_transaction_create(transaction, orders, json, ORRERY_TEXT, NULL);
    snprintf(json, sizeof(json), "{\"id\":\"%s\",\"day\":\"2026-11-16\",\"name\":\"%s\",\"amount\":%d}",
             order->id, order->name, order->count * order->price);
    orrery_transaction_create(transaction, ledger, json, ORRERY_TEXT, NULL);
}

static void print_refusal(orrery_response *results)
{
    orrery_result result = { .size = sizeof(result) };

    for (size_t i = 0; orrery_transaction_result(results, i, &result) == ORRERY_OK; i++)
        printf("    operation %zu: %d\n", i, result.http);
}

/*
 * Under the order's own token. A program that was ended, and does not know whether its order was taken, comes here once more:
 * it is told what became of it, and nothing is done twice.
 */
static void place(const struct order *order, const char *token)
{
    orrery_transaction *transaction = NULL;
    orrery_response *results = NULL;
    orrery_status status;

    must(orrery_transaction_new(&transaction));
    must(orrery_transaction_set_token(transaction, token));
    take_stock(transaction, order);
    add_documents(transaction, order);
    status = orrery_transaction_run(client, transaction, NULL, &results);
    printf("order %s: %s\n", order->id, status == ORRERY_EBATCH ? "refused" : orrery_status_text(status));
    if (status == ORRERY_EBATCH)
        print_refusal(results);
    else
        must(status);
    orrery_response_free(results);
    orrery_transaction_free(transaction);
}

/* All of it as of one moment: what was taken is what was paid for. */
static void print_state(void)
{
    orrery_key pen = orrery_key_text("pen"), ann = orrery_key_text("ann"),
               day = orrery_key_text("2026-11-16");
    orrery_result left = { .size = sizeof(left) }, order = left, entry = left;
    orrery_transaction *reads = NULL;
    orrery_response *items = NULL;

    must(orrery_transaction_new(&reads));
    orrery_transaction_read(reads, stock, "pen", NULL, &pen);
    orrery_transaction_read(reads, orders, "o1", NULL, &ann);
    orrery_transaction_read(reads, ledger, "o1", NULL, &day);
    must(orrery_transaction_run(client, reads, NULL, &items));
    must(orrery_transaction_result(items, 0, &left));
    must(orrery_transaction_result(items, 1, &order));
    must(orrery_transaction_result(items, 2, &entry));
    printf("%d pens are left, %s ordered %d and paid %d\n",
           (int)orrery_value_int(orrery_value_member(left.body, "available")),
           orrery_value_text(orrery_value_member(left.body, "lastCustomer"), NULL),
           (int)orrery_value_int(orrery_value_member(order.body, "count")),
           (int)orrery_value_int(orrery_value_member(entry.body, "amount")));
    orrery_response_free(items);
    orrery_transaction_free(reads);
}

static void make_store(void)
{
    orrery_container by[] = { { .size = sizeof(by[0]), .id = "orders", .partition_key = { "/customer" } },
                              { .size = sizeof(by[0]), .id = "stock", .partition_key = { "/sku" } },
                              { .size = sizeof(by[0]), .id = "ledger", .partition_key = { "/day" } } };

    orrery_delete(client, "dbs/store", NULL, NULL); /* from an earlier run */
    must(orrery_database_create(client, "store", NULL, NULL));
    for (size_t i = 0; i < sizeof(by) / sizeof(by[0]); i++)
        must(orrery_container_create(client, "dbs/store", &by[i], NULL, NULL));
    must(orrery_item_create(client, stock, "{\"id\":\"pen\",\"sku\":\"pen\",\"available\":5}", ORRERY_TEXT,
                            NULL, NULL, NULL));
}

/* One that the library made. A program that is to survive its own end writes it down, beside the order, before it goes on. */
static void note_token(char token[40])
{
    orrery_transaction *transaction = NULL;

    must(orrery_transaction_new(&transaction));
    snprintf(token, 40, "%s", orrery_transaction_token(transaction));
    orrery_transaction_free(transaction);
}

int main(int argc, char **argv)
{
    static const struct order first = { "o1", "ann", "Ann Lee", "pen", 3, 2 };
    static const struct order second = { "o2", "bob", "Bob Ray", "pen", 4, 2 };
    char tokens[2][40];

    open_client(argc, argv);
    make_store();
    note_token(tokens[0]);
    note_token(tokens[1]);
    place(&first, tokens[0]);
    place(&first, tokens[0]);  /* it is not known to have been taken: no pen is taken twice */
    place(&second, tokens[1]); /* there are not so many */
    print_state();
    must(orrery_delete(client, "dbs/store", NULL, NULL));
    orrery_close(client);
    return 0;
}
