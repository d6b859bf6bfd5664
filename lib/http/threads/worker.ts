/// <reference no-default-lib="true" />
/// <reference lib="deno.worker" />
/** A library thread: performs the commands of the main thread with a session of its own. */
import { serveStarter } from "../../numeric/parallel/thread.ts";
import { Session } from "../../api/session.ts";
import { errorRecord } from "../problem.ts";
import { performCommand } from "./perform.ts";
import type { ThreadInput, ThreadMessage } from "./protocol.ts";

let session: Session | undefined;
/** Commands may come while the session opens. */
let opening = Promise.resolve();

const send = serveStarter<ThreadInput, ThreadMessage>(async (command) => {
  if (command.type === "open") {
    session = new Session(command.session);
    opening = session.openProgram();
    // Loaded before the first request. A failure is the reply to each request that needs the registry.
    await opening.then(() => session!.registry()).catch(() => {});
    return;
  }
  try {
    await opening;
    const result = await performCommand(session!, command);
    const bytes = result.type === "reply" && result.reply.body instanceof Uint8Array ? [result.reply.body.buffer] : [];
    send(result, bytes);
  } catch (error) {
    send({ id: command.id, type: "error", error: errorRecord(error) });
  }
});
