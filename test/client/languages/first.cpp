// test/client/languages/first.cpp - a first program in C++: first ENDPOINT KEY.
#include <orrery.h>

#include <cstdio>
#include <memory>
#include <stdexcept>
#include <string>

namespace {

struct closer {
    void operator()(orrery_client *client) const { orrery_close(client); }
    void operator()(orrery_query *query) const { orrery_query_close(query); }
};

void must(orrery_status status, const orrery_client *client)
{
    if (orrery_failed(status))
        throw std::runtime_error(orrery_error(client));
}

std::unique_ptr<orrery_client, closer> open(const char *endpoint, const char *key)
{
    orrery_settings settings = { .size = sizeof(settings), .endpoint = endpoint, .key = key };
    orrery_client *client = nullptr;

    if (orrery_open(&settings, &client) != ORRERY_OK)
        throw std::runtime_error(orrery_open_error(&settings));
    return std::unique_ptr<orrery_client, closer>(client);
}

std::string first_row(orrery_client *client, const char *sql)
{
    orrery_query *made = nullptr;

    must(orrery_query_open(client, "dbs/languages/colls/cpp", sql, nullptr, 0, nullptr, nullptr, &made), client);
    std::unique_ptr<orrery_query, closer> query(made);
    must(orrery_query_step(query.get()), client);
    return orrery_query_row(query.get(), nullptr);
}

} // namespace

int main(int argc, char **argv)
try {
    auto client = open(argc > 1 ? argv[1] : nullptr, argc > 2 ? argv[2] : nullptr);
    orrery_container container = { .size = sizeof(container), .id = "cpp", .partition_key = { "/city" } };

    must(orrery_create_if_missing(client.get(), "dbs", R"({"id":"languages"})", ORRERY_TEXT, nullptr, nullptr),
         client.get());
    must(orrery_container_create(client.get(), "dbs/languages", &container, nullptr, nullptr), client.get());
    must(orrery_item_create(client.get(), "dbs/languages/colls/cpp", R"({"id":"1","city":"Lyon"})", ORRERY_TEXT,
                            nullptr, nullptr, nullptr),
         client.get());
    std::puts(first_row(client.get(), "SELECT c.id, c.city FROM c").c_str());
    return 0;
} catch (const std::exception &problem) {
    std::fprintf(stderr, "%s\n", problem.what());
    return 1;
}
