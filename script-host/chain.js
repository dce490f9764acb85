/* script-host/chain.js - filter, map, pluck, flatten, sortBy, sortByDescending and unwind, alone and in a chain. */
/*
 * The service makes a query of these functions, and what is missing in a document is undefined there; run over
 * documents they would throw, so a TypeError is undefined here.
 */
function lenient(fn, ...args) {
    try {
        return fn(...args);
    } catch (error) {
        if (error instanceof TypeError)
            return undefined;
        throw error;
    }
}

const ORDER = ["undefined", "null", "boolean", "number", "string", "object"];
const rank = (value) => ORDER.indexOf(value === null ? "null" : typeof value);

function compare(a, b) {
    if (rank(a) !== rank(b))
        return rank(a) - rank(b);
    return a < b ? -1 : a > b ? 1 : 0;
}

function sorted(rows, fn, sign) {
    const keyed = rows.map((row) => ({ row, key: lenient(fn, row) }));
    return keyed.sort((a, b) => sign * compare(a.key, b.key)).map(({ row }) => row);
}

function unwound(row, inner, result) {
    const items = lenient(inner, row);
    if (!Array.isArray(items))
        return [];
    return result ? items.map((item) => lenient(result, row, item)) : items;
}

const STAGES = {
    filter: (fn) => ({ isFilter: true, apply: (rows) => rows.filter((row) => lenient(fn, row)) }),
    map: (fn) => ({ apply: (rows) => rows.map((row) => lenient(fn, row)).filter((row) => row !== undefined) }),
    sortBy: (fn) => ({ isSort: true, apply: (rows) => sorted(rows, fn, 1) }),
    sortByDescending: (fn) => ({ isSort: true, apply: (rows) => sorted(rows, fn, -1) }),
    flatten: (isShallow) => ({ apply: (rows) => rows.flat(isShallow ? 1 : Infinity) }),
    unwind: (inner, result) => ({ apply: (rows) => rows.flatMap((row) => unwound(row, inner, result)) }),
};

/* What the script's own functions throw is told to its callback. Null: it was. */
function applied(stages, rows, callback) {
    try {
        return stages.reduce((made, stage) => stage.apply(made), rows);
    } catch (error) {
        callback(error);
        return null;
    }
}

/* Each reads the stage's own arguments from the front of args. */
const TAKERS = {
    filter: takeFunction,
    map: takeFunction,
    sortBy: takeFunction,
    sortByDescending: takeFunction,
    flatten: (args) => [typeof args[0] === "boolean" ? args.shift() : false],
    pluck: takeName,
    unwind: takeSelectors,
};

function takeFunction(args) {
    if (typeof args[0] !== "function")
        throw bad("A function is needed: the predicate, or the transformation.");
    return [args.shift()];
}

function takeName(args) {
    const name = args.shift();
    if (typeof name !== "string" || name === "")
        throw bad("The property name must be a string and not empty.");
    return [(row) => row[name]];
}

function takeSelectors(args) {
    const inner = args.shift();
    if (typeof inner !== "function" || inner.length !== 1)
        throw bad('"unwind" needs a function of one argument that selects the inner collection.');
    const result = typeof args[0] === "function" ? args.shift() : undefined;
    if (result && result.length < 2)
        throw bad('The result selector of "unwind" needs two arguments.');
    return [inner, result];
}

function stageOf(name, args) {
    if (args[0] === collection || args[0] === shortcut || (args[0] === undefined && args.length > 0))
        args.shift(); /* the collection may be named first */
    return STAGES[name === "pluck" ? "map" : name](...TAKERS[name](args));
}

/* Without a callback the rows are appended to the response's body. */
function appendRows(error, rows) {
    if (error)
        throw error;
    context.getResponse().appendBody(stringify(rows));
}

function chainCallback(callback) {
    if (!callback && !state.response)
        throw bad("Where there is no response, as in a pre-trigger, a callback is needed.");
    return callback ?? appendRows;
}

function scan(pageSize, continuation, done) {
    const options = stringify({ pageSize, continuation: continuation || undefined });
    const target = linked(state.collection.self, 0);
    return enqueue('{"op":"readAll","on":"document",' + target + ',"options":' + options + "}", done);
}

/* Sorting wants all there is; the continuation is how many rows were given before. */
function valueSorted(stages, size, continuation, callback) {
    const skip = continuation ? Number(/^sorted:(\d+)$/.exec(continuation)?.[1] ?? NaN) : 0;
    const documents = [];

    if (Number.isNaN(skip))
        throw bad("The continuation is not one of a sorted chain.");
    function finish(options) {
        const rows = applied(stages, documents, callback);
        if (!rows)
            return;
        const end = skip + size;
        const { continuation: ignored, ...rest } = options;
        const info = end < rows.length ? { ...rest, continuation: "sorted:" + end } : rest;
        callback(undefined, rows.slice(skip, end), info);
    }
    function page(error, rows, options) {
        if (error)
            return callback(error);
        documents.push(...rows);
        if (!options.continuation)
            return finish(options);
        if (!scan(SCAN_PAGE_SIZE, options.continuation, page))
            callback(numbered(ErrorCodes.RequestEntityTooLarge, "There are too many documents to sort them in time."));
    }
    return scan(SCAN_PAGE_SIZE, "", page);
}

/*
 * Pages until there are enough rows. When they are enough within a page, the documents up to there are read again
 * for a continuation that leads to the next one.
 */
function valuePaged(stages, size, continuation, callback) {
    const step = stages.some((stage) => stage.isFilter) ? Math.max(size, SCAN_PAGE_SIZE) : size;
    const readSize = step === Infinity ? SCAN_PAGE_SIZE : step;
    const found = [];
    let from = continuation;

    function give(options) {
        callback(undefined, found, options);
    }
    function cut(documentCount, options) {
        const { continuation: ignored, ...rest } = options;
        const again = (error, rows, fresh) => (error ? callback(error) : give({ ...rest, ...fresh }));
        if (!scan(documentCount, from, again))
            callback(numbered(ErrorCodes.RequestEntityTooLarge, "The page could not be ended in time."));
    }
    function page(error, rows, options) {
        if (error)
            return callback(error);
        for (let i = 0; i < rows.length; i++) {
            const made = applied(stages, [rows[i]], callback);
            if (!made)
                return;
            found.push(...made);
            if (found.length >= size && i + 1 < rows.length)
                return cut(i + 1, options);
        }
        if (!options.continuation || found.length >= size)
            return give(options);
        from = options.continuation;
        if (!scan(readSize, from, page))
            give(options);
    }
    return scan(readSize, from, page);
}

function value(stages, args) {
    const [options, given] = optionsAndCallback(args[0], args[1]);
    const callback = chainCallback(given);
    const sent = chosen(options ?? {}, FEED);
    const size = sent.pageSize === -1 ? Infinity : sent.pageSize ?? PAGE_SIZE;
    const run = stages.some((stage) => stage.isSort) ? valueSorted : valuePaged;
    return { isAccepted: run(stages, size, sent.continuation ?? "", callback) };
}

/* One link of a chain: the stages so far, and the functions to go on. */
function chain(stages) {
    const object = { isAccepted: state.accepts };
    for (const name of Object.keys(TAKERS)) {
        define(object, name, (...args) => {
            const stage = stageOf(name, args);
            if (args.some((arg) => arg !== undefined))
                throw bad('In a chain, options and callback are given to "value" only.');
            return chain([...stages, stage]);
        });
    }
    define(object, "value", (...args) => value(stages, args));
    return object;
}

function addQueries(target) {
    for (const name of Object.keys(TAKERS))
        target[name] = (...args) => value([stageOf(name, args)], args);
    target.chain = () => chain([]);
}
