// test/sdk/dotnet/scenario/Scenario.cs - the steps of ../../scenario.md with Microsoft.Azure.Cosmos, then queries, pages, bulk and ranges.
using System.Net;
using System.Text;
using Microsoft.Azure.Cosmos;
using Microsoft.Azure.Cosmos.Linq;
using Microsoft.Azure.Cosmos.Scripts;
using Newtonsoft.Json;
using Newtonsoft.Json.Linq;
using static Check;

// Dates stay the text that they are.
JsonConvert.DefaultSettings = () => new JsonSerializerSettings { DateParseHandling = DateParseHandling.None };

using CosmosClient client = Connect();
await new Scenario(client).Run();
await new Queries(client).Run();
await new Pages(client).Run();
await new Bulk(client).Run();
await new Ranges(client).Run();
Console.WriteLine($"{Passed} passed, {Failed} failed");
return Failed == 0 ? 0 : 1;

class Scenario(CosmosClient client)
{
    const string Text = "é 日本 😀 שלום \u2028 \\ \" /";
    static readonly string[] oddIds = { "a b", "100%", "a+b&c=d@e:f", "'single' and \"double\"", "é日本😀", "a.b..c", "a;b,c$d!e*f(g)" };
    static readonly PartitionKey a = new("a");

    readonly string name = "scenario-dotnet-" + Guid.NewGuid().ToString("N")[..8];
    Database database;
    Container single, levels;

    static JObject Item(string id, string pk = "a", double n = 0) => new() { ["id"] = id, ["pk"] = pk, ["n"] = n };

    static PartitionKey Levels(string tenant, string user, double session) => new PartitionKeyBuilder().Add(tenant).Add(user).Add(session).Build();

    Task<ItemResponse<JObject>> Read(string id, Container of = null) => (of ?? single).ReadItemAsync<JObject>(id, a);

    public async Task Run()
    {
        await Step("databases", Databases);
        await Step("containers", Containers);
        await Step("an item is made and read", MakeAndRead);
        await Step("an item is replaced, and on a condition", Replace);
        await Step("upserts", Upserts);
        await Step("odd ids", OddIds);
        await Step("keys of every kind, and none", Keys);
        await Step("a hierarchical key", Hierarchical);
        await Step("all items by pages", ReadByPages);
        await Step("a container is replaced", ReplaceContainer);
        await Step("throughput", Throughput);
        await Step("every patch", Patches);
        await Step("a batch does all of it or nothing", Batches);
        await Step("items as streams", Streams);
        await Step("several items at once", ReadMany);
        await Step("session tokens", SessionTokens);
        await Step("the change feed by pull", ChangeFeed);
        await Step("all versions and deletes", AllVersions);
        await Step("scripts", ScriptsOfEachKind);
        await Step("LINQ", Linq);
        await Step("all items of a key are deleted", DeleteByKey);
        await Step("what is deleted is gone", Delete);
    }

    async Task Databases()
    {
        database = await client.CreateDatabaseAsync(name);
        await Refused(HttpStatusCode.Conflict, () => client.CreateDatabaseAsync(name));
        Equal(name, (await database.ReadAsync()).Resource.Id);
        Must((await All(client.GetDatabaseQueryIterator<DatabaseProperties>())).Any(one => one.Id == name), "it is in the list");
    }

    async Task Containers()
    {
        single = await database.CreateContainerAsync("single", "/pk");
        IndexingPolicy policy = (await single.ReadContainerAsync()).Resource.IndexingPolicy;
        Equal(IndexingMode.Consistent, policy.IndexingMode);
        Equal("/*", policy.IncludedPaths.Single().Path);
        var properties = new ContainerProperties("levels", new List<string> { "/tenant", "/user", "/session" });
        levels = await database.CreateContainerAsync(properties);
        await Refused(HttpStatusCode.Conflict, () => database.CreateContainerAsync(properties));
    }

    async Task MakeAndRead()
    {
        JObject item = Item("1", n: 1);
        item["text"] = Text;
        item["list"] = new JArray(1, 2.5, null, true);
        ItemResponse<JObject> made = await single.CreateItemAsync(item, a);
        ItemResponse<JObject> read = await Read("1");
        Equal(Canonical(item), Canonical(Plain(read.Resource)));
        Equal(made.ETag, read.ETag);
        Equal(0, (await Refused(HttpStatusCode.NotFound, () => Read("none"))).SubStatusCode);
        await Refused(HttpStatusCode.Conflict, () => single.CreateItemAsync(Item("1"), a));
    }

    async Task Replace()
    {
        string first = (await Read("1")).ETag;
        ItemResponse<JObject> replaced = await single.ReplaceItemAsync(Item("1", n: 2), "1", a);
        Must(replaced.ETag != first, "the etag changes");
        await Refused(HttpStatusCode.PreconditionFailed,
            () => single.ReplaceItemAsync(Item("1", n: 9), "1", a, new ItemRequestOptions { IfMatchEtag = first }));
        Equal(2, (int)(await Read("1")).Resource["n"]);
        using ResponseMessage same = await single.ReadItemStreamAsync("1", a, new ItemRequestOptions { IfNoneMatchEtag = replaced.ETag });
        Equal(HttpStatusCode.NotModified, same.StatusCode);
        await Refused(HttpStatusCode.NotFound, () => single.ReplaceItemAsync(Item("nope", "b"), "nope", a)); // before its key is compared
    }

    async Task Upserts()
    {
        Equal(HttpStatusCode.OK, (await single.UpsertItemAsync(Item("1", n: 3), a)).StatusCode);
        Equal(HttpStatusCode.Created, (await single.UpsertItemAsync(Item("2"))).StatusCode); // the key is taken from the item
        var silent = new ItemRequestOptions { EnableContentResponseOnWrite = false };
        Equal(null, (await single.UpsertItemAsync(Item("2"), a, silent)).Resource);
    }

    async Task OddIds()
    {
        foreach (string id in oddIds)
        {
            await single.CreateItemAsync(Item(id), a);
            Equal(id, (string)(await Read(id)).Resource["id"]);
            await single.DeleteItemAsync<JObject>(id, a);
        }
    }

    async Task Keys()
    {
        Container kinds = await database.CreateContainerAsync("kinds", "/pk");
        var keys = new (string Text, PartitionKey Key)[]
        {
            ("\"pk\":null", PartitionKey.Null), ("\"x\":1", PartitionKey.None), ("\"pk\":true", new(true)), ("\"pk\":1.5", new(1.5)),
            ("\"pk\":\"\"", new("")), ("\"pk\":\"é \\\" 😀\"", new("é \" 😀")),
        };
        foreach ((string text, PartitionKey key) in keys)
        {
            await kinds.CreateItemAsync(JObject.Parse("{\"id\":\"1\"," + text + "}"), key);
            Equal("1", (string)(await kinds.ReadItemAsync<JObject>("1", key)).Resource["id"]);
        }
        Equal(keys.Length, (await All(kinds.GetItemQueryIterator<JObject>())).Count);
        Equal(1001, (await Refused(HttpStatusCode.BadRequest, () => kinds.CreateItemAsync(Item("2", "x"), new PartitionKey("y")))).SubStatusCode);
    }

    async Task Hierarchical()
    {
        await levels.CreateItemAsync(new { id = "1", tenant = "t", user = "u", session = 5 }, Levels("t", "u", 5));
        Equal(5, (int)(await levels.ReadItemAsync<JObject>("1", Levels("t", "u", 5))).Resource["session"]);
        await Refused(HttpStatusCode.NotFound, () => levels.ReadItemAsync<JObject>("1", Levels("t", "u", 6)));
    }

    async Task ReadByPages()
    {
        for (int n = 0; n < 25; n++) await single.CreateItemAsync(Item("many-" + n, "many"));
        var seen = new List<string>();
        FeedIterator<JObject> pages = single.GetItemQueryIterator<JObject>(requestOptions: new QueryRequestOptions { MaxItemCount = 10 });
        while (pages.HasMoreResults)
        {
            FeedResponse<JObject> page = await pages.ReadNextAsync();
            Must(page.Count <= 10, "no page is longer than it may be");
            seen.AddRange(page.Where(item => (string)item["pk"] == "many").Select(item => (string)item["id"]));
        }
        Equal(25, seen.Count);
        Equal(25, seen.Distinct().Count());
    }

    async Task ReplaceContainer()
    {
        ContainerProperties properties = (await single.ReadContainerAsync()).Resource;
        properties.DefaultTimeToLive = 3600;
        await single.ReplaceContainerAsync(properties);
        Equal(3600, (await single.ReadContainerAsync()).Resource.DefaultTimeToLive);
    }

    async Task Throughput()
    {
        Equal(400, await single.ReadThroughputAsync());
        Equal(700, (await single.ReplaceThroughputAsync(700)).Resource.Throughput);
        await Refused(HttpStatusCode.BadRequest, () => single.ReplaceThroughputAsync(701));
        Container auto = await database.CreateContainerAsync(new ContainerProperties("auto", "/pk"), ThroughputProperties.CreateAutoscaleThroughput(4000));
        Equal(4000, (await auto.ReadThroughputAsync(new RequestOptions())).Resource.AutoscaleMaxThroughput);
    }

    async Task Patches()
    {
        JObject item = Item("1", n: 3);
        item["list"] = new JArray(1);
        item["old"] = "text";
        await single.UpsertItemAsync(item, a);
        JObject patched = await single.PatchItemAsync<JObject>("1", a, new[]
        {
            PatchOperation.Add("/list/-", 2), PatchOperation.Set<string>("/a~1b", null), PatchOperation.Replace("/list/0", 0),
            PatchOperation.Increment("/n", 1.5), PatchOperation.Move("/old", "/new"), PatchOperation.Remove("/a~1b"),
        });
        Equal("{id:\"1\",list:[0,2],n:4.5,new:\"text\",pk:\"a\"}", Canonical(Plain(patched)));
        PatchOperation[] more = { PatchOperation.Increment("/n", 1) };
        PatchItemRequestOptions Where(string filter) => new() { FilterPredicate = "FROM c WHERE " + filter };
        Equal(5.5, (double)(await single.PatchItemAsync<JObject>("1", a, more, Where("c.n > 4"))).Resource["n"]);
        await Refused(HttpStatusCode.PreconditionFailed, () => single.PatchItemAsync<JObject>("1", a, more, Where("c.n < 4")));
        await Refused(HttpStatusCode.BadRequest, () => single.PatchItemAsync<JObject>("1", a, new[] { PatchOperation.Replace("/none", 1) }));
    }

    async Task Batches()
    {
        using TransactionalBatchResponse done = await single.CreateTransactionalBatch(a).CreateItem(Item("b1", n: 1)).UpsertItem(Item("b1", n: 2))
            .ReplaceItem("b1", Item("b1", n: 3)).PatchItem("b1", new[] { PatchOperation.Increment("/n", 1) }).ReadItem("b1")
            .CreateItem(Item("b2")).DeleteItem("b2").ExecuteAsync();
        Same(new[] { 201, 200, 200, 200, 200, 201, 204 }, done.Select(one => (int)one.StatusCode));
        Equal(4, (int)done.GetOperationResultAtIndex<JObject>(4).Resource["n"]);
        Equal(done[3].ETag, done[4].ETag);
        using TransactionalBatchResponse failed = await single.CreateTransactionalBatch(a).CreateItem(Item("b3"))
            .ReplaceItem("b1", Item("b1"), new TransactionalBatchItemRequestOptions { IfMatchEtag = "old" }).DeleteItem("b1").ExecuteAsync();
        Equal(HttpStatusCode.PreconditionFailed, failed.StatusCode);
        Same(new[] { 424, 412, 424 }, failed.Select(one => (int)one.StatusCode));
        await Refused(HttpStatusCode.NotFound, () => Read("b3"));
        await single.DeleteItemAsync<JObject>("b1", a);
    }

    static bool SendsBinary => bool.TryParse(Environment.GetEnvironmentVariable("AZURE_COSMOS_BINARY_ENCODING_ENABLED"), out bool sends) && sends;

    async Task Streams()
    {
        using var body = new MemoryStream(Encoding.UTF8.GetBytes("{\"id\":\"stream\",\"pk\":\"a\"}"));
        using ResponseMessage made = await single.CreateItemStreamAsync(body, a);
        Equal(HttpStatusCode.Created, made.StatusCode);
        using ResponseMessage read = await single.ReadItemStreamAsync("stream", a);
        Equal("stream", (string)JObject.Parse(new StreamReader(read.Content).ReadToEnd())["id"]);
        if (SendsBinary)
            return; // the SDK reads the text itself, to send it in binary, and throws where it is broken
        using var broken = new MemoryStream(Encoding.UTF8.GetBytes("{\"id\":"));
        using ResponseMessage refused = await single.CreateItemStreamAsync(broken, a);
        Equal(HttpStatusCode.BadRequest, refused.StatusCode);
    }

    async Task ReadMany()
    {
        var wanted = Enumerable.Range(0, 25).Select(n => ("many-" + n, new PartitionKey("many"))).Append(("1", a)).Append(("none", a)).ToList();
        FeedResponse<JObject> found = await single.ReadManyItemsAsync<JObject>(wanted);
        Equal(26, found.Count);
    }

    async Task SessionTokens()
    {
        string token = (await single.UpsertItemAsync(Item("session"), a)).Headers.Session;
        using CosmosClient other = Connect(options => options.ConsistencyLevel = ConsistencyLevel.Session);
        Container same = other.GetContainer(name, "single");
        await same.ReadItemAsync<JObject>("session", a, new ItemRequestOptions { SessionToken = token });
        int lsn = int.Parse(token[(token.LastIndexOf('#') + 1)..]);
        string ahead = token[..(token.LastIndexOf('#') + 1)] + (lsn + 1000);
        CosmosException behind = await Refused(HttpStatusCode.NotFound,
            () => same.ReadItemAsync<JObject>("session", a, new ItemRequestOptions { SessionToken = ahead }));
        Equal(1002, behind.SubStatusCode);
    }

    static async Task<string> Drain(FeedIterator<JObject> changes, List<string> seen)
    {
        while (true)
        {
            FeedResponse<JObject> page = await changes.ReadNextAsync();
            if (page.StatusCode == HttpStatusCode.NotModified) return page.ContinuationToken;
            seen.AddRange(page.Select(item => (string)item["id"]));
        }
    }

    async Task ChangeFeed()
    {
        Container container = await database.CreateContainerAsync("changes", "/pk", 18000);
        for (int n = 0; n < 20; n++) await container.CreateItemAsync(Item(n.ToString(), "key-" + n));
        await container.DeleteItemAsync<JObject>("4", new PartitionKey("key-4"));
        var few = new ChangeFeedRequestOptions { PageSizeHint = 3 };
        async Task<List<string>> From(ChangeFeedStartFrom start)
        {
            var seen = new List<string>();
            await Drain(container.GetChangeFeedIterator<JObject>(start, ChangeFeedMode.LatestVersion, few), seen);
            return seen.OrderBy(int.Parse).ToList();
        }
        List<string> wanted = Enumerable.Range(0, 20).Where(n => n != 4).Select(n => n.ToString()).ToList();
        Same(wanted, await From(ChangeFeedStartFrom.Beginning()));
        Same(wanted, await From(ChangeFeedStartFrom.Time(DateTime.UtcNow.AddHours(-1))));
        Same(new[] { "7" }, await From(ChangeFeedStartFrom.Beginning(FeedRange.FromPartitionKey(new PartitionKey("key-7")))));
        IReadOnlyList<FeedRange> ranges = await container.GetFeedRangesAsync();
        Equal(3, ranges.Count);
        var parts = new List<string>();
        foreach (FeedRange range in ranges) parts.AddRange(await From(ChangeFeedStartFrom.Beginning(range)));
        Same(wanted, parts.OrderBy(int.Parse));
        string token = await Drain(container.GetChangeFeedIterator<JObject>(ChangeFeedStartFrom.Now(), ChangeFeedMode.LatestVersion), new());
        await container.CreateItemAsync(Item("100", "key-1"));
        Same(new[] { "100" }, await From(ChangeFeedStartFrom.ContinuationToken(token)));
    }

    async Task AllVersions()
    {
        var properties = new ContainerProperties("versions", "/pk") { ChangeFeedPolicy = new ChangeFeedPolicy { FullFidelityRetention = TimeSpan.FromMinutes(10) } };
        Container container = await database.CreateContainerAsync(properties);
        FeedIterator<ChangeFeedItem<JObject>> Changes(ChangeFeedStartFrom start) =>
            container.GetChangeFeedIterator<ChangeFeedItem<JObject>>(start, ChangeFeedMode.AllVersionsAndDeletes);
        string token = (await Changes(ChangeFeedStartFrom.Now()).ReadNextAsync()).ContinuationToken;
        await container.CreateItemAsync(Item("1", n: 1), a);
        await container.UpsertItemAsync(Item("1", n: 2), a);
        await container.DeleteItemAsync<JObject>("1", a);
        FeedResponse<ChangeFeedItem<JObject>> page = await Changes(ChangeFeedStartFrom.ContinuationToken(token)).ReadNextAsync();
        Same(new[] { "Create", "Replace", "Delete" }, page.Select(one => one.Metadata.OperationType.ToString()));
        Same(new[] { 1, 2 }, page.Take(2).Select(one => (int)one.Current["n"]));
        Equal(2, (int)page.Last().Previous["n"]);
    }

    async Task ScriptsOfEachKind()
    {
        Microsoft.Azure.Cosmos.Scripts.Scripts scripts = single.Scripts;
        await scripts.CreateStoredProcedureAsync(new StoredProcedureProperties("sum",
            "function (x, y) { console.log('adding'); getContext().getResponse().setBody({ sum: x + y.n }); }"));
        StoredProcedureExecuteResponse<JObject> run = await scripts.ExecuteStoredProcedureAsync<JObject>("sum", a,
            new dynamic[] { 1, new { n = 2 } }, new StoredProcedureRequestOptions { EnableScriptLogging = true });
        Equal(3, (int)run.Resource["sum"]);
        Equal("adding", run.ScriptLog);
        await scripts.CreateTriggerAsync(new TriggerProperties
        {
            Id = "stamp", TriggerType = TriggerType.Pre, TriggerOperation = TriggerOperation.Create,
            Body = "function () { var request = getContext().getRequest(), item = request.getBody(); item.stamp = true; request.setBody(item); }",
        });
        var options = new ItemRequestOptions { PreTriggers = new[] { "stamp" } };
        Must((bool)(await single.CreateItemAsync(Item("stamped"), a, options)).Resource["stamp"], "the trigger ran");
        await scripts.CreateUserDefinedFunctionAsync(new UserDefinedFunctionProperties { Id = "twice", Body = "function (x) { return 2 * x; }" });
        Same(new[] { 11.0 }, await All(single.GetItemQueryIterator<double>("SELECT VALUE udf.twice(c.n) FROM c WHERE c.id = '1'")));
    }

    async Task Linq()
    {
        for (int n = 0; n < 9; n++) await single.CreateItemAsync(new Row { id = "linq" + n, pk = "linq" + n % 2, n = n, tags = new[] { "t" + n % 3 } });
        IQueryable<Row> rows = single.GetItemLinqQueryable<Row>().Where(row => row.id.StartsWith("linq"));
        Same(new[] { 8.0, 7, 6 }, await All(rows.OrderByDescending(row => row.n).Take(3).Select(row => row.n).ToFeedIterator()));
        Same(new[] { 0.0, 3, 6 }, await All(rows.Where(row => row.tags.Contains("t0")).OrderBy(row => row.n).Select(row => row.n).ToFeedIterator()));
        Equal(36.0, (await rows.Select(row => row.n).SumAsync()).Resource);
        Equal(9, (await rows.CountAsync()).Resource);
    }

    async Task DeleteByKey()
    {
        using ResponseMessage done = await single.DeleteAllItemsByPartitionKeyStreamAsync(new PartitionKey("many"));
        Equal(HttpStatusCode.OK, done.StatusCode);
        var many = new QueryRequestOptions { PartitionKey = new PartitionKey("many") };
        Equal(0, (await All(single.GetItemQueryIterator<JObject>(requestOptions: many))).Count);
        await Read("1");
    }

    async Task Delete()
    {
        await single.DeleteItemAsync<JObject>("1", a);
        await Refused(HttpStatusCode.NotFound, () => Read("1"));
        await Refused(HttpStatusCode.NotFound, () => single.DeleteItemAsync<JObject>("1", a));
        await levels.DeleteContainerAsync();
        await Refused(HttpStatusCode.NotFound, () => levels.ReadContainerAsync());
        await database.DeleteAsync();
        await Refused(HttpStatusCode.NotFound, () => database.ReadAsync());
    }

    class Row
    {
        public string id, pk;
        public double n;
        public string[] tags;
    }
}
