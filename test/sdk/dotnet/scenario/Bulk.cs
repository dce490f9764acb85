// test/sdk/dotnet/scenario/Bulk.cs - ten thousand items at once, and what fails among them.
using System.Net;
using Microsoft.Azure.Cosmos;
using Newtonsoft.Json.Linq;
using static Check;

class Bulk(CosmosClient client)
{
    const int Items = 10_000, Keys = 50;

    readonly string name = "bulk-dotnet-" + Guid.NewGuid().ToString("N")[..8];

    static PartitionKey Key(int n) => new("p" + n % Keys);

    static JObject Item(int n) => new() { ["id"] = n.ToString(), ["pk"] = "p" + n % Keys, ["n"] = n, ["text"] = "item " + n };

    static async Task<List<int>> Status<T>(IEnumerable<Task<T>> calls) where T : Response<JObject>
    {
        async Task<int> One(Task<T> call)
        {
            try
            {
                return (int)(await call).StatusCode;
            }
            catch (CosmosException problem)
            {
                return (int)problem.StatusCode;
            }
        }
        return (await Task.WhenAll(calls.ToList().Select(One))).Distinct().ToList();
    }

    public async Task Run()
    {
        Database database = await client.CreateDatabaseAsync(name);
        await database.CreateContainerAsync("bulk", "/pk", 18000);
        using CosmosClient bulk = Connect(options => options.AllowBulkExecution = true);
        Container container = bulk.GetContainer(name, "bulk");
        await Step("a bulk of ten thousand creates each", async () =>
        {
            Same(new[] { 201 }, await Status(Enumerable.Range(0, Items).Select(n => container.CreateItemAsync(Item(n), Key(n)))));
            Same(new[] { Items }, await All(container.GetItemQueryIterator<int>("SELECT VALUE COUNT(1) FROM c")));
            Same(new[] { (long)Items * (Items - 1) / 2 }, await All(container.GetItemQueryIterator<long>("SELECT VALUE SUM(c.n) FROM c")));
        });
        await Step("what fails in a bulk fails alone", async () =>
        {
            Same(new[] { 409 }, await Status(Enumerable.Range(0, 100).Select(n => container.CreateItemAsync(Item(n), Key(n)))));
            Same(new[] { 404, 200 }, await Status(Enumerable.Range(Items - 1, 2).Reverse().Select(n => container.ReadItemAsync<JObject>(n.ToString(), Key(n)))));
            Same(new[] { 200 }, await Status(Enumerable.Range(0, 500).Select(n => container.PatchItemAsync<JObject>(n.ToString(), Key(n), new[] { PatchOperation.Set("/n", 0) }))));
            Same(new[] { 204 }, await Status(Enumerable.Range(500, 500).Select(n => container.DeleteItemAsync<JObject>(n.ToString(), Key(n)))));
            Same(new[] { 500 }, await All(container.GetItemQueryIterator<int>("SELECT VALUE COUNT(1) FROM c WHERE c.n < 1000")));
        });
        await database.DeleteAsync();
    }
}
