/** A seeded part of `deno task soak faults`: another command each with a fault of the system, or killed, at some file call. */
import { type Fault, faultBench, faultLibrary, FAULTS } from "../support/fault_layer.ts";
import { inFolder } from "../support/cli.ts";
import { Generator } from "../../lib/numeric/random/random.ts";

Deno.test(
  "commands that meet a fault of the disk, or are killed, end in a coded error, lose nothing and can be repeated",
  inFolder(async (folder) => {
    const library = await faultLibrary(folder);
    if (library === null) return console.log("skipped: it needs Linux and a C compiler");
    await using bench = await faultBench(folder, library);
    const random = Generator.seeded(33n), faults = Object.keys(FAULTS) as Fault[];
    for (const [n, command] of ["run-matrix", "prune", "restore", "benchmark run", "pull"].entries()) {
      const at = 1 + Math.floor(random.random() * await bench.calls(command));
      await bench.trial(command, faults[n], at);
    }
  }),
);
