/** A name is one word of the commands that engines run, whatever a shell reads in it. */
import assert from "node:assert/strict";
import { jobFiles, mergeCommand, shardCommand } from "../../../../lib/study/engine/written.ts";
import { HOSTILE_TEXTS } from "../../../support/hostile_texts.ts";

const planOf = (pack: string) => ({ program: ["printf", "%s\\n"], pack, shards: 2, folder: pack, options: [] });

Deno.test("a shell takes every name as one word", { ignore: Deno.build.os === "windows" }, async () => {
  for (const [name, text] of Object.entries(HOSTILE_TEXTS)) {
    for (const command of [shardCommand(planOf(text), "0"), mergeCommand(planOf(text))]) {
      const { stdout, stderr } = await new Deno.Command("sh", { args: ["-c", command] }).output();
      assert.equal(new TextDecoder().decode(stderr), "", name);
      assert.ok(new TextDecoder("utf-8", { ignoreBOM: true }).decode(stdout).includes(`\n${text}\n`), name);
    }
  }
});

Deno.test("Kubernetes puts no variable into a name", () => {
  const files = jobFiles("kubernetes", { ...planOf("$(HOME)"), image: "svc", claim: "svc" });
  for (const name of ["shards.json", "merge.json"]) {
    const [, , command] = JSON.parse(files[name]).spec.template.spec.containers[0].command;
    assert.match(command, /\$\$\(HOME\)/);
    assert.doesNotMatch(command, /(?<!\$)\$\(/);
  }
});
