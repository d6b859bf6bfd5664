/**
 * Faults below the program, over all commands that write.
 *
 *     deno task soak faults [calls of each fault and command, 20 by default] [seed, 1 by default] [commands]
 *
 * The program prints a line for each trial and exits with 1 after the first that loses something.
 */
import { faultBench, faultLibrary, faultTrials } from "../support/fault_layer.ts";

const [, first, second, ...commands] = Deno.args, perFault = Number(first ?? 20), seed = Number(second ?? 1);
const folder = await Deno.makeTempDir({ prefix: "svc-faults-" });
try {
  const library = await faultLibrary(folder);
  if (library === null) throw new Error("It needs Linux and a C compiler");
  await using bench = await faultBench(folder, library);
  const options = { seed, perFault, ...(commands.length === 0 ? {} : { commands }) };
  for await (const line of faultTrials(bench, options)) console.log(line);
} finally {
  await Deno.remove(folder, { recursive: true });
}
Deno.exit();
