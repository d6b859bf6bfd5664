/** Performs a command of the main thread: the handler of a thread route, or a task. */
import { canonicalJson, parseJson, type Value } from "../../contract/json.ts";
import type { Session } from "../../api/session.ts";
import { answer } from "../answer.ts";
import { routeNamed } from "../routes/index.ts";
import type { ThreadCommand, ThreadResult } from "./protocol.ts";
import { type TaskName, TASKS } from "./tasks.ts";

/** @throws what the handler or the task throws */
export async function performCommand(session: Session, command: ThreadCommand): Promise<ThreadResult> {
  const { id, name } = command;
  if (command.type === "route") {
    return { id, type: "reply", reply: await answer(routeNamed(name), command.request, { session }) };
  }
  const task = TASKS[name as TaskName] as unknown as (session: Session, input: Value) => Promise<Value>;
  return { id, type: "output", output: canonicalJson(await task(session, parseJson(command.input))) };
}
