/** A thread that performs the orders of its starter; for `thread_test.ts`. */
import { closeOwnThread, serveStarter, Thread } from "../../../lib/numeric/parallel/thread.ts";

export type Order =
  | { type: "start"; permissions?: Deno.PermissionOptions; words?: Int32Array<SharedArrayBuffer> }
  | { type: "start nothing" }
  | { type: "pass"; order: Order }
  | { type: "sleep"; words: Int32Array<SharedArrayBuffer> }
  | { type: "end other" | "fail" | "close" | "may read" | "shout" };

let other: Thread | undefined;

const send = serveStarter<Order, unknown>((order) => {
  switch (order.type) {
    case "start":
    case "start nothing": {
      const { permissions, words } = order.type === "start" ? order : {};
      const file = order.type === "start" ? "thread_worker.ts" : "thread_worker_missing.ts";
      const ending = words && { words, values: [[0, 1]] as const };
      other = new Thread(new URL(`./${file}`, import.meta.url), { name: "svc test", permissions, ending });
      other.port.onmessage = ({ data }) => send({ other: data });
      other.onerror = (message) => send({ failed: message });
      return;
    }
    case "pass":
      return other!.port.postMessage(order.order);
    case "end other":
      return other!.end();
    case "fail":
      throw new Error("as told");
    case "close":
      return closeOwnThread();
    case "may read":
      return send(Deno.permissions.querySync({ name: "read" }).state);
    case "shout":
      for (const message of [null, "text", { type: "other" }]) self.postMessage(message);
      return send("shouted");
    case "sleep":
      send("sleeps");
      // Without the value that ends it, it never wakes.
      return void Atomics.wait(order.words, 0, 0);
  }
});
send("ready");
