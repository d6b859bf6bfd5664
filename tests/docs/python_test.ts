/** The blocks of the guide about Python. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { CLI_ARGS, inFolder } from "../support/cli.ts";
import { needs } from "../support/needs.ts";
import { ROOT_PATH } from "../support/paths.ts";
import { codeBlocks } from "./blocks.ts";

const PYTHON = "/usr/bin/python3";

async function output(command: string, args: string[], options: Deno.CommandOptions = {}) {
  try {
    const { success, stdout, stderr } = await new Deno.Command(command, { args, ...options }).output();
    return { success, text: new TextDecoder().decode(stdout) + new TextDecoder().decode(stderr) };
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return { success: false, text: `no ${command}` };
    throw error;
  }
}

const numpy = (await output(PYTHON, ["-c", "import numpy, pandas"])).success;

Deno.test({
  name: "the blocks of the Python guide run in a new project",
  ...needs(`numpy and pandas for ${PYTHON}`, numpy),
  fn: inFolder(async (cwd) => {
    const guide = await Deno.readTextFile(join(ROOT_PATH, "docs/guides/python.md"));
    await Deno.mkdir(join(cwd, "bin"));
    const program = [Deno.execPath(), ...CLI_ARGS].map((word) => `'${word}'`).join(" ");
    await Deno.writeTextFile(join(cwd, "bin/svc"), `#!/bin/sh\nexec ${program} "$@"\n`, { mode: 0o755 });
    const env = { PATH: `${join(cwd, "bin")}:${Deno.env.get("PATH")}` };
    const made = await output("bash", ["-ec", codeBlocks(guide, "sh").join("\n")], { cwd, env });
    assert.ok(made.success, made.text);
    const run = await output(PYTHON, ["-c", codeBlocks(guide, "python").join("\n")], { cwd, env });
    assert.ok(run.success, run.text);
    assert.match(run.text, /^0\.02\d+$/m);
    assert.match(run.text, /repetition\s+snr_db\s+channel\.ber/);
  }),
});
