/** The documents run: each `sh` block of a tutorial in an empty folder, where `<run>` and `<result>` are the newest ones. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { CLI_ARGS, inFolder } from "../support/cli.ts";
import { ROOT_PATH } from "../support/paths.ts";
import { codeBlocks } from "./blocks.ts";

const FOLDER = join(ROOT_PATH, "docs/tutorials");

/** Name of the newest folder of runs or results. */
function newest(folder: string): string {
  try {
    const names = [...Deno.readDirSync(folder)].map(({ name }) => name).filter((name) => /^\d{8}T/.test(name));
    return names.sort().at(-1) ?? "none";
  } catch {
    return "none";
  }
}

for (const { name } of [...Deno.readDirSync(FOLDER)].sort((a, b) => (a.name < b.name ? -1 : 1))) {
  Deno.test(
    `the commands of tutorials/${name} work in an empty folder`,
    inFolder(async (cwd) => {
      const bin = join(cwd, "bin"), project = join(cwd, "project");
      await Deno.mkdir(bin);
      await Deno.mkdir(project);
      const program = [Deno.execPath(), ...CLI_ARGS].map((word) => `'${word}'`).join(" ");
      await Deno.writeTextFile(join(bin, "svc"), `#!/bin/sh\nexec ${program} "$@"\n`, { mode: 0o755 });
      const lines = codeBlocks(await Deno.readTextFile(join(FOLDER, name)), "sh").flatMap((text) => text.split("\n"));
      assert.ok(lines.length > 2);
      for (const line of lines) {
        const command = line.replaceAll("<run>", newest(join(project, ".svc/runs")))
          .replaceAll("<result>", newest(join(project, ".svc/benchmarks")));
        const { success, stdout, stderr } = await new Deno.Command("bash", {
          args: ["-c", command],
          cwd: project,
          env: { PATH: `${bin}:${Deno.env.get("PATH")}`, NO_COLOR: "1" },
          stdin: "null",
        }).output();
        const decoder = new TextDecoder();
        assert.ok(success, `${command}\n${decoder.decode(stderr)}${decoder.decode(stdout)}`);
      }
    }),
  );
}
