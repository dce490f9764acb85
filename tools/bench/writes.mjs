// tools/bench/writes.mjs - signed requests that the yardsticks have none of, in the form of their gen.mjs: separated by NUL.
// usage: YARDSTICKS=DIR node writes.mjs upsert|patch|delete|batch|bulk START COUNT [ITEMS]      > file
// With ITEMS each is about one of so many items that are there, else about the item START, START + 1, ... The second half is about the
// items of the first with other values, so that entries change however often the file is sent. Of delete each is an upsert, and a delete
// of what was made long enough before to be there; at the end of the file nothing is left of it.
import crypto from 'node:crypto';

const { doc, request } = await import(process.env.YARDSTICKS + '/gen.mjs');
const [, , kind, start, count, items] = process.argv;
const AHEAD = 200; // upserts before the delete of what the first has made
const TOGETHER = 10; // items of a batch, all of one key, and of a bulk request, each of its own: the yardsticks have ten keys
const coll = `dbs/bench/colls/${process.env.COSMOS_COLL || 'c'}`;
const json = 'Content-Type: application/json\r\n';
const key = i => `x-ms-documentdb-partitionkey: ["tenant-${i % 10}"]\r\n`;
const isBatch = 'x-ms-cosmos-is-batch-request: True\r\n';

const chosen = k => parseInt(crypto.createHash('md5').update('w' + k % Math.ceil(count / 2)).digest('hex').slice(0, 8), 16) % items;
let price = 0;
const changed = i => ({ ...doc(i), price: i + ++price });
const upserts = list => JSON.stringify(list.map(i => ({ operationType: 'Upsert', partitionKey: `["tenant-${i % 10}"]`, resourceBody: changed(i) })));
const several = (first, step) => Array.from({ length: TOGETHER }, (_, k) => (first + k * step) % (+items || Infinity));

const kinds = {
  upsert: i => request('POST', `${coll}/docs`, 'docs', coll, key(i) + json + 'x-ms-documentdb-is-upsert: True\r\n', JSON.stringify(changed(i))),
  patch: i => request('PATCH', `${coll}/docs/doc-${i}`, 'docs', `${coll}/docs/doc-${i}`, key(i) + 'Content-Type: application/json_patch+json\r\n',
    JSON.stringify({ operations: [{ op: 'set', path: '/price', value: i + ++price }] })),
  delete: i => request('DELETE', `${coll}/docs/doc-${i}`, 'docs', `${coll}/docs/doc-${i}`, key(i)),
  batch: i => request('POST', `${coll}/docs`, 'docs', coll, key(i) + json + isBatch + 'x-ms-cosmos-batch-atomic: True\r\n', upserts(several(i, 10))),
  bulk: i => request('POST', `${coll}/docs`, 'docs', coll, json + isBatch +
    'x-ms-cosmos-batch-continue-on-error: True\r\nx-ms-documentdb-partitionkeyrangeid: 0\r\n', upserts(several(i, 1))),
};

const write = text => process.stdout.write(text + '\0');
if (kind === 'delete') write(kinds.upsert(+start)); // wrk asks for the first one and does not send it
for (let k = 0; k < +count + (kind === 'delete' ? AHEAD : 0); k++) {
  if (kind === 'delete' && k < +count) write(kinds.upsert(+start + k)); // a create, but for what an earlier run was kept from deleting
  if (kind !== 'delete' || k >= AHEAD) write(kinds[kind](items ? chosen(k) : +start + k - (kind === 'delete' ? AHEAD : 0)));
}
