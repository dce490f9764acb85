// explorer/state/session.js - who is at the page: the credential, what it may do, whether the server answers.
import { Client } from "../api/client.js";
import { mayWrite } from "../api/resources.js";
import { WELL_KNOWN_KEY, credentialOf, readSecret } from "../api/sign.js";
import { Store } from "./store.js";

/**
 * `container` is set for a resource token, which is good for one container.
 * @typedef {{ client: Client|null, canWrite: boolean, reached: boolean, isWellKnown: boolean, container: string[]|null }} Session
 * @typedef {{ kind: "key"|"token", secret: string, container?: string[] }} Secret
 */

const PLACE = "orrery-secret"; // of sessionStorage: it ends with the tab

/** @type {Session} */
const nobody = { client: null, canWrite: false, reached: true, isWellKnown: false, container: null };

/** @type {Store<Session>} */
export const session = new Store(nobody);

/** The client of whoever is signed in. */
export function client() {
  if (!session.value.client) throw new Error("nobody is signed in");
  return session.value.client;
}

export const canWrite = () => session.value.canWrite;

/** Signs in, or throws what the server says. @param {Secret} secret */
export async function signIn(secret) {
  const made = new Client(await credentialOf(secret));
  const container = secret.container ?? null;
  const [writes] = await Promise.all([mayWrite(made, container ?? undefined), made.send("GET", container ?? [])]);
  made.onReach = (reached) => {
    if (session.value.reached !== reached) session.update({ reached });
    if (!reached) watchForServer();
  };
  const isWellKnown = secret.secret === WELL_KNOWN_KEY;
  if (!isWellKnown) sessionStorage.setItem(PLACE, JSON.stringify(secret));
  session.set({ client: made, canWrite: writes, reached: true, isWellKnown, container });
}

/** With what the tab has kept, else with the key that everybody knows. Whether one of them opened. */
export async function signInQuietly() {
  const kept = sessionStorage.getItem(PLACE);
  const secrets = kept ? [JSON.parse(kept)] : [];
  secrets.push({ kind: "key", secret: WELL_KNOWN_KEY });
  for (const secret of secrets) {
    try {
      await signIn(secret);
      return true;
    } catch (error) {
      if (/** @type {any} */ (error).status === 0) throw error;
    }
  }
  return false;
}

export function signOut() {
  sessionStorage.removeItem(PLACE);
  location.reload(); // whatever the page had of the account goes with it
}

let isWatching = false;

/** Asks until the server answers again, first soon, then every few seconds. */
async function watchForServer() {
  if (isWatching) return;
  isWatching = true;
  for (let wait = 250; !session.value.reached; wait = Math.min(wait * 2, 4000)) {
    await new Promise((resolve) => setTimeout(resolve, wait));
    try {
      const answer = await fetch("/_orrery/ready", { cache: "no-store" });
      if (answer.ok) session.update({ reached: true });
    } catch {
      // not yet
    }
  }
  isWatching = false;
}

export { readSecret };
