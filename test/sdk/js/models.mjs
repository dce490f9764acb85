// test/sdk/js/models.mjs - the worked models of the modelling texts: what their clients do, and what must always hold.
// A model has a container. fill() makes its first items, act() is one thing that a client does, partitions() are the
// keys that a checker looks at, and check() gets all the items of one as of one moment: a query of one page.
// `fault` says what should go wrong: {options} for the request, and "throw" or "loop" for the script, half-way.
import harness from "./harness.cjs";

const { assert } = harness;

// The functions of `procedures` and `triggers` run in the server: they are sent as text.
/* global getContext, __ */

const sorted = (list) => [...list].sort();
const ofType = (items, type) => items.filter((item) => item.type === type);
const byId = (items) => new Map(items.map((item) => [item.id, item]));

/** A batch answers for itself; what failed in it is thrown, like the failure of a single request. */
async function batch(container, operations, key, options) {
  const { result, code } = await container.items.batch(operations, key, options);
  const failed = (result ?? []).filter((one) => one.statusCode >= 400);
  if (code === 200 && failed.length === 0) return;
  const culprits = failed.filter((one) => one.statusCode !== 424);
  assert.equal(culprits.length, 1, JSON.stringify(result));
  assert.equal(failed.length, operations.length, "a part of a batch was done");
  throw Object.assign(new Error("batch"), { code: culprits[0].statusCode });
}

/** Publisher and books: a batch keeps the list and the count of a publisher, under its ETag. */
export const publishers = {
  name: "publishers", partitionKey: "/publisher", keys: ["p0", "p1", "p2"],
  partitions: () => publishers.keys,
  async fill(container) {
    for (const publisher of this.keys)
      await container.items.create({ id: "publisher", publisher, type: "publisher", countOfBooks: 0, books: [] });
  },
  async act(container, chance, fault) {
    const publisher = chance.pick(this.keys);
    const { resource, etag } = await container.item("publisher", publisher).read();
    const adds = resource.books.length < 3 || chance.one(2);
    const id = adds ? chance.name("book") : chance.pick(resource.books);
    const books = adds ? [...resource.books, id] : resource.books.filter((one) => one !== id);
    const book = adds ? { operationType: "Create", resourceBody: { id, publisher, type: "book" } } : { operationType: "Delete", id };
    const list = { operationType: "Replace", id: "publisher", ifMatch: etag,
      resourceBody: { id: "publisher", publisher, type: "publisher", books, countOfBooks: books.length } };
    const wrong = fault.script === "throw" ? [{ operationType: "Delete", id: "nobody" }] : [];
    await batch(container, chance.shuffled([book, list, ...wrong]), publisher, fault.options);
  },
  check(items) {
    const [publisher] = ofType(items, "publisher");
    assert.equal(publisher.countOfBooks, publisher.books.length);
    assert.deepEqual(sorted(publisher.books), sorted(ofType(items, "book").map((book) => book.id)));
  },
};

/** Authors and books, m:n: a procedure keeps both lists of references and countOfBooks. */
export const authors = {
  name: "authors", partitionKey: "/shelf", keys: ["s0", "s1"], names: ["ann", "bob", "cid", "dee", "eve"],
  partitions: () => authors.keys,
  procedures: {
    change(shelf, bookId, newAuthors, fault) {
      const link = (id) => `${__.getAltLink()}/docs/${id}`;
      const call = (method, ...args) => new Promise((resolve, reject) => {
        const accepted = __[method](...args, (error, result) => (error ? reject(error) : resolve(result)));
        if (!accepted) reject(new Error(429, `${method} was not accepted`));
      });
      async function move(id, adds) {
        const author = await call("readDocument", link(id));
        author.books = adds ? [...author.books, bookId] : author.books.filter((one) => one !== bookId);
        author.countOfBooks += adds ? 1 : -1;
        await call("replaceDocument", author._self, author, { etag: author._etag });
      }
      return (async () => {
        const book = await call("readDocument", link(bookId)).catch((error) => {
          if (error.number !== 404) throw error;
        });
        const before = book ? book.authors : [];
        for (const id of before.filter((one) => !newAuthors.includes(one))) await move(id, false);
        if (fault === "throw") throw new Error(418, "half-way");
        while (fault === "loop");
        for (const id of newAuthors.filter((one) => !before.includes(one))) await move(id, true);
        if (newAuthors.length) await call("upsertDocument", __.getSelfLink(), { id: bookId, shelf, type: "book", authors: newAuthors });
        else if (book) await call("deleteDocument", book._self);
      })();
    },
  },
  async fill(container) {
    for (const shelf of this.keys)
      for (const id of this.names) await container.items.create({ id, shelf, type: "author", books: [], countOfBooks: 0 });
  },
  async act(container, chance, fault) {
    const shelf = chance.pick(this.keys);
    const chosen = this.names.filter(() => chance.one(3));
    await container.scripts.storedProcedure("change")
      .execute(shelf, [shelf, `book-${chance.below(12)}`, chosen, fault.script], fault.options);
  },
  check(items) {
    const books = byId(ofType(items, "book"));
    for (const author of ofType(items, "author")) {
      const theirs = [...books.values()].filter((book) => book.authors.includes(author.id)).map((book) => book.id);
      assert.deepEqual(sorted(author.books), sorted(theirs), author.id);
      assert.equal(author.countOfBooks, author.books.length);
    }
    for (const book of books.values()) assert.ok(book.authors.length > 0);
  },
};

const COMMENTS_OF_A_POST = 350; // then there is another one, so that a page can hold all of one

/** A blog post with its three latest comments, kept by a trigger; older ones lie in batches of 100. */
export const posts = {
  name: "posts", partitionKey: "/post", keys: [], acknowledged: new Map(), refused: new Set(),
  partitions: () => posts.keys.slice(-3),
  triggers: {
    embed: ["Post", "Create", function () {
      const comment = getContext().getResponse().getBody();
      const { id, text } = comment;
      const link = (name) => `${__.getAltLink()}/docs/${name}`;
      // What is not accepted is not done, and half of it would be committed: so it throws.
      const call = (method, ...args) => {
        const then = args.pop();
        const accepted = __[method](...args, (error, result) => {
          if (error) throw error;
          then(result);
        });
        if (!accepted) throw new Error(429, `${method} was not accepted`);
      };
      const done = () => {};
      call("readDocument", link("post"), (post) => {
        post.count++;
        post.latest.unshift({ id, text });
        if (post.latest.length > 3) keep(post, post.latest.pop());
        call("replaceDocument", post._self, post, { etag: post._etag }, () => {
          if (comment.fault === "throw") throw new Error(418, "half-way");
          while (comment.fault === "loop");
        });
      });
      function keep(post, old) {
        const name = `older-${Math.floor(post.older / 100)}`;
        if (post.older++ % 100 === 0)
          return call("createDocument", __.getSelfLink(), { id: name, post: comment.post, type: "older", comments: [old] }, done);
        call("readDocument", link(name), (older) => {
          older.comments.push(old);
          call("replaceDocument", older._self, older, done);
        });
      }
    }],
  },
  async open(container) {
    const post = `post-${this.keys.length}`;
    await container.items.create({ id: "post", post, type: "post", count: 0, older: 0, latest: [] });
    this.keys.push(post);
    this.acknowledged.set(post, []);
  },
  fill(container) {
    return this.open(container);
  },
  async act(container, chance, fault) {
    const post = this.keys.at(-1);
    const id = chance.name("comment");
    try {
      await container.items.create({ id, post, type: "comment", text: `of ${id}`, fault: fault.script },
        { ...fault.options, postTriggerInclude: ["embed"] });
      if (this.acknowledged.get(post).push(id) === COMMENTS_OF_A_POST) await this.open(container);
    } catch (problem) {
      if (problem.code >= 400 && problem.code !== 409) this.refused.add(id);
      throw problem;
    }
  },
  check(items, key) {
    const [post] = ofType(items, "post");
    const comments = ofType(items, "comment").map((comment) => comment.id);
    const batches = ofType(items, "older").sort((a, b) => a.id.localeCompare(b.id, "en", { numeric: true }));
    const kept = [...batches.flatMap((older) => older.comments), ...post.latest].map((comment) => comment.id);
    assert.equal(post.count, comments.length);
    assert.equal(post.latest.length, Math.min(3, post.count));
    assert.deepEqual(sorted(kept), sorted(comments));
    batches.slice(0, -1).forEach((older) => assert.equal(older.comments.length, 100));
    assert.equal(comments.filter((id) => this.refused.has(id)).length, 0, `what was refused is in ${key}`);
  },
  /** When nobody writes any more. */
  checkLast(items, key) {
    const there = new Set(ofType(items, "comment").map((comment) => comment.id));
    assert.deepEqual(this.acknowledged.get(key).filter((id) => !there.has(id)), [], `what was acknowledged is not in ${key}`);
  },
};

/** Portfolios by reference: shares move between a stock and its holders, by patches under conditions. */
export const portfolios = {
  name: "portfolios", partitionKey: "/market", keys: ["m0"], stocks: ["stock-a", "stock-b", "stock-c"], holders: 8, issued: 100,
  partitions: () => portfolios.keys,
  async fill(container) {
    for (const id of this.stocks)
      await container.items.create({ id, market: "m0", type: "stock", free: this.issued, price: 10 });
    const none = Object.fromEntries(this.stocks.map((stock) => [stock, 0]));
    for (let i = 0; i < this.holders; i++) await container.items.create({ id: `holder-${i}`, market: "m0", type: "holder", held: none });
  },
  async act(container, chance, fault) {
    const [stock, holder, count] = [chance.pick(this.stocks), `holder-${chance.below(this.holders)}`, 1 + chance.below(20)];
    if (chance.one(4))
      return container.item(stock, "m0").patch([{ op: "incr", path: "/price", value: 1 }], fault.options);
    const buys = chance.one(2);
    const patch = (id, path, value, condition) => ({ operationType: "Patch", id,
      resourceBody: { operations: [{ op: "incr", path, value }], ...(value < 0 && { condition }) } });
    const wrong = fault.script === "throw" ? [patch("nobody", "/free", 1)] : [];
    await batch(container, chance.shuffled([
      patch(stock, "/free", buys ? -count : count, `from c where c.free >= ${count}`),
      patch(holder, `/held/${stock}`, buys ? count : -count, `from c where c.held["${stock}"] >= ${count}`),
      ...wrong]), "m0", fault.options);
  },
  check(items) {
    const holders = ofType(items, "holder");
    for (const stock of ofType(items, "stock")) {
      const held = holders.map((holder) => holder.held[stock.id]);
      assert.ok(stock.free >= 0 && held.every((count) => count >= 0), stock.id);
      assert.equal(held.reduce((sum, count) => sum + count, stock.free), this.issued, stock.id);
    }
  },
};

/**
 * Orders of customers: a trigger before a create refuses a reference to nobody. It also counts in the customer, since a
 * query that found no orders is no promise that there are none when its transaction commits: the count is.
 */
export const orders = {
  name: "orders", partitionKey: "/shop", keys: ["o0", "o1"], customers: 6,
  partitions: () => orders.keys,
  triggers: {
    refers: ["Pre", "Create", function () {
      const order = getContext().getRequest().getBody();
      const must = (accepted) => {
        if (!accepted) throw new Error(429, "not accepted");
      };
      must(__.readDocument(`${__.getAltLink()}/docs/${order.customer}`, (error, customer) => {
        if (error) throw error.number === 404 ? new Error(404, `no customer ${order.customer}`) : error;
        customer.orders++;
        must(__.replaceDocument(customer._self, customer, { etag: customer._etag }, (problem) => {
          if (problem) throw problem;
          if (order.fault === "throw") throw new Error(418, "half-way");
          while (order.fault === "loop");
        }));
      }));
    }],
  },
  procedures: {
    /** The oldest order of a customer goes; without one, the customer. */
    leave(name, fault) {
      const call = (method, ...args) => new Promise((resolve, reject) => {
        const accepted = __[method](...args, (error, result) => (error ? reject(error) : resolve(result)));
        if (!accepted) reject(new Error(429, `${method} was not accepted`));
      });
      const query = { query: "SELECT * FROM c WHERE c.customer = @name", parameters: [{ name: "@name", value: name }] };
      return (async () => {
        const customer = await call("readDocument", `${__.getAltLink()}/docs/${name}`);
        const [order] = await call("queryDocuments", __.getSelfLink(), query, { pageSize: 1 });
        if (!order) return call("deleteDocument", customer._self, { etag: customer._etag });
        customer.orders--;
        await call("replaceDocument", customer._self, customer, { etag: customer._etag });
        if (fault === "throw") throw new Error(418, "half-way");
        while (fault === "loop");
        return call("deleteDocument", order._self);
      })();
    },
  },
  async fill(container) {
    for (const shop of this.keys)
      for (let i = 0; i < this.customers; i += 2) await container.items.create({ id: `customer-${i}`, shop, type: "customer", orders: 0 });
  },
  async act(container, chance, fault) {
    const [shop, customer, choice] = [chance.pick(this.keys), `customer-${chance.below(this.customers)}`, chance.below(5)];
    if (choice === 0) await container.items.create({ id: customer, shop, type: "customer", orders: 0 }, fault.options);
    else if (choice < 3) await container.scripts.storedProcedure("leave").execute(shop, [customer, fault.script], fault.options);
    else
      await container.items.create({ id: chance.name("order"), shop, type: "order", customer, fault: fault.script },
        { ...fault.options, preTriggerInclude: ["refers"] });
  },
  check(items) {
    const found = byId(ofType(items, "customer"));
    for (const order of ofType(items, "order")) assert.ok(found.has(order.customer), `${order.id} refers to nobody`);
    for (const customer of found.values())
      assert.equal(customer.orders, ofType(items, "order").filter((order) => order.customer === customer.id).length, customer.id);
  },
};
