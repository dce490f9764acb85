/*
 * script-host/errors.js - errors in the words that callers get, and the function in a script's source.
 * First of the prelude's parts (run.js tells what that is): names here are those of all.
 */
const { parse, stringify } = JSON;
const now = Date.now;
const NativeError = Error;
const NativePromise = Promise;
const nativeApply = Reflect.apply;
const PRELUDE = "orrery:prelude";
const PAGE_SIZE = 100;
const SCAN_PAGE_SIZE = 1000; /* a chain with a filter reads more than it gives */
const causes = new WeakMap(); /* of errors that are not the script's own: "operation" or "size" */

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

/* Undefined where the script has given none. */
function numberOf(thrown) {
    try {
        const { number } = thrown;
        if (Number.isInteger(number) && number >= 1 && number <= 65535)
            return number;
    } catch {}
    return undefined;
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
    return {
        number: numberOf(thrown),
        message: messageOf(thrown, words),
        exception: words,
        stack: stackOf(thrown, words),
        from: (from === "throw" && causes.get(thrown)) || from,
    };
}

/* The first failure is the one that is told; nothing is accepted after it. */
function fail(thrown, from) {
    state.failure ??= describe(thrown, from);
    state.accepts = false;
}

/* ---- half a character ---- */

/* A lone surrogate is \udXXX in JSON text, behind an even number of backslashes. */
const LONE = /\\(?:\\|ud[89a-f]..)/g;

/* In what is told it becomes the character that stands for what cannot be shown. */
function shownText(json) {
    if (!json.includes("\\ud"))
        return json;
    return json.replace(LONE, (escape) => (escape.length === 2 ? escape : "\\ufffd"));
}

/* In what is stored it is refused, as it is when a client sends it. */
function storable(json) {
    if (json.includes("\\ud") && shownText(json) !== json)
        throw bad("A lone surrogate is no character that can be stored.");
    return json;
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
