// test/sdk/dotnet/scenario/Queries.cs - queries with Microsoft.Azure.Cosmos: the table of ../../queries.json, then ranges, metrics and lists.
using System.Net;
using Microsoft.Azure.Cosmos;
using Newtonsoft.Json;
using Newtonsoft.Json.Linq;
using static Check;

class Queries(CosmosClient client)
{
    readonly string name = "queries-dotnet-" + Guid.NewGuid().ToString("N")[..8];
    readonly JObject table = JsonConvert.DeserializeObject<JObject>(File.ReadAllText(Environment.GetEnvironmentVariable("ORRERY_QUERIES")));
    readonly Dictionary<string, Container> containers = new();
    Database database;

    public async Task Run()
    {
        database = await client.CreateDatabaseAsync(name);
        await Fill("one", "definition", null);
        await Fill("three", "definition", 18000);
        await Fill("levels", "levels", 18000);
        foreach (JToken entry in table["queries"])
            foreach (string where in entry["container"] == null ? new[] { "one", "three" } : new[] { "levels" })
                foreach (int? size in new int?[] { null, 2 })
                    await Step($"{entry["name"]} of {where}, {(size == null ? "as it comes" : "by pages of two")}", () => Ask(entry, where, size));
        await Step("each range has its items, and all have all", ByRange);
        await Step("metrics are told when they are asked for", Metrics);
        await Step("databases and containers are found by a query", Lists);
        await database.DeleteAsync();
    }

    async Task Fill(string id, string definition, int? throughput)
    {
        var properties = table[definition].ToObject<ContainerProperties>();
        properties.Id = id;
        containers[id] = await database.CreateContainerAsync(properties, throughput);
        foreach (JToken item in table["items"]) await containers[id].CreateItemAsync(item);
    }

    static QueryDefinition Text(JToken entry)
    {
        var query = new QueryDefinition((string)entry["query"]);
        foreach (JToken one in entry["parameters"] ?? new JArray()) query.WithParameter((string)one["name"], one["value"]);
        return query;
    }

    static QueryRequestOptions Options(JToken entry, int? size)
    {
        var options = new QueryRequestOptions { MaxItemCount = size };
        if (entry["key"] == null) return options;
        var key = new PartitionKeyBuilder();
        foreach (JToken value in entry["key"]) key.Add((string)value);
        options.PartitionKey = key.Build();
        return options;
    }

    async Task Ask(JToken entry, string where, int? size)
    {
        Task<List<JToken>> Rows() => All(containers[where].GetItemQueryIterator<JToken>(Text(entry), requestOptions: Options(entry, size)));
        if (entry["error"] == null)
        {
            Compare(entry, await Rows());
            return;
        }
        CosmosException problem = await Refused((HttpStatusCode)(int)entry["error"]["status"], Rows);
        Must(problem.Message.Contains((string)entry["error"]["message"]), problem.Message);
    }

    void Compare(JToken entry, List<JToken> rows)
    {
        if (entry["count"] != null)
        {
            Equal((int)entry["count"], rows.Count);
            return;
        }
        IEnumerable<string> wanted = (entry["rows"] is JArray given ? given : (JArray)table["items"]).Select(Canonical);
        IEnumerable<string> found = rows.Select(row => Canonical(Plain(row)));
        bool ordered = (bool?)entry["ordered"] ?? false;
        Same(ordered ? wanted : wanted.Order(StringComparer.Ordinal), ordered ? found : found.Order(StringComparer.Ordinal));
    }

    async Task ByRange()
    {
        IReadOnlyList<FeedRange> ranges = await containers["three"].GetFeedRangesAsync();
        Equal(3, ranges.Count);
        var rows = new List<JToken>();
        foreach (FeedRange range in ranges)
        {
            List<JToken> part = await All(containers["three"].GetItemQueryIterator<JToken>(range, new QueryDefinition("SELECT * FROM c"), null));
            Must(part.Count > 0, "a range has items");
            rows.AddRange(part);
        }
        Compare(new JObject { ["rows"] = "items" }, rows);
    }

    async Task Metrics()
    {
        FeedResponse<JToken> page = await containers["three"].GetItemQueryIterator<JToken>("SELECT * FROM c WHERE c.radius > 1000",
            requestOptions: new QueryRequestOptions { PopulateIndexMetrics = true }).ReadNextAsync();
        ServerSideCumulativeMetrics metrics = page.Diagnostics.GetQueryMetrics();
        Must(page.Count > 0 && metrics.CumulativeMetrics.OutputDocumentCount >= page.Count, "documents are counted");
        Must(metrics.CumulativeMetrics.TotalTime > TimeSpan.Zero, "time passes");
        Must(page.IndexMetrics.Contains("/radius/?"), page.IndexMetrics);
    }

    async Task Lists()
    {
        QueryDefinition byName = new QueryDefinition("SELECT * FROM d WHERE d.id = @id").WithParameter("@id", name);
        Equal(name, (await All(client.GetDatabaseQueryIterator<DatabaseProperties>(byName))).Single().Id);
        List<ContainerProperties> found = await All(database.GetContainerQueryIterator<ContainerProperties>("SELECT * FROM c WHERE c.id IN ('one', 'three')"));
        Same(new[] { "one", "three" }, found.Select(one => one.Id).Order());
    }
}
