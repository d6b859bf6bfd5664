/**
 * Fetches the scripts of the first view beside those of the frame, which name the view's script only once they run, and sends
 * the first requests of the view. The element of this script lists the scripts of each view. It is no module and comes before
 * the styles, so that it runs before the scripts of the frame, which wait for the whole document.
 */
import { ahead, firstRequests, TOKEN, viewAt } from "./ahead.ts";

/** What is not taken by then is asked for again: it may have changed. */
const KEPT_MS = 10_000;

const { dataset, src } = document.currentScript as HTMLScriptElement;
for (const name of dataset[viewAt(location.hash)]?.split(" ") ?? []) {
  const href = new URL(name, src).href;
  document.head.append(Object.assign(document.createElement("link"), { rel: "modulepreload", href }));
}

const sent = ahead.svcAhead = new Map<string, Promise<Response>>(), token = sessionStorage.getItem(TOKEN);
for (const [address, body] of firstRequests(location.hash)) {
  const headers = {
    ...(body === undefined ? {} : { "content-type": "application/json" }),
    ...(token === null ? {} : { authorization: `Bearer ${token}` }),
  };
  const reply = fetch(address, { headers, ...(body === undefined ? {} : { method: "POST", body }) }).then(
    (response) => {
      // Read at once: a view that finds the text has its contents in its first painting.
      const text = response.text();
      text.catch(() => {});
      return Object.assign(response, { text: () => text });
    },
  );
  // The one who takes it sees a failure.
  reply.catch(() => {});
  sent.set(address + (body ?? ""), reply);
}
const forget = () => sent.clear();
setTimeout(forget, KEPT_MS);
addEventListener("hashchange", forget);
