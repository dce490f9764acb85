// explorer/api/resources.js - the account's resources: lists, definitions, throughput, ranges.

/** @typedef {import("./client.js").Client} Client */

const COLLECTIVE = /** @type {Record<string, string>} */ ({
  dbs: "Databases",
  colls: "DocumentCollections",
  docs: "Documents",
  sprocs: "StoredProcedures",
  triggers: "Triggers",
  udfs: "UserDefinedFunctions",
  users: "Users",
  permissions: "Permissions",
  offers: "Offers",
  pkranges: "PartitionKeyRanges",
});

/** All pages of a list. @param {Client} client @param {string[]} segments @returns {Promise<any[]>} */
export async function listAll(client, segments) {
  const all = [];
  let continuation = null;
  do {
    /** @type {Record<string, string>} */
    const headers = { "x-ms-max-item-count": "1000" };
    if (continuation) headers["x-ms-continuation"] = continuation;
    /** @type {import("./client.js").Answer} */
    const answer = await client.send("GET", segments, { headers });
    all.push(...(answer.body[COLLECTIVE[segments[segments.length - 1]]] ?? []));
    continuation = answer.continuation;
  } while (continuation);
  return all;
}

/** By what people read first. @param {{ id: string }[]} list */
export const sorted = (list) => list.sort((a, b) => a.id.localeCompare(b.id, undefined, { numeric: true }));

/** @param {Client} client @param {string[]} segments @param {any} definition @param {Record<string, string>} [headers] */
export async function create(client, segments, definition, headers) {
  return (await client.send("POST", segments, { body: definition, headers })).body;
}

/** @param {Client} client @param {string[]} segments @param {any} definition @param {string} [etag] */
export async function replace(client, segments, definition, etag) {
  return (await client.send("PUT", segments, { body: definition, headers: etag ? { "if-match": etag } : {} })).body;
}

/** @param {Client} client @param {string[]} segments */
export async function remove(client, segments) {
  await client.send("DELETE", segments);
}

/**
 * A container's definition, with how many items it has and how much of them is indexed.
 * @param {Client} client @param {string[]} segments
 */
export async function readContainer(client, segments) {
  const answer = await client.send("GET", segments, {
    headers: { "x-ms-documentdb-populatequotainfo": "true", "x-ms-documentdb-populatepartitionstatistics": "true" },
  });
  const progress = answer.headers.get("x-ms-documentdb-collection-index-transformation-progress");
  return { definition: answer.body, usage: usageOf(answer.headers.get("x-ms-resource-usage")), progress: progress === null ? 100 : Number(progress) };
}

/** "documentsCount=5;documentsSize=1" as an object. @param {string|null} header */
function usageOf(header) {
  /** @type {Record<string, number>} */
  const usage = {};
  for (const part of (header ?? "").split(";")) {
    const [name, value] = part.split("=");
    if (value !== undefined) usage[name] = Number(value);
  }
  return usage;
}

/** The offer of a container or a database, by its rid; null when it has none. @param {Client} client @param {string} rid */
export async function readOffer(client, rid) {
  const answer = await client.send("POST", ["offers"], {
    body: { query: "SELECT * FROM o WHERE o.offerResourceId = @rid", parameters: [{ name: "@rid", value: rid }] },
    headers: { "content-type": "application/query+json", "x-ms-documentdb-isquery": "true" },
  });
  return answer.body.Offers[0] ?? null;
}

/** @param {Client} client @param {any} offer @param {{ manual?: number, autoscale?: number }} wanted @returns {Promise<any>} */
export async function replaceOffer(client, offer, wanted) {
  const next = structuredClone(offer);
  /** @type {Record<string, string>} */
  const headers = {};
  const isAutoscale = Boolean(offer.content.offerAutopilotSettings);
  if (wanted.autoscale !== undefined) {
    if (!isAutoscale) headers["x-ms-cosmos-migrate-offer-to-autopilot"] = "true";
    else next.content = { ...next.content, offerAutopilotSettings: { maxThroughput: wanted.autoscale } };
  } else if (isAutoscale) headers["x-ms-cosmos-migrate-offer-to-manual-throughput"] = "true";
  else next.content = { ...next.content, offerThroughput: wanted.manual };
  const place = { type: "offers", link: offer._rid.toLowerCase(), path: "/offers/" + offer._rid };
  const made = (await client.send("PUT", place, { body: next, headers })).body;
  const value = wanted.autoscale ?? wanted.manual;
  const now = made.content.offerAutopilotSettings?.maxThroughput ?? made.content.offerThroughput;
  return Object.keys(headers).length && now !== value ? replaceOffer(client, made, wanted) : made;
}

/**
 * POST /_orrery/split or merge; the answer is the ranges as they are then.
 * @param {Client} client @param {"split"|"merge"} what @param {any} body
 */
export async function changeRanges(client, what, body) {
  const place = { type: "_orrery", link: "_orrery/" + what, path: "/_orrery/" + what };
  return (await client.send("POST", place, { body })).body.ranges;
}

/** What is wrong with a data model. @param {Client} client @param {string} of dbs/shop or dbs/shop/colls/orders */
export async function advise(client, of) {
  return (await client.send("POST", ["_orrery", "advise"], { body: { of } })).body;
}

/** The figures of the last hour, from a sample on. @param {Client} client @param {number} since @returns {Promise<import("../state/hour.js").Told>} */
export async function readNow(client, since) {
  const link = "_orrery/now" + (since ? "/" + since : "");
  return JSON.parse((await client.send("GET", { type: "_orrery", link, path: "/" + link })).text);
}

/**
 * Whether the credential may write: asked for what needs a key that may, and changes nothing.
 * @param {Client} client @param {string[]} [container] for a resource token: where it is good
 */
export async function mayWrite(client, container) {
  try {
    if (container) await client.send("PUT", [...container, "docs", "_"], { body: {} });
    else await client.send("GET", ["dbs", "_", "users", "_", "permissions"]);
  } catch (error) {
    const { status } = /** @type {import("./client.js").ApiError} */ (error);
    if (status === 0) throw error;
    return status !== 401 && status !== 403;
  }
  return true;
}
