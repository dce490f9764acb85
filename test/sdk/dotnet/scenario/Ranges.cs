// test/sdk/dotnet/scenario/Ranges.cs - ranges that split and merge under Microsoft.Azure.Cosmos: queries, the change feed, its processors.
using System.Collections.Concurrent;
using System.Net;
using System.Security.Cryptography;
using System.Text;
using Microsoft.Azure.Cosmos;
using Newtonsoft.Json.Linq;
using static Check;

class Ranges(CosmosClient client)
{
    const int Items = 60;
    static readonly TimeSpan waitMax = TimeSpan.FromSeconds(60);

    readonly string name = "ranges-dotnet-" + Guid.NewGuid().ToString("N")[..8];
    readonly HttpClient http = Http();
    Database database;
    List<string> live;
    int made;

    // ---- splitting and merging: the SDK has no word for it, so it is signed by hand ----

    async Task<List<string>> Admin(string command, Container container, JObject wanted)
    {
        string date = DateTime.UtcNow.ToString("r");
        string text = $"post\n_orrery\n_orrery/{command}\n{date.ToLowerInvariant()}\n\n";
        byte[] key = Convert.FromBase64String(Environment.GetEnvironmentVariable("ORRERY_KEY"));
        string signature = Convert.ToBase64String(HMACSHA256.HashData(key, Encoding.UTF8.GetBytes(text)));
        wanted["container"] = $"dbs/{name}/colls/{container.Id}";
        using var request = new HttpRequestMessage(HttpMethod.Post, Address("_orrery/" + command)) { Content = new StringContent(wanted.ToString()) };
        request.Headers.TryAddWithoutValidation("authorization", Uri.EscapeDataString("type=master&ver=1.0&sig=" + signature));
        request.Headers.Add("x-ms-date", date);
        using HttpResponseMessage answer = await http.SendAsync(request);
        string body = await answer.Content.ReadAsStringAsync();
        Equal(HttpStatusCode.OK, answer.StatusCode, body);
        return JObject.Parse(body)["ranges"].Select(range => (string)range["id"]).ToList();
    }

    async Task Split(Container container) => live = await Admin("split", container, new JObject());

    // Those that the last split left are one.
    async Task Merge(Container container) => live = await Admin("merge", container, new JObject { ["ranges"] = new JArray(live) });

    // ---- items ----

    async Task<Container> Empty() => await database.CreateContainerAsync("c" + ++made, "/pk", 12000);

    static async Task Write(Container container, int from, int to)
    {
        for (int n = from; n < to; n++) await container.UpsertItemAsync(new JObject { ["id"] = n.ToString(), ["pk"] = "p" + n % 20, ["n"] = n });
    }

    async Task<Container> Filled()
    {
        Container container = await Empty();
        await Write(container, 0, Items);
        return container;
    }

    static IEnumerable<int> Numbers(int from, int to) => Enumerable.Range(from, to - from);

    // ---- queries ----

    // One iterator, with something done behind each of its first pages.
    async Task<List<int>> Read(Container container, string query, params Func<Task>[] between)
    {
        var found = new List<int>();
        FeedIterator<JObject> pages = container.GetItemQueryIterator<JObject>(query, requestOptions: new QueryRequestOptions { MaxItemCount = 5 });
        for (int at = 0; pages.HasMoreResults; at++)
        {
            found.AddRange((await pages.ReadNextAsync()).Select(row => (int)row["n"]));
            if (at < between.Length) await between[at]();
        }
        return found;
    }

    // The same, but each page by a client of its own that has the last one's continuation.
    async Task<List<int>> ReadByTokens(Container container, string query, params Func<Task>[] between)
    {
        var found = new List<int>();
        string token = null;
        int at = 0;
        do
        {
            using CosmosClient fresh = Connect();
            FeedIterator<JObject> pages = fresh.GetContainer(name, container.Id).GetItemQueryIterator<JObject>(query, token, new QueryRequestOptions { MaxItemCount = 5 });
            FeedResponse<JObject> page = await pages.ReadNextAsync();
            found.AddRange(page.Select(row => (int)row["n"]));
            Must(at < 3 * Items, "the pages have an end");
            if (at < between.Length) await between[at]();
            at++;
            token = page.ContinuationToken;
        } while (token != null);
        return found;
    }

    async Task Queries()
    {
        await Step("a query goes on over splits and a merge", async () =>
        {
            Container container = await Filled();
            Same(Numbers(0, Items), (await Read(container, "SELECT c.n FROM c", () => Split(container), () => Merge(container), () => Split(container))).Order());
        });
        await Step("a sorted query goes on over splits, in order", async () =>
        {
            Container container = await Filled();
            Same(Numbers(0, Items), await Read(container, "SELECT c.n FROM c ORDER BY c.n", () => Split(container), () => Split(container)));
        });
        await Step("a continuation is good after splits and a merge, in another client", async () =>
        {
            Container container = await Filled();
            Same(Numbers(0, Items), (await ReadByTokens(container, "SELECT c.n FROM c", () => Split(container), () => Merge(container), () => Split(container))).Order());
        });
        await Step("a sorted query's continuation is good after splits, in another client", async () =>
        {
            Container container = await Filled();
            Same(Numbers(0, Items).Reverse(), await ReadByTokens(container, "SELECT c.n FROM c ORDER BY c.n DESC", () => Split(container), () => Split(container)));
        });
        await Step("a feed range of before a split has its items after it", async () =>
        {
            Container container = await Filled();
            IReadOnlyList<FeedRange> before = await container.GetFeedRangesAsync();
            await Split(container);
            var found = new List<int>();
            foreach (FeedRange range in before)
                found.AddRange((await All(container.GetItemQueryIterator<JObject>(range, new QueryDefinition("SELECT c.n FROM c"), null))).Select(row => (int)row["n"]));
            Same(Numbers(0, Items), found.Order());
        });
    }

    // ---- the change feed ----

    static async Task<string> Drain(FeedIterator<JObject> changes, List<int> found, params Func<Task>[] between)
    {
        for (int at = 0; ; at++)
        {
            FeedResponse<JObject> page = await changes.ReadNextAsync();
            if (page.StatusCode == HttpStatusCode.NotModified) return page.ContinuationToken;
            found.AddRange(page.Select(row => (int)row["n"]));
            if (at < between.Length) await between[at]();
        }
    }

    static FeedIterator<JObject> Changes(Container container, ChangeFeedStartFrom start) =>
        container.GetChangeFeedIterator<JObject>(start, ChangeFeedMode.LatestVersion, new ChangeFeedRequestOptions { PageSizeHint = 4 });

    async Task Feed()
    {
        await Step("the change feed goes on over splits and a merge", async () =>
        {
            Container container = await Filled();
            var found = new List<int>();
            await Drain(Changes(container, ChangeFeedStartFrom.Beginning()), found, () => Split(container), () => Merge(container), () => Split(container));
            Same(Numbers(0, Items), found.Order());
        });
        await Step("a change feed's continuation is good after a split and a merge", async () =>
        {
            Container container = await Filled();
            string token = await Drain(Changes(container, ChangeFeedStartFrom.Now()), new());
            await Split(container);
            await Write(container, Items, Items + 10);
            await Merge(container);
            var found = new List<int>();
            await Drain(Changes(container, ChangeFeedStartFrom.ContinuationToken(token)), found);
            Same(Numbers(Items, Items + 10), found.Order());
        });
    }

    // ---- processors, over a container of leases ----

    class Instance
    {
        public readonly BlockingCollection<int> Seen;
        public readonly ChangeFeedProcessor Processor;
        public readonly TaskCompletionSource Heard = new(TaskCreationOptions.RunContinuationsAsynchronously);

        public Instance(string name, Container container, Container leases, BlockingCollection<int> seen)
        {
            Seen = seen;
            Processor = container.GetChangeFeedProcessorBuilder<JObject>("processor", On).WithInstanceName(name).WithLeaseContainer(leases)
                .WithStartTime(DateTime.MinValue.ToUniversalTime()).WithPollInterval(TimeSpan.FromMilliseconds(50)).WithMaxItems(5)
                .WithLeaseConfiguration(TimeSpan.FromMilliseconds(300), TimeSpan.FromSeconds(10), TimeSpan.FromSeconds(1)).Build();
        }

        Task On(ChangeFeedProcessorContext context, IReadOnlyCollection<JObject> changes, CancellationToken stop)
        {
            foreach (JObject item in changes) Seen.Add((int)item["n"]);
            Heard.TrySetResult();
            return Task.CompletedTask;
        }
    }

    // Until each of these has come; a change may come twice.
    static void Take(BlockingCollection<int> seen, int from, int to)
    {
        var missing = new HashSet<int>(Numbers(from, to));
        while (missing.Count > 0)
        {
            Must(seen.TryTake(out int one, waitMax), "more changes come than all but " + string.Join(" ", missing));
            missing.Remove(one);
        }
    }

    // Each instance has some of the leases sooner or later: the writes go on until it hears of one.
    static async Task UntilHeard(Container container, Instance instance)
    {
        var watch = System.Diagnostics.Stopwatch.StartNew();
        while (!instance.Heard.Task.IsCompleted)
        {
            Must(watch.Elapsed < waitMax, "both instances hear of changes");
            await Write(container, 0, 20);
            await Task.WhenAny(instance.Heard.Task, Task.Delay(50));
        }
    }

    async Task Processors()
    {
        await Step("two processors share the ranges, through splits and a merge", async () =>
        {
            Container container = await Empty(), leases = await database.CreateContainerAsync("leases", "/id");
            var seen = new BlockingCollection<int>();
            Instance one = new("one", container, leases, seen), two = new("two", container, leases, seen);
            await Task.WhenAll(one.Processor.StartAsync(), two.Processor.StartAsync());
            try
            {
                await Write(container, 0, 20);
                Take(seen, 0, 20);
                await UntilHeard(container, one);
                await UntilHeard(container, two);
                await Split(container);
                await Write(container, 20, 40);
                Take(seen, 20, 40);
                await Split(container);
                await Write(container, 40, Items);
                Take(seen, 40, Items);
                await Merge(container);
                await Write(container, Items, Items + 20);
                Take(seen, Items, Items + 20);
            }
            finally
            {
                await Task.WhenAll(one.Processor.StopAsync(), two.Processor.StopAsync());
            }
            await Write(container, 100, 107);
            long pending = await Pending(container, leases); // LSNs are the container's: several ranges count one another's
            Must(pending >= 7, "at least 7 changes are to come: " + pending);
        });
    }

    async Task<long> Pending(Container container, Container leases)
    {
        List<ChangeFeedProcessorState> states = await All(container.GetChangeFeedEstimator("processor", leases).GetCurrentStateIterator());
        return states.Sum(state => state.EstimatedLag);
    }

    public async Task Run()
    {
        database = await client.CreateDatabaseAsync(name);
        await Queries();
        await Feed();
        await Processors();
        await database.DeleteAsync();
    }
}
