import assert from "node:assert/strict";
import { compileKernel, KERNELS } from "../../../lib/numeric/kernels/build_wasm.ts";

Deno.test("the committed kernels are what their sources compile to", async () => {
  for (const name of KERNELS) {
    const committed = await Deno.readFile(new URL(`../../../lib/numeric/kernels/${name}.wasm`, import.meta.url));
    assert.ok(committed.length > 0);
    assert.equal((await compileKernel(name)).toHex(), committed.toHex(), `${name}.wasm: run deno task build:wasm`);
  }
});
