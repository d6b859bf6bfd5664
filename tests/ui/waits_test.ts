/** Limits of waits, closers, and the state that SIGUSR2 prints. */
import assert from "node:assert/strict";
import { within } from "../support/until.ts";
import { closeAll, onStateAsked } from "./waits.ts";

const never = new Promise<never>(() => {});

Deno.test("a wait ends with its work, or with an error that names what was waited for", async () => {
  assert.equal(await within("a value", Promise.resolve(3)), 3);
  await assert.rejects(within("a refusal", Promise.reject(new Error("refused"))), /^Error: refused$/);
  await assert.rejects(within("the reply to a question", never, 10), /No end within 0\.01 s: the reply to a question/);
});

Deno.test("a closer that fails is named, and the others close", async () => {
  const closed: string[] = [];
  const closers = ["folder", "server", "context", "browser"].map((what) =>
    [what, () => {
      if (what === "context") throw new Error("it is gone");
      if (what === "server") return Promise.reject(new Error("it is busy"));
      closed.push(what);
    }] as const
  );
  await assert.rejects(closeAll(closers), /Cannot close context: it is gone; Cannot close server: it is busy/);
  assert.deepEqual(closed, ["browser", "folder"]);
});

Deno.test({
  name: "SIGUSR2 prints what is waited for, and the states",
  ignore: Deno.build.os === "windows",
  // The listener belongs to the process.
  sanitizeOps: false,
  async fn() {
    const { error } = console, lines: string[] = [], printed = Promise.withResolvers<void>();
    console.error = (line: string) => void (lines.push(line) === 2 && printed.resolve());
    const forget = onStateAsked(() => Promise.resolve("State of a scene"));
    const waiting = within("a button", printed.promise);
    try {
      Deno.kill(Deno.pid, "SIGUSR2");
      await waiting;
    } finally {
      console.error = error;
      forget();
    }
    assert.match(lines[0], /^Waits of this file: .*a button, 0 s/);
    assert.equal(lines[1], "State of a scene");
  },
});
