// test/sdk/dotnet/scenario/Transactions.cs - transactions over two containers. This release of the SDK has them, but not in public: they
// are reached by their names.
using System.Collections;
using System.Net;
using System.Reflection;
using Microsoft.Azure.Cosmos;
using Newtonsoft.Json.Linq;
using static Check;

// What became of a transaction: its status, and that of every operation with the item that was read.
record Outcome(int Status, bool IsRetriable, List<int> Parts, List<JObject> Items);

class Transaction(CosmosClient client, string kind)
{
    const BindingFlags any = BindingFlags.Instance | BindingFlags.Public | BindingFlags.NonPublic;

    readonly object made = Method(typeof(CosmosClient), $"CreateDistributed{kind}Transaction", 0).Invoke(client, null);

    static MethodInfo Method(Type type, string name, int count) => type.GetMethods(any).First(one => one.Name == name && one.GetParameters().Length == count);

    static T Get<T>(object of, string name) => (T)of.GetType().GetProperties(any).First(one => one.Name == name && one.GetIndexParameters().Length == 0).GetValue(of);

    // Container, key, id and what the operation needs; the options, which come last, are left out.
    public Transaction Add(string operation, params object[] arguments)
    {
        MethodInfo method = Method(made.GetType(), operation, arguments.Length + 1);
        if (method.IsGenericMethodDefinition) method = method.MakeGenericMethod(typeof(JObject));
        method.Invoke(made, [.. arguments, null]);
        return this;
    }

    public async Task<Outcome> Execute()
    {
        var task = (Task)Method(made.GetType(), "ExecuteTransactionAsync", 1).Invoke(made, [CancellationToken.None]);
        await task;
        object response = Get<object>(task, "Result");
        List<object> parts = ((IEnumerable)response).Cast<object>().ToList();
        return new((int)Get<HttpStatusCode>(response, "StatusCode"), Get<bool>(response, "IsRetriable"),
            parts.Select(part => (int)Get<HttpStatusCode>(part, "StatusCode")).ToList(), parts.Select(Item).ToList());
    }

    static JObject Item(object part)
    {
        Stream stream = Get<Stream>(part, "ResourceStream");
        return stream == null ? null : JObject.Parse(new StreamReader(stream).ReadToEnd());
    }
}

// Loses the answer of a transaction when it is told to, once the server has given it.
class Lossy : DelegatingHandler
{
    public bool Loses;
    public readonly List<string> Tokens = new();

    protected override async Task<HttpResponseMessage> SendAsync(HttpRequestMessage request, CancellationToken cancel)
    {
        HttpResponseMessage answer = await base.SendAsync(request, cancel);
        if (request.RequestUri.AbsolutePath != "/operations/dtc") return answer;
        Tokens.Add(request.Headers.GetValues("x-ms-cosmos-idempotency-token").Single());
        if (!Loses) return answer;
        Loses = false;
        await answer.Content.ReadAsByteArrayAsync(cancel);
        answer.Dispose();
        throw new HttpRequestException("the answer was lost");
    }
}

class Transactions(CosmosClient client)
{
    const int Rounds = 50;

    static readonly PartitionKey a = new("a"), b = new("b");

    readonly string name = "transactions-dotnet-" + Guid.NewGuid().ToString("N")[..8];
    Container orders, stock;

    static JObject Item(string id, string pk, int n) => new() { ["id"] = id, ["pk"] = pk, ["n"] = n };

    Transaction Write(CosmosClient of = null) => new(of ?? client, "Write");

    Transaction Read() => new(client, "Read");

    static async Task<int?> N(Container container, string id, PartitionKey key)
    {
        using ResponseMessage answer = await container.ReadItemStreamAsync(id, key);
        return answer.IsSuccessStatusCode ? (int)JObject.Parse(new StreamReader(answer.Content).ReadToEnd())["n"] : null;
    }

    public async Task Run()
    {
        Database database = await client.CreateDatabaseAsync(name);
        orders = await database.CreateContainerAsync("orders", "/pk");
        stock = await database.CreateContainerAsync("stock", "/pk");
        await Step("a transaction over two containers is done", Commits);
        await Step("a transaction of which one operation fails does nothing", Aborts);
        await Step("a read transaction gives all items or says which is missing", Reads);
        await Step("what a transaction writes is never seen apart", SeenTogether);
        await Step("a transaction whose answer was lost is done once", LosesAnswer);
        await database.DeleteAsync();
    }

    async Task Commits()
    {
        await stock.CreateItemAsync(Item("pen", "b", 5));
        await stock.CreateItemAsync(Item("old", "b", 0));
        Outcome done = await Write().Add("CreateItem", orders, a, "1", Item("1", "a", 2)).Add("UpsertItem", orders, b, "2", Item("2", "b", 3))
            .Add("PatchItem", stock, b, "pen", new[] { PatchOperation.Increment("/n", -2) }).Add("DeleteItem", stock, b, "old").Execute();
        Equal(200, done.Status);
        Same([201, 201, 200, 204], done.Parts);
        Same([2, 3, 3, null], new[] { await N(orders, "1", a), await N(orders, "2", b), await N(stock, "pen", b), await N(stock, "old", b) });
    }

    async Task Aborts()
    {
        await stock.UpsertItemAsync(Item("there", "b", 1));
        Outcome done = await Write().Add("ReplaceItem", stock, b, "there", Item("there", "b", 2)).Add("CreateItem", orders, a, "3", Item("3", "a", 1))
            .Add("CreateItem", stock, b, "there", Item("there", "b", 3)).Execute();
        Equal(452, done.Status);
        Equal(false, done.IsRetriable);
        Same([453, 453, 409], done.Parts);
        Same([1, null], new[] { await N(stock, "there", b), await N(orders, "3", a) });
    }

    async Task Reads()
    {
        await orders.UpsertItemAsync(Item("r", "a", 1));
        await stock.UpsertItemAsync(Item("r", "b", 2));
        Outcome found = await Read().Add("ReadItem", orders, a, "r").Add("ReadItem", stock, b, "r").Execute();
        Equal(200, found.Status);
        Same([1, 2], found.Items.Select(item => (int)item["n"]));
        found = await Read().Add("ReadItem", orders, a, "r").Add("ReadItem", stock, a, "none").Execute();
        Equal(404, found.Status);
        Same([424, 404], found.Parts);
    }

    async Task SeenTogether()
    {
        Task<Outcome> Set(int n) => Write().Add("UpsertItem", orders, a, "s", Item("s", "a", n)).Add("UpsertItem", stock, b, "s", Item("s", "b", n)).Execute();
        Equal(200, (await Set(0)).Status);
        Task writer = Task.Run(async () =>
        {
            for (int n = 1; n <= Rounds; n++) Equal(200, (await Set(n)).Status);
        });
        do
        {
            Outcome seen = await Read().Add("ReadItem", orders, a, "s").Add("ReadItem", stock, b, "s").Execute();
            Equal(200, seen.Status);
            Equal((int)seen.Items[0]["n"], (int)seen.Items[1]["n"], "of two that are written together");
        } while (!writer.IsCompleted);
        await writer;
    }

    async Task LosesAnswer()
    {
        var lossy = new Lossy();
        using CosmosClient other = Connect(options => options.HttpClientFactory = () => Http(lossy));
        Container counted = other.GetContainer(name, "stock");
        await stock.UpsertItemAsync(Item("count", "b", 0));
        lossy.Loses = true;
        Outcome done = await Write(other).Add("PatchItem", counted, b, "count", new[] { PatchOperation.Increment("/n", 1) })
            .Add("CreateItem", other.GetContainer(name, "orders"), a, "counted", Item("counted", "a", 1)).Execute();
        Equal(200, done.Status);
        Same([200, 201], done.Parts);
        Equal(2, lossy.Tokens.Count, "requests");
        Equal(1, lossy.Tokens.Distinct().Count(), "tokens");
        Equal(1, await N(stock, "count", b));
    }
}
