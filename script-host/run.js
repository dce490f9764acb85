/*
 * script-host/run.js - one run of a script: its request and response, its callbacks, the frames that it sends.
 *
 * The prelude is what a script sees of the database: getContext(), __, console, ErrorCodes. The build joins errors.js,
 * operations.js, chain.js and this file to one function, prelude(evaluate, frameBytesMax), which gives back `host`.
 * engine.c evaluates that text once in each new context, calls `host` with what frames brought (parsed) and sends what
 * comes back: a kind and a payload (src/script/frames.h).
 *
 * A context is made before there is a run for it, and whatever is called for the first time in a context is slow: so what
 * can be made early is made early, and the way of a plain run has few functions.
 *
 * Each callback is a call of its own from engine.c, because the engine runs promise jobs when the outermost call returns.
 */
/* ---- request and response ---- */

function sizeOf(value) {
    if (value === undefined || value === null)
        return 0;
    return (typeof value === "object" ? stringify(value) ?? "" : String(value)).length;
}

function checkSize(name, value, most) {
    if (most === undefined || sizeOf(value) <= most)
        return;
    const error = numbered(ErrorCodes.RequestEntityTooLarge, 'The message would be too large because of "' + name +
        '". End the script with what fits, and a continuation to go on from.');
    causes.set(error, "size");
    throw error;
}

const shown = (value) => (typeof value === "object" && value !== null ? stringify(value) : value);

/* Adding to text makes longer text, to a number a sum, to nothing the value itself. */
function added(before, value) {
    if (before === undefined || before === null)
        return value;
    return shown(before) + shown(value);
}

const READ_ONLY = ["OperationType", "MaxResourceQuota", "ResourceQuotaCurrentUsage"];

/* values: the body as Body, and the rest by their names. Accessors for each by its name, and for all by getValue. */
function message({ body, operation, values }, isWritable) {
    const all = { Body: body, ...values };
    const changed = new Set();
    const object = { getValue: (name) => all[name], setValue, appendValue };
    const isFixed = (name) => !isWritable || READ_ONLY.includes(name);

    function setValue(name, value) {
        if (Object.hasOwn(all, name) && isFixed(name))
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
        if (!isFixed(name)) {
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

/* Said aloud: in a chain, what is undefined would pass for a row that does not match. */
function noSpatial() {
    throw bad("Scripts of this server have no spatial functions: use those of a query.");
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
    Object.defineProperty(made, "spatial", { get: noSpatial });
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
        const result = nativeApply(main, undefined, frame.args ?? []); /* an object with a length is a list, too */
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
    causes.set(error, "operation");
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

/* A pre-trigger's item: it is to be stored, so nothing in it is shown as something else. */
function changedItem(part) {
    const item = changedBody(part);
    if (item !== undefined)
        storable(stringify(item) ?? "");
    return item;
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
        request: changedItem(request),
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
            return checkFrame(state.ops.length > 0 ? 'O{"ops":[' + state.ops.splice(0).join(",") + "]}" : "D" + shownText(done()));
    } catch (error) {
        fail(error, "throw");
    }
    return "F" + shownText(stringify({ ...state.failure, log: state.log || undefined }));
}

/* ---- functions for queries ---- */

let udf; /* {fn} or {failure} */

function callOnce(call) {
    const args = Array.isArray(call) ? call : call.args;
    for (const position of call.undefined ?? [])
        args[position] = undefined;
    try {
        const made = stringify(udf.fn(...args));
        return made === undefined ? "{}" : '{"value":' + shownText(made) + "}";
    } catch (thrown) {
        return udfError(describe(thrown, "throw"));
    }
}

function udfError({ number, exception, stack, from }) {
    return shownText(stringify({ error: exception, number, stack, from }));
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

const host = { run, deliver, step, take, call };
