/**
 * The documents run: each `sh` block of a tutorial or guide in an empty folder, where `<run>` and `<result>` are the newest
 * ones, and after them the `ts` blocks as one script. What needs another machine, a network or data of one's own is a `console` block, whose commands are only checked.
 */
import assert from "node:assert/strict";
import { join } from "node:path";
import { CLI_ARGS, inFolder } from "../support/cli.ts";
import { ROOT_PATH } from "../support/paths.ts";
import { codeBlocks } from "./blocks.ts";

/** Name of the newest folder of runs or results. */
function newest(folder: string): string {
  try {
    const names = [...Deno.readDirSync(folder)].map(({ name }) => name).filter((name) => /^\d{8}T/.test(name));
    return names.sort().at(-1) ?? "none";
  } catch {
    return "none";
  }
}

/** Starts a script with the settings of the checkout. */
const RUN_SCRIPT = `'${Deno.execPath()}' ${CLI_ARGS.slice(0, -1).map((word) => `'${word}'`).join(" ")}`;

const documents = ["tutorials", "guides"].flatMap((folder) =>
  [...Deno.readDirSync(join(ROOT_PATH, "docs", folder))].map(({ name }) => `${folder}/${name}`)
).sort();
const linesOf = (document: string) =>
  codeBlocks(Deno.readTextFileSync(join(ROOT_PATH, "docs", document)), "sh").flatMap((text) => text.split("\n"));

for (const document of documents) {
  const lines = linesOf(document);
  if (lines.length === 0) continue;
  Deno.test(
    `the commands of ${document} work in an empty folder`,
    inFolder(async (cwd) => {
      const bin = join(cwd, "bin"), project = join(cwd, "project");
      await Deno.mkdir(bin);
      await Deno.mkdir(project);
      const program = [Deno.execPath(), ...CLI_ARGS].map((word) => `'${word}'`).join(" ");
      await Deno.writeTextFile(join(bin, "svc"), `#!/bin/sh\nexec ${program} "$@"\n`, { mode: 0o755 });
      const filled = (text: string) =>
        text.replaceAll("<run>", newest(join(project, ".svc/runs")))
          .replaceAll("<result>", newest(join(project, ".svc/benchmarks")));
      const script = codeBlocks(Deno.readTextFileSync(join(ROOT_PATH, "docs", document)), "ts").join("\n")
        .replace(/"(https:\/\/…|file:\/\/\/path\/to\/svc)\//g, `"${new URL("../../", import.meta.url).href}`);
      const scripts = script === "" ? [] : [`${RUN_SCRIPT} script.ts`];
      for (const line of [...lines, ...scripts]) {
        if (scripts.includes(line)) await Deno.writeTextFile(join(project, "script.ts"), filled(script));
        const command = filled(line);
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

Deno.test("every tutorial has commands that run", () => {
  const without = documents.filter((name) => name.startsWith("tutorials/") && linesOf(name).length < 3);
  assert.deepEqual(without, []);
});
