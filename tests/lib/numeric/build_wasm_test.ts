import assert from "node:assert/strict";
import { compileKernel, kernelDigests, KERNELS } from "../../../lib/numeric/kernels/build_wasm.ts";
import { FULL_SIZE } from "../../support/reduced_sizes.ts";

const KERNEL_FOLDER = new URL("../../../lib/numeric/kernels/", import.meta.url);

Deno.test("the committed kernels and their sources are those of the last build", async () => {
  const built = JSON.parse(await Deno.readTextFile(new URL("built.json", KERNEL_FOLDER)));
  assert.deepEqual(kernelDigests(), built, "run deno task build:wasm");
});

/** The smallest kernel, and all of them at full size: the compiler takes seconds for each. */
Deno.test("the committed kernels are what their sources compile to", async () => {
  for (const name of FULL_SIZE ? KERNELS : ["ldpc"] as const) {
    const committed = await Deno.readFile(new URL(`${name}.wasm`, KERNEL_FOLDER));
    assert.ok(committed.length > 0);
    assert.equal((await compileKernel(name)).toHex(), committed.toHex(), `${name}.wasm: run deno task build:wasm`);
  }
});
