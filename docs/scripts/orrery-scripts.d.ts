// docs/scripts/orrery-scripts.d.ts - what stored procedures and triggers see, for editors. docs/scripts.md explains it.

/** An item as it is stored: what was written, and what the server adds. */
interface StoredDocument {
    id: string;
    _self: string;
    _rid: string;
    _etag: string;
    _ts: number;
    [property: string]: any;
}

interface CreateOptions {
    /** "default", "include" or "exclude". */
    indexAction?: string;
    /** An item without an id is refused, and not given one. */
    disableAutomaticIdGeneration?: boolean;
}

interface UpsertOptions extends CreateOptions {
    /** Only if the item still has this ETag; otherwise the error's number is 412. */
    etag?: string;
}

interface ReplaceOptions {
    indexAction?: string;
    etag?: string;
}

interface DeleteOptions {
    etag?: string;
}

interface ReadOptions {
    /** When the item still has this ETag, the callback gets none, and notModified. */
    ifNoneMatch?: string;
}

interface FeedOptions {
    /** 100 unless told; -1 is as many as fit. */
    pageSize?: number;
    /** Of the page before. */
    continuation?: string;
    enableScan?: boolean;
    enableLowPrecisionOrderBy?: boolean;
}

/** What went wrong: number is the HTTP status, body the text of the answer. */
interface OperationError extends Error {
    number: number;
    body: string;
}

interface OperationInfo {
    statusCode: number;
    notModified?: boolean;
    currentCollectionSizeInMB?: string;
    maxCollectionSizeInMB?: string;
}

interface FeedInfo extends OperationInfo {
    /** There is more; give it to the next call. */
    continuation?: string;
}

interface QuerySpec {
    query: string;
    parameters?: { name: string; value: any }[];
}

type DocumentCallback = (error: OperationError | undefined, document: StoredDocument, info: OperationInfo) => void;
type DeleteCallback = (error: OperationError | undefined, info: OperationInfo) => void;
type FeedCallback<T = any> = (error: OperationError | undefined, rows: T[], info: FeedInfo) => void;

/** Whether it was accepted. Near the end of the script's time it is not. */
interface QueryResponse {
    isAccepted: boolean;
}

interface Chain<T = any> extends QueryResponse {
    filter(predicate: (row: T) => any): Chain<T>;
    map<U>(transform: (row: T) => U): Chain<U>;
    pluck(property: string): Chain<any>;
    flatten(isShallow?: boolean): Chain<any>;
    sortBy(key: (row: T) => any): Chain<T>;
    sortByDescending(key: (row: T) => any): Chain<T>;
    unwind<U>(inner: (row: T) => U[]): Chain<U>;
    unwind<U, V>(inner: (row: T) => U[], result: (row: T, item: U) => V): Chain<V>;
    value(callback?: FeedCallback<T>): QueryResponse;
    value(options: FeedOptions, callback?: FeedCallback<T>): QueryResponse;
}

/** The container of the script. Operations answer through their callbacks; they return whether they were accepted. */
interface Collection {
    getSelfLink(): string;
    getAltLink(): string;

    createDocument(collectionLink: string, document: object | string, callback?: DocumentCallback): boolean;
    createDocument(collectionLink: string, document: object | string, options: CreateOptions, callback?: DocumentCallback): boolean;
    upsertDocument(collectionLink: string, document: object | string, callback?: DocumentCallback): boolean;
    upsertDocument(collectionLink: string, document: object | string, options: UpsertOptions, callback?: DocumentCallback): boolean;
    readDocument(documentLink: string, callback?: DocumentCallback): boolean;
    readDocument(documentLink: string, options: ReadOptions, callback?: DocumentCallback): boolean;
    replaceDocument(documentLink: string, document: object | string, callback?: DocumentCallback): boolean;
    replaceDocument(documentLink: string, document: object | string, options: ReplaceOptions, callback?: DocumentCallback): boolean;
    deleteDocument(documentLink: string, callback?: DeleteCallback): boolean;
    deleteDocument(documentLink: string, options: DeleteOptions, callback?: DeleteCallback): boolean;
    readDocuments(collectionLink: string, callback?: FeedCallback<StoredDocument>): boolean;
    readDocuments(collectionLink: string, options: FeedOptions, callback?: FeedCallback<StoredDocument>): boolean;
    queryDocuments(collectionLink: string, query: string | QuerySpec, callback?: FeedCallback): boolean;
    queryDocuments(collectionLink: string, query: string | QuerySpec, options: FeedOptions, callback?: FeedCallback): boolean;

    createAttachment(documentLink: string, attachment: object | string, callback?: DocumentCallback): boolean;
    createAttachment(documentLink: string, attachment: object | string, options: CreateOptions, callback?: DocumentCallback): boolean;
    upsertAttachment(documentLink: string, attachment: object | string, callback?: DocumentCallback): boolean;
    upsertAttachment(documentLink: string, attachment: object | string, options: UpsertOptions, callback?: DocumentCallback): boolean;
    readAttachment(attachmentLink: string, callback?: DocumentCallback): boolean;
    readAttachment(attachmentLink: string, options: ReadOptions, callback?: DocumentCallback): boolean;
    replaceAttachment(attachmentLink: string, attachment: object | string, callback?: DocumentCallback): boolean;
    replaceAttachment(attachmentLink: string, attachment: object | string, options: ReplaceOptions, callback?: DocumentCallback): boolean;
    deleteAttachment(attachmentLink: string, callback?: DeleteCallback): boolean;
    deleteAttachment(attachmentLink: string, options: DeleteOptions, callback?: DeleteCallback): boolean;
    readAttachments(documentLink: string, callback?: FeedCallback<StoredDocument>): boolean;
    readAttachments(documentLink: string, options: FeedOptions, callback?: FeedCallback<StoredDocument>): boolean;
    queryAttachments(documentLink: string, query: string | QuerySpec, callback?: FeedCallback): boolean;
    queryAttachments(documentLink: string, query: string | QuerySpec, options: FeedOptions, callback?: FeedCallback): boolean;

    chain(): Chain<StoredDocument>;
    filter(predicate: (document: StoredDocument) => any, callback?: FeedCallback<StoredDocument>): QueryResponse;
    filter(predicate: (document: StoredDocument) => any, options: FeedOptions, callback?: FeedCallback<StoredDocument>): QueryResponse;
    map<U>(transform: (document: StoredDocument) => U, callback?: FeedCallback<U>): QueryResponse;
    map<U>(transform: (document: StoredDocument) => U, options: FeedOptions, callback?: FeedCallback<U>): QueryResponse;
    pluck(property: string, callback?: FeedCallback): QueryResponse;
    pluck(property: string, options: FeedOptions, callback?: FeedCallback): QueryResponse;
    flatten(callback?: FeedCallback): QueryResponse;
    flatten(isShallow: boolean, callback?: FeedCallback): QueryResponse;
    flatten(isShallow: boolean, options: FeedOptions, callback?: FeedCallback): QueryResponse;
    sortBy(key: (document: StoredDocument) => any, callback?: FeedCallback<StoredDocument>): QueryResponse;
    sortBy(key: (document: StoredDocument) => any, options: FeedOptions, callback?: FeedCallback<StoredDocument>): QueryResponse;
    sortByDescending(key: (document: StoredDocument) => any, callback?: FeedCallback<StoredDocument>): QueryResponse;
    sortByDescending(
        key: (document: StoredDocument) => any,
        options: FeedOptions,
        callback?: FeedCallback<StoredDocument>
    ): QueryResponse;
    /** A second function is the result selector, so a callback needs options before it. */
    unwind<U>(inner: (document: StoredDocument) => U[], options?: FeedOptions, callback?: FeedCallback<U>): QueryResponse;
    unwind<U, V>(
        inner: (document: StoredDocument) => U[],
        result: (document: StoredDocument, item: U) => V,
        callback?: FeedCallback<V>
    ): QueryResponse;
}

/** The request that runs a trigger. */
interface ScriptRequest {
    getBody(): any;
    /** In pre-triggers: what is written instead. */
    setBody(value: any): void;
    getOperationType(): "Create" | "Replace" | "Upsert" | "Delete";
    getValue(name: string): any;
    setValue(name: string, value: any): void;
    appendValue(name: string, value: any): void;
}

/** What the caller gets. */
interface ScriptResponse {
    getBody(): any;
    setBody(value: any): void;
    appendBody(value: any): void;
    getValue(name: string): any;
    /** Of a header that is there; new ones cannot be set. */
    setValue(name: string, value: any): void;
    appendValue(name: string, value: any): void;
    /** In post-triggers. */
    getMaxResourceQuota(): string;
    getResourceQuotaCurrentUsage(): string;
}

interface Context {
    getCollection(): Collection;
    /** Where there is a request: in triggers. */
    getRequest(): ScriptRequest;
    /** Not in pre-triggers. */
    getResponse(): ScriptResponse;
    /** Undoes everything and ends the script, from a promise too. */
    abort(reason?: any): never;
}

declare function getContext(): Context;

/** The container, with request and response. */
declare const __: Collection & { request: ScriptRequest; response: ScriptResponse };

declare const ErrorCodes: {
    readonly BadRequest: 400;
    readonly Forbidden: 403;
    readonly NotFound: 404;
    readonly Conflict: 409;
    readonly PreconditionFailed: 412;
    readonly RequestEntityTooLarge: 413;
    readonly RetryWith: 449;
    readonly InternalServerError: 500;
};

interface ErrorConstructor {
    /** An error with a number, which the caller finds as the sub-status. */
    new (number: number, message: string): Error & { number: number };
    (number: number, message: string): Error & { number: number };
}

interface Console {
    /** Kept when the caller asks for script logging. %s stands for the next argument. */
    log(format?: any, ...args: any[]): void;
}

declare var console: Console;
