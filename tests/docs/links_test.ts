/** Links, anchors and commands of the documents lead somewhere. */
import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import type { Command } from "../../lib/cli/commander.ts";
import { buildProgram } from "../../lib/cli/main.ts";
import { svc } from "../support/cli.ts";
import { ROOT_PATH } from "../support/paths.ts";
import { codeBlocks } from "./blocks.ts";

function documentsIn(folder: string): string[] {
  return [...Deno.readDirSync(folder)].flatMap(({ name, isDirectory }) => {
    const path = join(folder, name);
    return isDirectory ? documentsIn(path) : name.endsWith(".md") ? [path] : [];
  });
}

const DOCUMENTS = [
  ...["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md"].map((name) => join(ROOT_PATH, name)),
  ...documentsIn(join(ROOT_PATH, "docs")),
];
const prose = (text: string) => text.replaceAll(/^```[\s\S]*?^```$/gm, "");
const anchorsOf = (text: string) =>
  [...prose(text).matchAll(/^#+ (.+)$/gm)].map(([, heading]) =>
    heading.toLowerCase().replaceAll(/[^\p{L}\p{N}_\- ]/gu, "").replaceAll(" ", "-")
  );

Deno.test("links of documents lead to files and headings that exist", () => {
  const broken: string[] = [];
  for (const document of DOCUMENTS) {
    for (const [, target] of prose(Deno.readTextFileSync(document)).matchAll(/\]\(([^)\s]+)\)/g)) {
      if (/^[a-z]+:/.test(target)) continue;
      const [path, anchor] = target.split("#");
      const file = path === "" ? document : join(dirname(document), path);
      const found = existsSync(file) &&
        (anchor === undefined || anchorsOf(Deno.readTextFileSync(file)).includes(anchor));
      if (!found) broken.push(`${relative(ROOT_PATH, document)}: ${target}`);
    }
  }
  assert.deepEqual(broken, []);
});

Deno.test("commands in documents exist, with their options", async () => {
  const program = await buildProgram(), wrong: string[] = [];
  const known = (command: Command) => new Set(command.options.flatMap(({ long, short }) => [long, short]));
  for (const document of DOCUMENTS.filter((path) => !path.includes("/reference/"))) {
    const text = Deno.readTextFileSync(document);
    const lines = [
      ...["sh", "console"].flatMap((language) => codeBlocks(text, language)).join("\n").split("\n"),
      ...[...prose(text).matchAll(/`(svc [a-z][^`]*)`/g)].map(([, line]) => line.replaceAll("\n", " ")),
    ];
    for (const line of lines) {
      const call = /^svc ([^#|>&]*)/.exec(line)?.[1];
      if (call === undefined) continue;
      const words = call.trim().split(/\s+/);
      let command: Command = program;
      let place = 0;
      while (place < words.length) {
        const child = command.commands.find((one) => one.name() === words[place]) as Command | undefined;
        if (child !== undefined) command = child;
        else if (command.commands.length > 0 && words[place].startsWith("--")) place++;
        else if (command.commands.length > 0) break;
        place++;
      }
      const options = new Set([...known(program), ...known(command), "--help"]);
      const unknown = words.filter((word) => /^--[a-z]/.test(word) && !options.has(word.split("=")[0]));
      if (command.commands.length > 0 && words[0] !== "help") unknown.push("no command");
      if (unknown.length > 0) wrong.push(`${relative(ROOT_PATH, document)}: ${line} (${unknown.join(", ")})`);
    }
  }
  assert.deepEqual(wrong, []);
});

Deno.test("docs prints pages and sections, and offers the nearest topic", async () => {
  const [list, code, operation, wrong] = await Promise.all([
    svc(["docs", "--json"]),
    svc(["docs", "codes/plan_invalid"]),
    svc(["docs", "wireless.channel"]),
    svc(["docs", "frist_link"]),
  ]);
  const topics = list.json.topics.map(({ topic }: { topic: string }) => topic);
  for (const topic of ["tutorials/first_link", "reference/bundle", "explanation/statistics"]) {
    assert.ok(topics.includes(topic));
  }
  assert.match(code.stdout, /^## plan_invalid\n\nThe recipe cannot be planned\. .*Exit code 3/);
  assert.doesNotMatch((await svc(["docs", "server"])).stdout, /<!--/);
  assert.match(operation.stdout, /^## wireless\.channel[\s\S]*`snr_db`/);
  assert.equal(wrong.code, 4);
  assert.match(wrong.stderr, /Did you mean first_link/);
});

Deno.test("an error names its document", async () => {
  const { stderr } = await svc(["recipe", "run", "no_such_recipe"]);
  const topic = /see: svc docs (codes\/\w+)/.exec(stderr)?.[1];
  assert.equal(topic, "codes/recipe_not_found");
  assert.equal((await svc(["docs", topic])).code, 0);
});
