// test/sdk/dotnet/scenario/Check.cs - what the steps share: clients, counting, comparing.
using System.Globalization;
using System.Net;
using System.Net.Security;
using System.Security.Cryptography.X509Certificates;
using Microsoft.Azure.Cosmos;
using Newtonsoft.Json.Linq;

static class Check
{
    public static int Passed, Failed;
    public static readonly bool Direct = Environment.GetEnvironmentVariable("ORRERY_DIRECT") == "true"; // the SDK's default

    static readonly string endpoint = Environment.GetEnvironmentVariable("ORRERY_ENDPOINT");
    static readonly string key = Environment.GetEnvironmentVariable("ORRERY_KEY");
    static readonly string only = Environment.GetEnvironmentVariable("ONLY"); // steps whose name has it
    static readonly SocketsHttpHandler sockets = Sockets();
    static readonly HashSet<string> system = new() { "_rid", "_self", "_etag", "_attachments", "_ts" };

    // Trusts the server's own certificate and no other; names and dates are checked as ever.
    static SocketsHttpHandler Sockets()
    {
        var policy = new X509ChainPolicy { TrustMode = X509ChainTrustMode.CustomRootTrust, RevocationMode = X509RevocationMode.NoCheck };
        policy.CustomTrustStore.ImportFromPemFile(Environment.GetEnvironmentVariable("ORRERY_CERTIFICATE"));
        return new SocketsHttpHandler { SslOptions = new SslClientAuthenticationOptions { CertificateChainPolicy = policy } };
    }

    public static HttpClient Http() => new(sockets, disposeHandler: false);

    // The same through a handler that may change what goes by.
    public static HttpClient Http(DelegatingHandler through)
    {
        through.InnerHandler ??= sockets;
        return new(through, disposeHandler: false);
    }

    // A client that knows nothing yet. Its connections of HTTP are those of the others; in Direct mode, the SDK's default, it trusts
    // what the system does, which is told by SSL_CERT_FILE.
    public static CosmosClient Connect(Action<CosmosClientOptions> more = null)
    {
        var options = new CosmosClientOptions { HttpClientFactory = Http };
        if (!Direct) options.ConnectionMode = ConnectionMode.Gateway;
        more?.Invoke(options);
        return new CosmosClient(endpoint, key, options);
    }

    public static Uri Address(string path) => new(endpoint.TrimEnd('/') + "/" + path);

    public static async Task Step(string name, Func<Task> body)
    {
        if (only != null && !name.Contains(only)) return;
        try
        {
            await body();
            Passed++;
        }
        catch (Exception problem)
        {
            Failed++;
            Console.WriteLine($"FAILED {name}: {problem}");
        }
    }

    public static void Must(bool condition, string what)
    {
        if (!condition) throw new Exception("not true: " + what);
    }

    public static void Equal<T>(T wanted, T found, string what = "")
    {
        if (!EqualityComparer<T>.Default.Equals(wanted, found)) throw new Exception($"{what} wanted {wanted}, found {found}");
    }

    public static void Same<T>(IEnumerable<T> wanted, IEnumerable<T> found)
    {
        if (!wanted.SequenceEqual(found)) throw new Exception($"\nwanted {string.Join(", ", wanted)}\nfound  {string.Join(", ", found)}");
    }

    public static async Task<CosmosException> Refused(HttpStatusCode status, Func<Task> call)
    {
        try
        {
            await call();
        }
        catch (CosmosException problem)
        {
            Equal(status, problem.StatusCode, problem.ResponseBody);
            return problem;
        }
        throw new Exception("succeeded, where " + status + " was expected");
    }

    public static async Task<List<T>> All<T>(FeedIterator<T> pages)
    {
        var rows = new List<T>();
        while (pages.HasMoreResults) rows.AddRange(await pages.ReadNextAsync());
        return rows;
    }

    // Text that is the same for values that are: members sorted, numbers to twelve digits.
    public static string Canonical(JToken value) => value switch
    {
        JObject members => "{" + string.Join(",", members.Properties().OrderBy(one => one.Name, StringComparer.Ordinal)
            .Select(one => one.Name + ":" + Canonical(one.Value))) + "}",
        JArray items => "[" + string.Join(",", items.Select(Canonical)) + "]",
        { Type: JTokenType.Integer or JTokenType.Float } => ((double)value).ToString("G12", CultureInfo.InvariantCulture),
        { Type: JTokenType.Null } => "null",
        { Type: JTokenType.Boolean } => (bool)value ? "true" : "false",
        _ => "\"" + (string)value + "\"",
    };

    // An item as it was before the server added to it; other rows as they are.
    public static JToken Plain(JToken row)
    {
        if (row is not JObject item || !item.ContainsKey("_rid")) return row;
        return new JObject(item.Properties().Where(one => !system.Contains(one.Name)));
    }
}
