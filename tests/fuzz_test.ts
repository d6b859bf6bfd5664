/** The fuzzer at a tiny size: the inputs that once failed, and some random ones of a fixed seed. */
import assert from "node:assert/strict";
import { fromFileUrl } from "./support/paths.ts";
import { sizeOf } from "./support/sample.ts";

Deno.test("no known and no random input ends in a defect, a hang or an unbounded answer", async () => {
  const { code, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
    args: [
      "run",
      "-A",
      "--no-check",
      fromFileUrl(new URL("./fuzz/fuzz.ts", import.meta.url)),
      "--cases",
      String(sizeOf(6, 100)),
      "--seed",
      "1",
    ],
    stdin: "null",
  }).output();
  const printed = new TextDecoder().decode(stdout);
  assert.equal(code, 0, printed + new TextDecoder().decode(stderr).slice(-4000));
  for (const name of ["recipes", "readers", "http", "cli"]) {
    assert.match(printed, new RegExp(`^${name}: [1-9][0-9]* cases from seed 1, .* 0 findings$`, "m"));
  }
});
