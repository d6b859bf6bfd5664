import assert from "node:assert/strict";
import { join } from "node:path";
import { fromFileUrl, ROOT_PATH } from "../support/paths.ts";
import { inFolder } from "../support/cli.ts";

Deno.test(
  "no argument list crashes or hangs the command line: every one ends in a documented code",
  inFolder(async (cwd) => {
    await Deno.writeTextFile(
      join(cwd, "bits.yaml"),
      "name: b\nsteps:\n  - { id: data, op: source.random_bits, params: { bit_count: 8 } }\n",
    );
    await Deno.writeTextFile(join(cwd, "broken.yaml"), "name: [\n");
    const { code, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
      args: [
        "run",
        "-A",
        "--no-check",
        "--config",
        join(ROOT_PATH, "deno.json"),
        fromFileUrl(new URL("./cli_fuzz_worker.ts", import.meta.url)),
      ],
      cwd,
      stdin: "null",
      env: { NO_COLOR: "1" },
    }).output();
    const decoder = new TextDecoder();
    const [said, complained] = [decoder.decode(stdout), decoder.decode(stderr)];
    assert.equal(code, 0, complained.slice(-2000));
    assert.doesNotMatch(complained, /UNEXPECTED|internal_error|This is a defect/);
    assert.doesNotMatch(said, /internal_error/);
    const codes = JSON.parse(/CODES (.*)/.exec(complained)![1]) as Record<string, number>;
    for (const expected of ["0", "2", "3", "4"]) assert.ok(codes[expected] > 0, `code ${expected} was seen`);
  }),
);
