// explorer/api/sign.js - what the Authorization header says: a signature made with a key, or a resource token.

/** The Cosmos DB emulator's key, which everybody knows: a server on loopback that has no other takes it. */
export const WELL_KNOWN_KEY = "C2y6yDjf5/R+ob0N8A7Cgv30VRDJIWEHLM+4QDU5DE2nQ9nDuVTqobD4b8mGGyPMbIZnqyMsEcaGQy67XIw/Jw==";

/** @typedef {{ authorize(verb: string, type: string, link: string, date: string): Promise<string>, kind: "key"|"token" }} Credential */

/** @param {string} text */
const bytesOfBase64 = (text) => Uint8Array.from(atob(text), (c) => c.charCodeAt(0));

/** @param {ArrayBuffer} buffer */
const base64OfBytes = (buffer) => btoa(String.fromCharCode(...new Uint8Array(buffer)));

/**
 * A key of the account. Throws when it is no base64.
 * @param {string} key
 * @returns {Promise<Credential>}
 */
export async function keyCredential(key) {
  const secret = await crypto.subtle.importKey("raw", bytesOfBase64(key), { name: "HMAC", hash: "SHA-256" }, false, ["sign"]);
  return {
    kind: "key",
    async authorize(verb, type, link, date) {
      const text = `${verb.toLowerCase()}\n${type.toLowerCase()}\n${link}\n${date.toLowerCase()}\n\n`;
      const signature = await crypto.subtle.sign("HMAC", secret, new TextEncoder().encode(text));
      return encodeURIComponent(`type=master&ver=1.0&sig=${base64OfBytes(signature)}`);
    },
  };
}

/**
 * A resource token says itself what it is good for.
 * @param {string} token
 * @returns {Credential}
 */
export function tokenCredential(token) {
  const plain = token.startsWith("type%3D") || token.startsWith("type%3d") ? token : encodeURIComponent(token);
  return { kind: "token", authorize: async () => plain };
}

/**
 * What somebody has pasted: a key, a resource token, or a connection string that has one of the two.
 * @param {string} text
 * @returns {{ kind: "key"|"token", secret: string }}
 */
export function readSecret(text) {
  const trimmed = text.trim();
  const inString = /(?:^|;)\s*AccountKey=([^;]+)/i.exec(trimmed);
  const secret = inString ? inString[1].trim() : trimmed;
  return { kind: /^type(=|%3d)resource/i.test(secret) ? "token" : "key", secret };
}

/** @param {{ kind: "key"|"token", secret: string }} secret */
export async function credentialOf(secret) {
  return secret.kind === "token" ? tokenCredential(secret.secret) : keyCredential(secret.secret);
}
