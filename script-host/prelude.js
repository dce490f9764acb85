/*
 * script-host/prelude.js - what a script sees of the database: getContext(), __, console, ErrorCodes.
 * engine.c evaluates this text once in each new context and keeps the object it ends with. It calls that object
 * with what frames brought (parsed) and sends what comes back: a kind and a payload (src/script/frames.h).
 *
 * A context is made before there is a run for it, and whatever is called for the first time in a context is slow: so what
 * can be made early is made early, and the way of a plain run has few functions.
 *
 * Operations are queued as text when they are called, since the script may change its objects afterwards. Each callback
 * is a call of its own from engine.c, because the engine runs promise jobs when the outermost call returns.
 */
(function prelude(evaluate, frameBytesMax) {
    "use strict";

    const { parse, stringify } = JSON;
    const now = Date.now;
    const NativeError = Error;
    const NativePromise = Promise;
    const PRELUDE = "orrery:prelude";
    const PAGE_SIZE = 100;
    const SCAN_PAGE_SIZE = 1000; /* a chain with a filter reads more than it gives */
    const operationErrors = new WeakSet();

    const ErrorCodes = Object.freeze({
        BadRequest: 400,
        Forbidden: 403,
        NotFound: 404,
        Conflict: 409,
        PreconditionFailed: 412,
        RequestEntityTooLarge: 413,
        RetryWith: 449,
        InternalServerError: 500,
    });

    let script; /* {name, isWrapped}: what stacks are made of */
    let state; /* of the run */

    /* ---- errors ---- */

    function numbered(number, message) {
        const error = new NativeError(message);
        error.number = number;
        return error;
    }

    function bad(message) {
        return numbered(ErrorCodes.BadRequest, message);
    }

    /* new Error(number, message) is older than new Error(message, options), and scripts use both. */
    function errorArguments(args) {
        return typeof args[0] === "number" && args.length > 1 ? [args[1]] : args;
    }

    function withNumber(error, args) {
        if (typeof args[0] === "number" && args.length > 1)
            error.number = args[0];
        return error;
    }

    function installError() {
        const both = new Proxy(NativeError, {
            construct: (target, args, made) => withNumber(Reflect.construct(target, errorArguments(args), made), args),
            apply: (target, self, args) => withNumber(Reflect.construct(target, errorArguments(args)), args),
        });
        NativeError.prototype.constructor = both;
        define(globalThis, "Error", both);
    }

    /* What was thrown, in words. Anything can be thrown, and its own toString may throw again. */
    function inWords(thrown) {
        try {
            if (typeof thrown === "object" && thrown !== null && !(thrown instanceof NativeError))
                return typeof thrown.message === "string" ? "Error: " + thrown.message : stringify(thrown);
            return String(thrown);
        } catch {
            return "an exception that cannot be shown";
        }
    }

    function messageOf(thrown, words) {
        try {
            if (typeof thrown.message === "string")
                return thrown.message;
        } catch {}
        return words;
    }

    function numberOf(thrown) {
        try {
            const { number } = thrown;
            if (Number.isInteger(number) && number >= 1 && number <= 65535)
                return number;
        } catch {}
        return ErrorCodes.BadRequest;
    }

    /* The engine's "f@file:1:2" as "   at f (file:1:2)", without the calls that are ours. */
    function frameOf(line) {
        const [, name, file, row, column] = /^(?:(.*?)@)?(.*?):(\d+):(\d+)$/.exec(line) ?? [];
        if (file === undefined || file === PRELUDE)
            return [];
        const shown = row === "1" && script.isWrapped ? column - 1 : column;
        return ["   at " + (name || "Anonymous function") + " (" + file + ":" + row + ":" + shown + ")"];
    }

    function stackOf(thrown, words) {
        let stack;
        try {
            stack = thrown.stack;
        } catch {}
        const lines = typeof stack === "string" ? stack.split("\n") : [];
        return [words, ...lines.flatMap(frameOf)].join("\n");
    }

    function describe(thrown, from) {
        const words = inWords(thrown);
        const isOperation = from === "throw" && typeof thrown === "object" && operationErrors.has(thrown);
        return {
            number: numberOf(thrown),
            message: messageOf(thrown, words),
            exception: words,
            stack: stackOf(thrown, words),
            from: isOperation ? "operation" : from,
        };
    }

    /* The first failure is the one that is told; nothing is accepted after it. */
    function fail(thrown, from) {
        state.failure ??= describe(thrown, from);
        state.accepts = false;
    }

    /* ---- finding the function in a source ---- */

    function define(object, name, value) {
        Object.defineProperty(object, name, { value, writable: true, configurable: true, enumerable: false });
    }

    function withoutComments(source) {
        return source.replace(/\/\*[^]*?\*\/|\/\/.*/g, "");
    }

    /* A source of several statements: its first function, or the first name that is given one, or its value. */
    function functionOfProgram(source) {
        script.isWrapped = false;
        const value = evaluate(source, script.file);
        const text = withoutComments(source);
        const declared = /(?:^|[;}\s])(?:async\s+)?function\s*\*?\s*([\w$]+)/.exec(text);
        const assigned = /(?:^|[;}\s])(?:const|let|var)\s+([\w$]+)\s*=/.exec(text);
        for (const found of [declared, assigned]) {
            const named = found && evaluate("typeof " + found[1] + ' === "function" && ' + found[1], PRELUDE);
            if (named)
                return named;
        }
        return value;
    }

    /* A semicolon may end it. */
    function withoutEnd(source) {
        let end = source.trimEnd();
        while (end.endsWith(";"))
            end = end.slice(0, -1).trimEnd();
        return end;
    }

    function functionOf(source) {
        let found;
        script.isWrapped = true;
        try {
            found = evaluate("(" + withoutEnd(source) + "\n)", script.file);
        } catch (error) {
            if (!(error instanceof SyntaxError))
                throw error;
            found = functionOfProgram(source);
        }
        if (typeof found !== "function")
            throw new SyntaxError("The script is not a function.");
        return found;
    }

    function setScript(name) {
        script = { file: (name ?? "script") + ".js", isWrapped: false };
    }

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
        state.ops.push(op);
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

    /* ---- the chain: filter, map, pluck, flatten, sortBy, sortByDescending, unwind ---- */

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

    /* ---- request and response ---- */

    function sizeOf(value) {
        if (value === undefined || value === null)
            return 0;
        return (typeof value === "object" ? stringify(value) ?? "" : String(value)).length;
    }

    function checkSize(name, value, most) {
        if (most !== undefined && sizeOf(value) > most)
            throw numbered(ErrorCodes.RequestEntityTooLarge, 'The message would be too large because of "' + name +
                '". End the script with what fits, and a continuation to go on from.');
    }

    const shown = (value) => (typeof value === "object" && value !== null ? stringify(value) : value);

    /* Adding to text makes longer text, to a number a sum, to nothing the value itself. */
    function added(before, value) {
        if (before === undefined || before === null)
            return value;
        return shown(before) + shown(value);
    }

    /* values: the body as Body, and the rest by their names. Accessors for each by its name, and for all by getValue. */
    function message({ body, operation, values }, isWritable) {
        const all = { Body: body, ...values };
        const changed = new Set();
        const object = { getValue: (name) => all[name], setValue, appendValue };

        function setValue(name, value) {
            if (name === "OperationType" || (Object.hasOwn(all, name) && !isWritable))
                throw numbered(ErrorCodes.Forbidden, "Not a writable property: " + name);
            if (!Object.hasOwn(all, name))
                throw bad("A new value cannot be set: " + name);
            if (state.responseBytes !== undefined)
                checkSize(name, value, state.responseBytes);
            all[name] = value;
            changed.add(name);
        }
        function appendValue(name, value) {
            setValue(name, added(all[name], value));
        }
        for (const name in all) {
            object["get" + name] = () => all[name];
            if (isWritable) {
                object["set" + name] = (value) => setValue(name, value);
                object["append" + name] = (value) => appendValue(name, value);
            }
        }
        if (operation !== undefined) {
            all.OperationType = operation;
            object.getOperationType = () => operation;
        }
        return { object, all, changed };
    }

    /* ---- one run ---- */

    /* Like printf with nothing but %s and %%. */
    function formatted(format, ...args) {
        return format.replace(/%[s%]/g, (mark) => (mark === "%%" ? "%" : String(shown(args.shift()))));
    }

    function log(...args) {
        if (!state?.isLogged)
            return;
        if (args.length === 0)
            throw tooFew("log", 1, 0);
        if (args.length > 1 && typeof args[0] !== "string")
            throw bad("The first argument of console.log must be a string, with %s where the others belong.");
        const line = args.length > 1 ? formatted(...args) : String(shown(args[0]));
        checkSize("console.log", state.log + line, state.logBytes);
        state.log += line;
    }

    function newState({ collection, request, response, log: isLogged, quota = {} }) {
        return {
            collection, isLogged, log: "",
            ops: [], waiting: [], queued: 0, /* what each waits for is in the same place of waiting */
            answers: [], called: [], delivered: 0,
            accepts: true,
            acceptsUntil: quota.ms === undefined ? Infinity : now() + quota.ms,
            operationsMax: quota.operations ?? Infinity,
            responseBytes: quota.response_bytes,
            logBytes: quota.log_bytes,
            request: request && message(request, request.writable === true),
            response: response && message(response, true),
            failure: undefined,
        };
    }

    /* What abort throws is caught by nobody that matters: the run has failed already. */
    function abort(reason) {
        const error = reason ?? new NativeError("The script was aborted.");
        fail(error, "abort");
        throw error;
    }

    function newCollection() {
        const made = {
            getSelfLink: () => state.collection.self,
            getAltLink: () => state.collection.alt,
        };
        for (const on in METHODS)
            for (const op in METHODS[on])
                made[METHODS[on][op]] = operation(on, op);
        addQueries(made);
        return made;
    }

    const collection = newCollection();
    const shortcut = Object.create(collection);
    const context = { getCollection: () => collection, abort };

    /* The globals that only stored procedures and triggers have. */
    function installContext({ request, response }) {
        if (request) {
            shortcut.request = request.object;
            context.getRequest = () => request.object;
        }
        if (response) {
            shortcut.response = response.object;
            context.getResponse = () => response.object;
        }
        define(globalThis, "getContext", () => context);
        define(globalThis, "__", shortcut);
    }

    /* Starts the script; take() tells what came of it. */
    function run(source, name, frame) {
        let main;

        state = newState(frame.context);
        setScript(name);
        installContext(state);
        try {
            main = functionOf(source);
        } catch (error) {
            return fail(error, "compile");
        }
        try {
            const result = main(...(frame.args ?? []));
            if (result instanceof NativePromise)
                result.then(undefined, (error) => fail(error, "throw"));
        } catch (error) {
            fail(error, "throw");
        }
    }

    /* The first answer goes to its callback at once. As step(); undefined when the answers are not for what was asked. */
    function deliver({ answers, accept }) {
        if (accept === false)
            state.accepts = false;
        state.answers = answers;
        state.delivered = 0;
        state.called = state.waiting;
        state.waiting = [];
        return answers.length === state.called.length ? step() : undefined;
    }

    function errorOf({ status, number, message: words }) {
        const error = numbered(number ?? status, words);
        error.body = words;
        operationErrors.add(error);
        return error;
    }

    function optionsOf({ status, options }) {
        const notModified = status === 304 ? { notModified: true } : undefined;
        return { ...options, statusCode: status, ...notModified };
    }

    /* Hands the next answer to its callback. False when none is left after it, or the script has failed. */
    function step() {
        if (state.failure)
            return false; /* in a promise job, since the last callback */
        const answer = state.answers[state.delivered];
        const done = state.called[state.delivered++];
        try {
            if (answer.status >= 400)
                done(errorOf(answer));
            else
                done(undefined, answer.body, optionsOf(answer));
        } catch (error) {
            fail(error, "throw");
        }
        return state.delivered < state.answers.length;
    }

    /* Members that stay undefined are not written. */
    function changedBody(part) {
        return part?.changed.has("Body") ? part.all.Body : undefined;
    }

    function changedValues({ all, changed }) {
        const names = [...changed].filter((name) => name !== "Body");
        return Object.fromEntries(names.map((name) => [name, all[name]]));
    }

    function done() {
        const { request, response, log } = state;
        const hasValues = response && response.changed.size > (response.changed.has("Body") ? 1 : 0);
        return stringify({
            body: changedBody(response),
            request: changedBody(request),
            values: hasValues ? changedValues(response) : undefined,
            log: log || undefined,
        });
    }

    /* A character of the text is at most three bytes of the frame. */
    function checkFrame(frame) {
        if (frame.length > frameBytesMax / 3)
            throw numbered(ErrorCodes.RequestEntityTooLarge, "What the script sends is too large.");
        return frame;
    }

    /* The frame that is due now. A body that is no JSON, or is too large, is the script's failure, too. */
    function take() {
        try {
            if (!state.failure)
                return checkFrame(state.ops.length > 0 ? 'O{"ops":[' + state.ops.splice(0).join(",") + "]}" : "D" + done());
        } catch (error) {
            fail(error, "throw");
        }
        return "F" + stringify({ ...state.failure, log: state.log || undefined });
    }

    /* ---- functions for queries ---- */

    let udf; /* {fn} or {failure} */

    function callOnce(call) {
        const args = Array.isArray(call) ? call : call.args;
        for (const position of call.undefined ?? [])
            args[position] = undefined;
        try {
            const made = stringify(udf.fn(...args));
            return made === undefined ? "{}" : '{"value":' + made + "}";
        } catch (thrown) {
            return udfError(describe(thrown, "throw"));
        }
    }

    function udfError({ number, exception, stack, from }) {
        return stringify({ error: exception, number, stack, from });
    }

    function call(source, name, { calls }) {
        if (!udf) {
            setScript(name);
            try {
                udf = { fn: functionOf(source) };
            } catch (thrown) {
                udf = { failure: udfError(describe(thrown, "compile")) };
            }
        }
        const all = (answer) => "V[" + calls.map(answer).join(",") + "]";
        try {
            return checkFrame(all(udf.failure ? () => udf.failure : callOnce));
        } catch (error) {
            return all(() => udfError(describe(error, "throw")));
        }
    }

    installError();
    define(globalThis, "ErrorCodes", ErrorCodes);
    define(globalThis, "console", Object.freeze({ log }));
    return { run, deliver, step, take, call };
})
