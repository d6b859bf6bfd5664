import assert from "node:assert/strict";
import { join } from "node:path";
import { CLI_ARGS, inFolder, svc } from "../support/cli.ts";
import { Generator } from "../../lib/numeric/random/random.ts";

const RECIPE = `name: chain
metadata: { seed: 1 }
steps:
  - { id: data, op: source.random_bits, params: { bit_count: 200000 } }
${
  Array.from({ length: 12 }, (_, i) =>
    `  - { id: b${i}, op: channel.bit_boundary, inputs: { bits: ${i === 0 ? "data" : `b${i - 1}`}.bits } }`).join("\n")
}
`;

/** Kills a process unless it is over already, which is known here a little later than it is true. */
function kill(child: Deno.ChildProcess): void {
  try {
    child.kill("SIGKILL");
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
  }
}

Deno.test(
  "a killed process never leaves a bundle that claims to be complete and is not",
  inFolder(async (cwd) => {
    await Deno.writeTextFile(join(cwd, "chain.yaml"), RECIPE);
    const random = Generator.seeded(7);
    let killed = 0;
    for (let round = 0; round < 8; round++) {
      const child = new Deno.Command(Deno.execPath(), {
        args: [...CLI_ARGS, "recipe", "run", "chain.yaml", "--quiet"],
        cwd,
        stdout: "null",
        stderr: "null",
      }).spawn();
      // Between the start of the program and a little after its usual end.
      let ended = false;
      const timer = setTimeout(() => ended || kill(child), 150 + 500 * random.random());
      const { signal } = await child.status;
      ended = true;
      clearTimeout(timer);
      if (signal === "SIGKILL") killed++;
    }
    assert.ok(killed > 0, "at least one process was killed");
    const listed = await svc(["runs", "list", "--json"], { cwd });
    for (const { run_id, status } of listed.json.runs as { run_id: string; status: string }[]) {
      assert.ok(["completed", "incomplete"].includes(status), `${run_id}: ${status}`);
      const verified = await svc(["runs", "verify", run_id], { cwd });
      assert.equal(verified.code, 0, `${run_id} (${status})\n${verified.stdout}`);
    }
    // The folder stays usable: the next run is complete.
    assert.equal((await svc(["recipe", "run", "chain.yaml", "--quiet"], { cwd })).code, 0);
  }),
);
