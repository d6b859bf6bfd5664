/** The shared worker: holds the one event stream of all tabs and passes on its events. */
import { openStream } from "./state/stream.ts";

const ports = new Set<MessagePort>();
let state: "ok" | "lost" | null = null, opened = false;
const tell = (message: unknown) => ports.forEach((port) => port.postMessage(message));

addEventListener("connect", (event) => {
  const [port] = (event as MessageEvent).ports;
  ports.add(port);
  port.start();
  if (state !== null) port.postMessage({ state });
  if (opened) return;
  opened = true;
  openStream({
    url: "/api/events",
    token: null,
    onEvent: (event) => tell({ event }),
    onState: (next) => tell({ state: state = next }),
  });
});
