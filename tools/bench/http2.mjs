// tools/bench/http2.mjs - sends signed requests, each its own, over HTTP/1.1 or HTTP/2, so many in flight, and counts the answers.
// usage: node http2.mjs URL 1|2 CONNECTIONS IN_FLIGHT SECONDS FILE [once]      FILE: as the yardsticks' gen.mjs writes it
// Prints how many were answered and how many of those were no success. `once`: no request is sent twice, as creates must not be.
import fs from 'node:fs';
import http from 'node:http';
import http2 from 'node:http2';
import https from 'node:https';

const [, , url, version, connections, inFlight, seconds, file, once] = process.argv;
const requests = fs.readFileSync(file, 'latin1').split('\0').filter(Boolean).map(text => {
  const [head, body] = text.split('\r\n\r\n');
  const [first, ...lines] = head.split('\r\n');
  const [method, path] = first.split(' ');
  const headers = Object.fromEntries(lines.map(line => line.split(/: (.*)/s).slice(0, 2)).map(([name, value]) => [name.toLowerCase(), value]));
  delete headers.host;
  return { method, path, headers, body };
});

function senderOf1() {
  const { Agent, request } = url.startsWith('https') ? https : http;
  const agent = new Agent({ keepAlive: true, maxSockets: +connections, rejectUnauthorized: false });
  return ({ method, path, headers, body }) => new Promise((resolve, reject) => {
    request(url + path, { method, headers, agent }, answer => answer.resume().on('end', () => resolve(answer.statusCode)))
      .on('error', reject).end(body);
  });
}

function senderOf2() {
  const sessions = Array.from({ length: +connections }, () => http2.connect(url, { rejectUnauthorized: false }));
  let next = 0;
  return ({ method, path, headers, body }) => new Promise((resolve, reject) => {
    const stream = sessions[next++ % sessions.length].request({ ':method': method, ':path': path, ...headers }, { endStream: !body });
    let status;
    stream.on('response', answer => { status = answer[':status']; }).on('error', reject).resume().on('end', () => resolve(status));
    if (body) stream.end(body);
  });
}

const send = version === '2' ? senderOf2() : senderOf1();
const until = Date.now() + 1000 * seconds;
let next = 0, answered = 0, failed = 0;
await Promise.all(Array.from({ length: +inFlight }, async () => {
  while (Date.now() < until && (!once || next < requests.length)) {
    const status = await send(requests[next++ % requests.length]);
    answered++;
    if (status >= 300) failed++;
  }
}));
console.log(answered, failed);
process.exit(0);
