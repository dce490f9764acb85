// test/sdk/dotnet/outages/Outages.cs - a server that restarts, dies, splits its ranges and loses its connections under
// Microsoft.Azure.Cosmos in Direct mode: clients of items, of bulks and of the change feed go on meanwhile, and see nothing of it but
// the time that it takes.
using System.Collections.Concurrent;
using System.Net;
using Microsoft.Azure.Cosmos;
using Newtonsoft.Json;
using Newtonsoft.Json.Linq;
using static Check;

JsonConvert.DefaultSettings = () => new JsonSerializerSettings { DateParseHandling = DateParseHandling.None };

using CosmosClient client = Connect(), bulk = Connect(options => options.AllowBulkExecution = true);
await new Outages(client, bulk).Run();
Console.WriteLine($"{Passed} passed, {Failed} failed");
return Failed == 0 ? 0 : 1;

class Outages(CosmosClient client, CosmosClient bulkClient)
{
    const int Workers = 6, BulkItems = 60, Last = 4, Absent = 0; // Last: what the writes of an item leave in it
    static readonly TimeSpan waitMax = TimeSpan.FromSeconds(180);
    static readonly string[] outages = { "restart", "cut", "split", "kill", "cut", "merge", "restart", "split", "kill" };

    readonly string name = "outages-dotnet-" + Guid.NewGuid().ToString("N")[..8];
    readonly HttpClient http = new() { Timeout = waitMax };
    readonly CancellationTokenSource end = new();
    readonly List<Worker> workers = new();
    readonly ConcurrentDictionary<string, int> kept = new(); // what must be there at the end
    readonly ConcurrentDictionary<string, int> seen = new(); // what the change feed has told
    readonly ConcurrentBag<string> lost = new(); // writes of which nobody was told what became, since the last outage began
    Container container, bulk;

    // ---- clients: each does rounds until it is told to end ----

    class Worker
    {
        public readonly string Name;
        public readonly Task Done;
        public long Rounds;

        public Worker(string name, Func<Worker, Task> round, CancellationToken end)
        {
            Name = name;
            Done = Task.Run(async () =>
            {
                for (; !end.IsCancellationRequested; Interlocked.Increment(ref Rounds)) await round(this);
            });
        }
    }

    // A connection ended with the write on it: by this protocol nobody can tell what became of it.
    bool IsLost(CosmosException problem, string what)
    {
        bool isLost = problem.StatusCode is HttpStatusCode.RequestTimeout
            || problem.StatusCode is HttpStatusCode.ServiceUnavailable && problem.SubStatusCode == 20006;
        if (isLost) lost.Add(what);
        return isLost;
    }

    static JObject Json(string id, string key, int n) => new() { ["id"] = id, ["pk"] = key, ["n"] = n };

    // One item, which nobody else writes. Each write holds for one version only, so that one that comes late does nothing.
    class Item(Outages world, string worker, string id)
    {
        public readonly PartitionKey Key = new(worker);
        public bool WasInDoubt; // then it is not deleted: a create that comes late would bring it back
        readonly HashSet<int> doubts = new(); // what lost writes may yet make of it
        int n = Absent;
        string etag;

        public async Task Read()
        {
            int before = n;
            try
            {
                ItemResponse<JObject> found = await world.container.ReadItemAsync<JObject>(id, Key);
                (n, etag) = ((int)found.Resource["n"], found.ETag);
            }
            catch (CosmosException problem) when (problem.StatusCode is HttpStatusCode.NotFound)
            {
                n = Absent;
            }
            Must(n == before || doubts.Contains(n), $"{id} has {n}, where {before} was written, and perhaps {string.Join(" ", doubts)}");
        }

        public async Task Find()
        {
            QueryDefinition query = new QueryDefinition("SELECT VALUE c.n FROM c WHERE c.id = @id").WithParameter("@id", id);
            Same(new[] { n }, await All(world.container.GetItemQueryIterator<int>(query, requestOptions: new QueryRequestOptions { PartitionKey = Key })));
        }

        // Until it is done: a lost write may have been done, and then the same one is refused.
        public async Task Write(int target, Func<string, Task<ItemResponse<JObject>>> send)
        {
            do
            {
                try
                {
                    etag = (await send(etag)).ETag;
                    n = target;
                }
                catch (CosmosException problem)
                {
                    bool isRefused = problem.StatusCode is HttpStatusCode.NotFound or HttpStatusCode.Conflict or HttpStatusCode.PreconditionFailed;
                    if (world.IsLost(problem, worker)) WasInDoubt = doubts.Add(target) || WasInDoubt;
                    else if (!isRefused || doubts.Count == 0) throw;
                    await Read();
                }
            } while (n != target);
            doubts.Clear();
        }
    }

    async Task Single(Worker worker)
    {
        string key = worker.Name, id = key + "-" + worker.Rounds;
        var item = new Item(this, key, id);
        ItemRequestOptions OnlyIf(string etag) => new() { IfMatchEtag = etag };
        await item.Write(1, etag => container.CreateItemAsync(Json(id, key, 1), item.Key));
        await item.Read();
        await item.Write(2, etag => container.ReplaceItemAsync(Json(id, key, 2), id, item.Key, OnlyIf(etag)));
        await item.Find();
        await item.Write(3, etag => container.UpsertItemAsync(Json(id, key, 3), item.Key, OnlyIf(etag)));
        await item.Write(Last, etag => container.PatchItemAsync<JObject>(id, item.Key, new[] { PatchOperation.Set("/n", Last) },
            new PatchItemRequestOptions { IfMatchEtag = etag }));
        await item.Read();
        if (worker.Rounds % 4 == 0 && !item.WasInDoubt)
        {
            await item.Write(Absent, etag => container.DeleteItemAsync<JObject>(id, item.Key, OnlyIf(etag)));
            await item.Read();
        }
        else kept[id] = Last;
    }

    async Task Create(string id, string key)
    {
        for (bool isInDoubt = false; ;)
        {
            try
            {
                await bulk.CreateItemAsync(Json(id, key, Last), new PartitionKey(key));
                return;
            }
            catch (CosmosException problem)
            {
                if (problem.StatusCode is HttpStatusCode.Conflict && isInDoubt) return;
                if (!IsLost(problem, id)) throw;
                isInDoubt = true;
            }
        }
    }

    async Task Bulk(Worker worker)
    {
        long round = worker.Rounds;
        await Task.WhenAll(Enumerable.Range(0, BulkItems).Select(i => Create($"bulk-{round}-{i}", "bulk-" + i)));
        for (int i = 0; i < BulkItems; i++) kept[$"bulk-{round}-{i}"] = Last;
    }

    // ---- outages ----

    async Task Await(Func<bool> holds, string what)
    {
        var watch = System.Diagnostics.Stopwatch.StartNew();
        while (!holds())
        {
            foreach (Worker one in workers.Where(one => one.Done.IsFaulted)) await one.Done;
            Must(watch.Elapsed < waitMax, what);
            await Task.Delay(10);
        }
    }

    // Each has done so many from now on: the first may have been begun before.
    async Task AwaitRounds(int more)
    {
        Dictionary<Worker, long> wanted = workers.ToDictionary(one => one, one => Interlocked.Read(ref one.Rounds) + more);
        await Await(() => wanted.All(one => Interlocked.Read(ref one.Key.Rounds) >= one.Value), "each client does its rounds");
    }

    async Task Happen(string outage)
    {
        string link = $"dbs/{name}/colls/{container.Id}";
        using HttpResponseMessage answer = await http.PostAsync(Environment.GetEnvironmentVariable("ORRERY_OUTAGES") + outage, new StringContent(link));
        Equal(HttpStatusCode.OK, answer.StatusCode, await answer.Content.ReadAsStringAsync());
    }

    // A cut connection takes the write on it along, once each; all else costs no write. No read fails, whatever happens.
    async Task Live(string outage)
    {
        await AwaitRounds(2);
        lost.Clear();
        await Happen(outage);
        await AwaitRounds(2);
        Must(outage is "cut" or "kill" || lost.IsEmpty, "no write is lost: " + string.Join(" ", lost));
        Equal(lost.Count, lost.Distinct().Count(), "none is lost twice: " + string.Join(" ", lost));
    }

    ChangeFeedProcessor Processor(string instance, Container leases) =>
        container.GetChangeFeedProcessorBuilder<JObject>("processor", (ChangeFeedProcessorContext context, IReadOnlyCollection<JObject> changes, CancellationToken stop) =>
        {
            foreach (JObject item in changes) seen.AddOrUpdate((string)item["id"], (int)item["n"], (id, n) => Math.Max(n, (int)item["n"]));
            return Task.CompletedTask;
        }).WithInstanceName(instance).WithLeaseContainer(leases).WithStartTime(DateTime.MinValue.ToUniversalTime())
        .WithPollInterval(TimeSpan.FromMilliseconds(50))
        .WithLeaseConfiguration(TimeSpan.FromMilliseconds(300), TimeSpan.FromSeconds(10), TimeSpan.FromSeconds(1)).Build();

    async Task Written()
    {
        List<JObject> rows = await All(container.GetItemQueryIterator<JObject>("SELECT c.id, c.n FROM c"));
        Same(kept.Select(one => one.Key + " " + one.Value).Order(), rows.Select(row => row["id"] + " " + row["n"]).Order());
    }

    public async Task Run()
    {
        Database database = await client.CreateDatabaseAsync(name);
        container = await database.CreateContainerAsync("items", "/pk", 18000);
        bulk = bulkClient.GetContainer(name, "items");
        Container leases = await database.CreateContainerAsync("leases", "/id");
        ChangeFeedProcessor[] processors = { Processor("one", leases), Processor("two", leases) };
        foreach (ChangeFeedProcessor one in processors) await one.StartAsync();
        for (int i = 0; i < Workers; i++) workers.Add(new Worker("single" + i, Single, end.Token));
        workers.Add(new Worker("bulk", Bulk, end.Token));
        foreach (string outage in outages) await Step("clients go on over: " + outage, () => Live(outage));
        end.Cancel();
        await Step("each client ends well", () => Task.WhenAll(workers.Select(one => one.Done)).WaitAsync(waitMax));
        await Step("what was written is there, and nothing else", Written);
        await Step("the change feed has told of all of it", () => Await(() => kept.All(one => seen.TryGetValue(one.Key, out int n) && n == one.Value), "each item is told"));
        foreach (ChangeFeedProcessor one in processors) await one.StopAsync();
        await database.DeleteAsync();
    }
}
