// test/sdk/dotnet/scenario/Pages.cs - ordered queries read page by page, each page by a client that knows nothing but the last one's
// continuation, compared with a plain sort in memory.
using System.Collections.ObjectModel;
using Microsoft.Azure.Cosmos;
using Newtonsoft.Json.Linq;
using static Check;

class Pages(CosmosClient client)
{
    const int Items = 44;

    // Values of every type in their order; null in the place of what is undefined. Arrays and objects are ordered by the SDK's hash.
    static readonly string[] mixed =
    {
        null, "null", "false", "true", "-1.5", "0", "1", "1e300", "\"\"", "\"a\"", "\"é\"", "[\"a\"]", "[1.5]", "[0]", "[1]", "[1,2]", "[2,1]", "[]",
        "{\"a\":null}", "{\"a\":1,\"b\":2}", "{}", "{\"a\":1}",
    };

    record Item(int N, int U, int M)
    {
        public string Id => "i" + U;

        public JObject Json()
        {
            var item = new JObject { ["id"] = Id, ["pk"] = "p" + U % 11, ["n"] = N, ["u"] = U, ["s"] = "s" + (char)('a' + U % 26), ["tags"] = new JArray("x" + U, "y"), ["o"] = new JObject { ["id"] = Id, ["u"] = U } };
            if (mixed[M] != null) item["m"] = JToken.Parse(mixed[M]);
            return item;
        }
    }

    // What a query is, what a plain sort makes of the items, and what of an item its place depends on.
    record Kind(string Query, Func<IEnumerable<Item>, IEnumerable<Item>> Plain, Func<Item, string> Key);

    static readonly Func<Item, string> n = item => item.N.ToString(), u = item => item.U.ToString(), m = item => item.M.ToString();
    static readonly Func<Item, string> nu = item => item.N + " " + item.U, mu = item => item.M + " " + item.U;

    static readonly Kind[] kinds =
    {
        new("SELECT c.id FROM c ORDER BY c.u", all => all.OrderBy(item => item.U), u),
        new("SELECT c.id FROM c ORDER BY c.u DESC", all => all.OrderByDescending(item => item.U), u),
        new("SELECT c.id FROM c ORDER BY c.n", all => all.OrderBy(item => item.N), n),
        new("SELECT c.id FROM c ORDER BY c.n DESC", all => all.OrderByDescending(item => item.N), n),
        new("SELECT c.id FROM c ORDER BY c.s", all => all.OrderBy(item => item.U % 26), item => (item.U % 26).ToString()),
        new("SELECT c.id FROM c ORDER BY c.m", all => all.OrderBy(item => item.M), m),
        new("SELECT c.id FROM c ORDER BY c.m DESC", all => all.OrderByDescending(item => item.M), m),
        new("SELECT c.id FROM c WHERE IS_ARRAY(c.m) ORDER BY c.m", all => all.Where(item => item.M is >= 11 and < 18).OrderBy(item => item.M), m),
        new("SELECT c.id FROM c WHERE IS_OBJECT(c.m) ORDER BY c.m DESC", all => all.Where(item => item.M >= 18).OrderByDescending(item => item.M), m),
        new("SELECT c.id FROM c WHERE NOT IS_DEFINED(c.m) ORDER BY c.m", all => all.Where(item => item.M == 0), m),
        new("SELECT c.id FROM c WHERE c.n > 1 ORDER BY c.m", all => all.Where(item => item.N > 1).OrderBy(item => item.M), m),
        new("SELECT c.id FROM c ORDER BY c.n, c.u", all => all.OrderBy(item => item.N).ThenBy(item => item.U), nu),
        new("SELECT c.id FROM c ORDER BY c.n DESC, c.u DESC", all => all.OrderByDescending(item => item.N).ThenByDescending(item => item.U), nu),
        new("SELECT c.id FROM c ORDER BY c.n, c.u DESC", all => all.OrderBy(item => item.N).ThenByDescending(item => item.U), nu),
        new("SELECT c.id FROM c ORDER BY c.m, c.u", all => all.OrderBy(item => item.M).ThenBy(item => item.U), mu),
        new("SELECT c.id FROM c ORDER BY c.m DESC, c.u DESC", all => all.OrderByDescending(item => item.M).ThenByDescending(item => item.U), mu),
        new("SELECT s.id FROM (SELECT * FROM c WHERE c.n > 1) s ORDER BY s.u DESC", all => all.Where(item => item.N > 1).OrderByDescending(item => item.U), u),
        new("SELECT s.id FROM (SELECT * FROM c) s ORDER BY s.n, s.u", all => all.OrderBy(item => item.N).ThenBy(item => item.U), nu),
        new("SELECT r.id FROM (SELECT c.id, c.u AS place FROM c) r ORDER BY r.place", all => all.OrderBy(item => item.U), u),
        new("SELECT o.id FROM c.o ORDER BY o.u", all => all.OrderBy(item => item.U), u),
        new("SELECT x.id FROM c.o x ORDER BY x.u DESC", all => all.OrderByDescending(item => item.U), u),
        new("SELECT TOP 15 c.id FROM c ORDER BY c.u", all => all.OrderBy(item => item.U).Take(15), u),
        new("SELECT TOP 15 c.id FROM c ORDER BY c.n DESC", all => all.OrderByDescending(item => item.N).Take(15), n),
        new("SELECT c.id FROM c ORDER BY c.u DESC OFFSET 5 LIMIT 14", all => all.OrderByDescending(item => item.U).Skip(5).Take(14), u),
        new("SELECT c.id FROM c ORDER BY c.m OFFSET 7 LIMIT 30", all => all.OrderBy(item => item.M).Skip(7).Take(30), m),
        new("SELECT DISTINCT VALUE c.n FROM c ORDER BY c.n", all => all.DistinctBy(n).OrderBy(item => item.N), n),
        new("SELECT DISTINCT VALUE c.n FROM c ORDER BY c.n DESC", all => all.DistinctBy(n).OrderByDescending(item => item.N), n),
        new("SELECT DISTINCT VALUE c.m FROM c ORDER BY c.m", all => all.Where(item => item.M > 0).DistinctBy(m).OrderBy(item => item.M), m),
        new("SELECT DISTINCT TOP 3 VALUE c.n FROM c ORDER BY c.n DESC", all => all.DistinctBy(n).OrderByDescending(item => item.N).Take(3), n),
    };

    readonly string name = "pages-dotnet-" + Guid.NewGuid().ToString("N")[..8];
    readonly Dictionary<string, Item> items = Enumerable.Range(0, Items).Select(i => new Item(i % 5, i * 17 % Items, i % mixed.Length)).ToDictionary(item => item.Id);

    static Collection<CompositePath> Composite(string first, CompositePathSortOrder one, CompositePathSortOrder two) =>
        new() { new CompositePath { Path = first, Order = one }, new CompositePath { Path = "/u", Order = two } };

    async Task Fill(Database database, string id, int throughput)
    {
        var properties = new ContainerProperties(id, "/pk");
        properties.IndexingPolicy.CompositeIndexes.Add(Composite("/n", CompositePathSortOrder.Ascending, CompositePathSortOrder.Ascending));
        properties.IndexingPolicy.CompositeIndexes.Add(Composite("/n", CompositePathSortOrder.Ascending, CompositePathSortOrder.Descending));
        properties.IndexingPolicy.CompositeIndexes.Add(Composite("/m", CompositePathSortOrder.Ascending, CompositePathSortOrder.Ascending));
        Container container = await database.CreateContainerAsync(properties, throughput);
        foreach (Item item in items.Values) await container.CreateItemAsync(item.Json());
    }

    async Task<List<JToken>> Rows(string where, string query, int size)
    {
        var rows = new List<JToken>();
        string token = null;
        int pages = 0;
        do
        {
            using CosmosClient fresh = Connect();
            FeedIterator<JToken> iterator = fresh.GetContainer(name, where).GetItemQueryIterator<JToken>(query, token, new QueryRequestOptions { MaxItemCount = size });
            FeedResponse<JToken> page = await iterator.ReadNextAsync();
            Must(page.Count <= size, "no page is longer than it may be");
            Must(++pages <= 3 * Items, "the pages have an end");
            rows.AddRange(page);
            token = page.ContinuationToken;
        } while (token != null);
        return rows;
    }

    // A row's place: that of the item it names, or, of DISTINCT, of its value.
    string Place(Kind kind, JToken row)
    {
        if (row is JObject named && named["id"] != null) return kind.Key(items[(string)named["id"]]);
        if (kind.Key == n) return (string)row;
        return Array.FindIndex(mixed, text => text != null && Canonical(JToken.Parse(text)) == Canonical(row)).ToString();
    }

    async Task Ask(Kind kind, string where, int size)
    {
        List<JToken> rows = await Rows(where, kind.Query, size);
        Same(kind.Plain(items.Values).Select(kind.Key), rows.Select(row => Place(kind, row)));
        Equal(rows.Count, rows.Select(Canonical).Distinct().Count(), "each comes once:");
    }

    public async Task Run()
    {
        Database database = await client.CreateDatabaseAsync(name);
        await Fill(database, "one", 400);
        await Fill(database, "three", 18000);
        foreach (string where in new[] { "one", "three" })
            foreach (Kind kind in kinds)
                await Step($"{kind.Query} of {where} by fresh clients", async () =>
                {
                    if (!Direct) await Ask(kind, where, 1); // over connections of its own a client is dear
                    await Ask(kind, where, 7);
                });
        await database.DeleteAsync();
    }
}
