import assert from "node:assert/strict";
import { createCancellation } from "../../../lib/execute/cancellation.ts";
import { RowLoop } from "../../../lib/study/rows/row_loop.ts";

Deno.test("after a defect of a row no other starts, and those under way end", async () => {
  const loop = new RowLoop<void>(2, 8, createCancellation()), seen: string[] = [];
  const defect = Promise.withResolvers<void>();
  const rows = ["a", "b", "c"].map((key) => ({
    key,
    async run() {
      seen.push(`${key} started`);
      if (key === "b") defect.reject(new Error("no disk"));
      await defect.promise.catch((error) =>
        key === "b" ? Promise.reject(error) : new Promise((end) => setTimeout(end))
      );
      seen.push(`${key} ended`);
    },
  }));
  await assert.rejects(loop.runAll(rows.values()), /no disk/);
  assert.deepEqual(seen, ["a started", "b started", "a ended"]);
});

Deno.test("rows are taken in their order, and no more of them wait than are allowed", async () => {
  const loop = new RowLoop<number>(2, 3, createCancellation()),
    ends = [0, 1, 2, 3].map(() => Promise.withResolvers<void>());
  const started: number[] = [];
  const rows = (from: number) =>
    ends.map((end, at) => ({
      key: String(at),
      run: async () => {
        started.push(at);
        await end.promise;
        return at;
      },
    })).slice(from).values();
  const first = loop.take("0", rows(0));
  for (const at of [1, 2, 3]) ends[at].resolve();
  await new Promise((end) => setTimeout(end));
  assert.deepEqual(started, [0, 1, 2], "the fourth waits until one is taken");
  ends[0].resolve();
  assert.deepEqual([await first, await loop.take("1", rows(1))], [0, 1]);
  assert.deepEqual((await loop.discard()).map(({ key }) => key), ["2", "3"]);
});
