/*
 * script-host/operations.js - create, read, query and the others: checked, and queued as text.
 * As text, because the script may change its objects after the call.
 */
/* ---- options and callbacks ---- */

function text(value, name) {
    if (typeof value !== "string")
        throw bad('The option "' + name + '" must be of type "string". Actual type is: "' + typeof value + '".');
    return value;
}

function pageSize(value, name) {
    if (!Number.isInteger(value) || value === 0 || value < -1)
        throw bad('The option "' + name + '" must be a positive integer or -1.');
    return value;
}

const isTrue = (value) => value === true;

const OPTIONS = {
    indexAction: text,
    etag: text,
    ifNoneMatch: text,
    continuation: text,
    pageSize,
    disableAutomaticIdGeneration: isTrue,
    enableScan: isTrue,
    enableLowPrecisionOrderBy: isTrue,
};

/* Of the options those that the operation has; what is not set, null or false is not sent. */
function chosen(options, names) {
    const picked = {};
    for (const name of names) {
        const value = options[name] ? OPTIONS[name](options[name], name) : false;
        if (value !== false)
            picked[name] = value;
    }
    return picked;
}

/* The callback may stand in the place of the options. */
function optionsAndCallback(options, callback) {
    if (callback === undefined && typeof options === "function")
        return [undefined, options];
    if (options !== undefined && typeof options !== "object")
        throw bad('The "options" parameter must be of type "object". Actual type is: "' + typeof options + '".');
    if (callback !== undefined && typeof callback !== "function")
        throw bad('The "callback" parameter must be of type "function". Actual type is: "' + typeof callback + '".');
    return [options ?? undefined, callback];
}

/* ---- links ---- */

const LINK = /^dbs\/[^/]+\/colls\/[^/]+(?:\/docs\/([^/]+)(?:\/attachments(?:\/([^/]+))?)?)?\/?$/i;
const NOUNS = ["collection", "document", "attachment"];
const withoutSlash = (link) => (link.endsWith("/") ? link.slice(0, -1) : link);

/* Whether it is a link by rid or by name, or neither: then it leads out of the collection. */
function wayOf(link) {
    const isIn = (root) => withoutSlash(link) === root || link.startsWith(root + "/");
    if (isIn(withoutSlash(state.collection.self)))
        return "rid";
    if (isIn(withoutSlash(state.collection.alt)))
        return "id";
    throw bad('The link "' + link + '" does not belong to the current collection, and scripts reach no other.');
}

/* The link and its parts as members of an operation. Depth 0 is the collection, 1 a document, 2 an attachment. */
function linkText(link, depth) {
    const match = typeof link === "string" ? LINK.exec(link) : null;
    const isRight = match && (depth === 0 ? !match[1] : match[1] && (depth === 2) === !!match[2]);
    if (!isRight)
        throw bad("Invalid " + NOUNS[depth] + ' link: "' + link + '".');
    const way = wayOf(link);
    const document = depth > 0 ? ',"' + way + '":' + stringify(match[1]) : "";
    const attachment = depth > 1 ? ',"attachment":' + stringify(match[2]) : "";
    return '"link":' + stringify(link) + document + attachment;
}

/* Most scripts use one link, the collection's, again and again. */
let lastLink = {};

function linked(link, depth) {
    if (lastLink.link !== link || lastLink.depth !== depth)
        lastLink = { link, depth, text: linkText(link, depth) };
    return lastLink.text;
}

/* ---- operations ---- */

/* Queues one, as text; `done` gets (error, body, options). False when no more are accepted. */
function enqueue(op, done) {
    if (state.queued >= state.operationsMax || now() >= state.acceptsUntil)
        state.accepts = false;
    if (!state.accepts)
        return false;
    state.ops.push(storable(op));
    state.waiting.push(done);
    state.queued++;
    return true;
}

/* A body may be given as text; it is sent as what the text means. */
function bodyText(body) {
    if (typeof body === "string") {
        try {
            return stringify(parse(body));
        } catch {
            throw bad("The body is a string that is not JSON.");
        }
    }
    const made = typeof body === "object" && body !== null ? stringify(body) : undefined;
    if (made === undefined)
        throw bad("The body must be an object, or a string with an object as JSON.");
    return made;
}

function queryText(query) {
    if (typeof query !== "string" && (typeof query !== "object" || query === null))
        throw bad('The query must be of type "string" or "object". Actual type is: "' + typeof query + '".');
    return stringify(query) ?? "null";
}

/* op: [depth of its link, its second argument, its options], on documents; attachments lie one deeper. */
const FEED = ["pageSize", "continuation"];
const OPERATIONS = {
    create: [0, "body", ["indexAction", "disableAutomaticIdGeneration"]],
    upsert: [0, "body", ["indexAction", "etag", "disableAutomaticIdGeneration"]],
    readAll: [0, null, FEED],
    query: [0, "query", [...FEED, "enableScan", "enableLowPrecisionOrderBy"]],
    read: [1, null, ["ifNoneMatch"]],
    replace: [1, "body", ["indexAction", "etag"]],
    delete: [1, null, ["etag"]],
};
const METHODS = {
    document: {
        create: "createDocument", upsert: "upsertDocument", readAll: "readDocuments", query: "queryDocuments",
        read: "readDocument", replace: "replaceDocument", delete: "deleteDocument",
    },
    attachment: {
        create: "createAttachment", upsert: "upsertAttachment", readAll: "readAttachments", query: "queryAttachments",
        read: "readAttachment", replace: "replaceAttachment", delete: "deleteAttachment",
    },
};

/* Without a callback an error ends the script. deleteDocument's callback has no resource. */
function finisher(callback, isDelete) {
    return (error, body, options) => {
        if (!callback && error)
            throw error;
        if (!callback)
            return;
        if (error)
            callback(error);
        else if (isDelete)
            callback(undefined, options);
        else
            callback(undefined, body, options);
    };
}

function tooFew(method, least, count) {
    return bad('The function "' + method + '" requires at least ' + least + " argument(s) but got " + count + ".");
}

function optionsText(options, names) {
    const isFeed = names[0] === "pageSize";
    if (options === undefined)
        return isFeed ? '{"pageSize":' + PAGE_SIZE + "}" : "{}";
    const sent = chosen(options, names);
    if (isFeed)
        sent.pageSize ??= PAGE_SIZE;
    return stringify(sent);
}

function operation(on, op) {
    const [shallow, second, names] = OPERATIONS[op];
    const depth = on === "attachment" ? shallow + 1 : shallow;
    const head = '{"op":"' + op + '","on":"' + on + '",';
    const least = second ? 2 : 1;

    function send(link, subject, given, last) {
        const body = second === "body" ? ',"body":' + bodyText(subject) : "";
        const target = linked(link, depth);
        const [options, callback] = optionsAndCallback(given, last);
        const query = second === "query" ? ',"query":' + queryText(subject) : "";
        const sent = ',"options":' + optionsText(options, names);
        return enqueue(head + target + query + sent + body + "}", finisher(callback, op === "delete"));
    }
    return function (link, a, b, c) {
        if (arguments.length < least)
            throw tooFew(METHODS[on][op], least, arguments.length);
        return second ? send(link, a, b, c) : send(link, undefined, a, b);
    };
}
