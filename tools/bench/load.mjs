// tools/bench/load.mjs - the yardsticks' documents into a container with a partition key of its own choice.
// usage: YARDSTICKS=DIR node load.mjs URL CONTAINER PROPERTY ITEMS      into the database of setup.mjs
import http from 'node:http';

const { doc, request } = await import(process.env.YARDSTICKS + '/gen.mjs');
const [, , url, container, property, items] = process.argv;
const CONNECTIONS = 16;
const agent = new http.Agent({ keepAlive: true, maxSockets: CONNECTIONS });

// The yardsticks write whole requests: taken apart again for a client that knows connections.
function send(text) {
  const [head, body] = text.split('\r\n\r\n');
  const [first, ...lines] = head.split('\r\n');
  const [method, path] = first.split(' ');
  const headers = Object.fromEntries(lines.map(line => [line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 2)]));
  return new Promise((resolve, reject) => {
    const sent = http.request(url + path, { method, headers, agent }, answer => {
      answer.resume().on('end', () => resolve(answer.statusCode));
    });
    sent.on('error', reject).end(body);
  });
}

const json = 'Content-Type: application/json\r\n';
const definition = { id: container, partitionKey: { paths: ['/' + property], kind: 'Hash', version: 2 } };
const made = await send(request('POST', 'dbs/bench/colls', 'colls', 'dbs/bench', json, JSON.stringify(definition)));
if (made !== 201) throw new Error(`the container: ${made}`);

const link = `dbs/bench/colls/${container}`;
let next = 0, failed = 0;
await Promise.all(Array.from({ length: CONNECTIONS }, async () => {
  while (next < +items) {
    const item = doc(next++), key = `x-ms-documentdb-partitionkey: ${JSON.stringify([item[property]])}\r\n`;
    if (await send(request('POST', link + '/docs', 'docs', link, key + json, JSON.stringify(item))) !== 201) failed++;
  }
}));
console.log(`loaded ${items} documents, ${failed} failed`);
process.exit(0);
