/// <reference no-default-lib="true" />
/// <reference lib="deno.worker" />
/** A library thread: answers requests by the handlers of thread routes, and does the tasks. */
import { canonicalJson, parseJson, type Value } from "../../contract/json.ts";
import { answer } from "../answer.ts";
import { errorRecord } from "../problem.ts";
import { routeNamed } from "../routes/index.ts";
import { type Library, openLibrary } from "../service.ts";
import type { ThreadCommand, ThreadMessage } from "./protocol.ts";
import { type TaskName, TASKS } from "./tasks.ts";

let library: Library | undefined;

const send = (message: ThreadMessage, transfer: Transferable[] = []) => self.postMessage(message, transfer);

self.onmessage = async ({ data: command }: MessageEvent<ThreadCommand>) => {
  if (command.type === "open") {
    library = openLibrary(command.options);
    // What every request needs is made before the first one asks; who needs it hears why it cannot be made.
    await library.registry().catch(() => {});
    return;
  }
  const { id } = command;
  try {
    if (command.type === "route") {
      const reply = await answer(routeNamed(command.name), command.request, library!);
      const transfer = reply.body instanceof Uint8Array ? [reply.body.buffer] : [];
      return send({ id, type: "reply", reply }, transfer);
    }
    const task = TASKS[command.name as TaskName] as unknown as (library: Library, input: unknown) => Promise<Value>;
    send({ id, type: "output", output: canonicalJson(await task(library!, parseJson(command.input))) });
  } catch (error) {
    send({ id, type: "error", error: errorRecord(error) });
  }
};
