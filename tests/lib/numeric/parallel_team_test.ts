/** Helper threads: they take part, fail aloud, are not missed where they may not start, and do not keep a program alive. */
import assert from "node:assert/strict";
import { awaitChunks, claimChunks, newJob, Turns } from "../../../lib/numeric/parallel/job.ts";
import { type DrawChunks, INTEGERS_DRAWN } from "../../../lib/numeric/parallel/draw_chunks.ts";
import { runChunks } from "../../../lib/numeric/parallel/team.ts";
import { Generator } from "../../../lib/numeric/random/random.ts";
import { until } from "../../support/until.ts";

const CHUNKS = 400;

function draws(): DrawChunks {
  let state = new Uint8Array();
  Generator.seeded(1).lend((lent) => state = Uint8Array.from(lent));
  const out = new BigInt64Array(new SharedArrayBuffer(8 * 8192 * CHUNKS));
  return { state, draw: { out, low: 0n, high: 2n ** 62n, dtype: "int64" }, values: 8192, outputs: 8192 };
}

Deno.test("helpers take part, and start anew after they have gone", async () => {
  const args = draws();
  for (let round = 0; round < 2; round++) {
    await until("a helper takes part", () => runChunks(INTEGERS_DRAWN, args, CHUNKS, 2) !== CHUNKS);
    if (round === 0) await new Promise((resolve) => setTimeout(resolve, 400));
  }
  assert.deepEqual(args.draw.out, Generator.seeded(1).integers(0n, 2n ** 62n, 8192 * CHUNKS));
});

Deno.test("a chunk that fails ends the job and every wait", () => {
  const args = { ...draws(), state: new Uint8Array(100) };
  const job = newJob(INTEGERS_DRAWN, args, 3);
  assert.throws(() => claimChunks(job, INTEGERS_DRAWN), RangeError);
  new Turns(job.control).await(2);
  // Others find the job as it is: they do what is left or fail likewise, and whoever waits for them is told.
  assert.throws(() => claimChunks(job, INTEGERS_DRAWN), RangeError);
  assert.throws(() => claimChunks(job, INTEGERS_DRAWN), RangeError);
  assert.throws(() => awaitChunks(job), /helper thread failed/);
});

/** Runs a module text in a process of its own. */
async function program(text: string, permissions: string[]): Promise<string> {
  const file = await Deno.makeTempFile({ suffix: ".ts" });
  try {
    await Deno.writeTextFile(file, text);
    const { success, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
      args: ["run", "--no-lock", "--no-check", "--no-prompt", ...permissions, file],
    }).output();
    const output = new TextDecoder().decode(stdout) + new TextDecoder().decode(stderr);
    assert.ok(success, output);
    return output.trim();
  } finally {
    await Deno.remove(file);
  }
}

const DRAWS = new URL("../../../lib/numeric/parallel/draws.ts", import.meta.url).href;
const GENERATOR = new URL("../../../lib/numeric/random/random.ts", import.meta.url).href;
const TEXT = `
import { complexNormal64Parallel } from ${JSON.stringify(DRAWS)};
import { Generator } from ${JSON.stringify(GENERATOR)};
for (let i = 0; i < 3; i++) complexNormal64Parallel(Generator.seeded(1), 500_000, 1, { threads: 3, least: 1 });
console.log(Generator.seeded(1).complexNormal64(500_000, 1).join() ===
  complexNormal64Parallel(Generator.seeded(1), 500_000, 1, { threads: 3, least: 1 }).join());
`;

Deno.test("a program that has used helpers ends by itself, one that may not start them does without", async () => {
  for (const permissions of [["-A"], []]) {
    assert.equal(await program(TEXT, permissions), "true", "the values are there and nothing else is printed");
  }
});
