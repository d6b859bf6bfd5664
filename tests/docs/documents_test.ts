/**
 * The blocks of the documents run. Each document becomes one shell script in an empty folder: its `sh` blocks as they are,
 * its `yaml` blocks as the files that their first lines name, and its `ts` blocks as one script at the end. `<run>` and `<result>`
 * stand for the newest ones, `<digest>` for the last SHA-256 that was printed.
 *
 * A block that this test does not run has a note before it: `<!-- run by: tests/… -->` names the test that runs it,
 * `<!-- not run: reason -->` says why none does. The second kind is counted here.
 */
import assert from "node:assert/strict";
import { join } from "node:path";
import { CLI_ARGS, inFolder, svc } from "../support/cli.ts";
import { exists } from "../../lib/artifact/path_kind.ts";
import { parseYaml } from "../../lib/contract/yaml.ts";
import { ROOT_PATH } from "../support/paths.ts";
import { FULL_SIZE, reducedSizes, type Step } from "../support/reduced_sizes.ts";
import { KEYS, testStore } from "../support/s3.ts";
import { performer, quoted } from "../support/shell.ts";
import { type Block, blocksOf } from "./blocks.ts";

/** Blocks that need what a test does not have: a cluster, the network, PyTorch, a terminal or minutes of computation. */
const NOT_RUN: Record<string, number> = {
  "ARCHITECTURE.md": 1,
  "CONTRIBUTING.md": 1,
  "README.md": 1,
  "docs/guides/adaptive_stopping.md": 1,
  "docs/guides/assistants.md": 1,
  "docs/guides/benchmarks.md": 1,
  "docs/guides/models_and_data.md": 1,
  "docs/guides/own_model.md": 3,
  "docs/guides/page.md": 1,
  "docs/guides/physical_layer.md": 3,
  "docs/guides/push_and_pull.md": 3,
  "docs/guides/run_on_a_cluster.md": 4,
  "docs/guides/secure_server.md": 1,
  "docs/guides/semantic_links.md": 12,
  "docs/guides/python.md": 2,
  "docs/guides/write_an_adapter.md": 1,
  "docs/tutorials/measured_channels.md": 1,
  "docs/tutorials/train_receiver.md": 1,
};

/** What the reader of a guide has already: files of the repository by the names that they have in the project. */
const HELD: Record<string, Record<string, string>> = {
  "docs/guides/own_images_and_texts.md": {
    "my_photos/camera.png": "recipes/samples/camera.png",
    "my_photos/rocket.jpg": "recipes/samples/rocket.jpg",
  },
  "docs/guides/semantic_links.md": Object.fromEntries(
    ["svc_adapter.yaml", "svc_types.ts", "similarity.ts", "states.yaml", "models/vectors.onnx", "models/words.txt"]
      .map((file) => [`adapters/word_vectors/${file}`, `adapters/word_vectors/${file}`]),
  ),
  "docs/guides/own_model.md": { "my_receiver/receiver.onnx": "recipes/models/qpsk-iq-receiver-v1/receiver.onnx" },
};

function documentsIn(folder: string): string[] {
  return [...Deno.readDirSync(join(ROOT_PATH, folder))].flatMap(({ name, isDirectory }) => {
    const path = `${folder}/${name}`;
    return isDirectory ? documentsIn(path) : name.endsWith(".md") ? [path] : [];
  }).sort();
}

/** Generated pages have the help texts of commands, which are no blocks to run. */
const GENERATED = "<!-- Written by ";
const blocks = new Map(
  ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", ...documentsIn("docs")]
    .map((path) => [path, Deno.readTextFileSync(join(ROOT_PATH, path))])
    .filter(([, text]) => !text.includes(GENERATED))
    .map(([path, text]) => [path, blocksOf(text)]),
);
const runHere = ({ language, note }: Block) => note === undefined && ["sh", "yaml", "ts"].includes(language);

/**
 * Matrices of shipped recipes, and their last points: a document runs the last point of the first one with few items, expands the
 * others, and runs all points as printed under `deno task soak whole`. The recipes run in tests/recipes.
 */
const LAST_POINTS: Record<string, number> = {
  "ai_phy.bit_transport.nr_adapted_moving_link": 9,
  csi_dataset_report: 5,
  fading_statistics: 5,
  mu_mimo_aged_reports: 23,
  nr_codebook_csi: 11,
  nr_pusch_row_4: 3,
  ofdm_moving_channel: 3,
  ofdm_wiener_tracking: 8,
  text_semantic_state_kb_awgn: 8,
  text_semantic_state_kb_unchecked_awgn: 8,
};

/** A matrix of a shipped recipe with the options that make it shorter. */
function endOf(id: string): string {
  const name = id.split(".").at(-1)!;
  const [file] = ["", "recipe_starters/"].map((folder) => join(ROOT_PATH, `recipes/${folder}${name}.yaml`)).filter(
    exists,
  );
  const { steps } = parseYaml(Deno.readTextFileSync(file)) as object as { steps: Step[] };
  const settings = Object.entries(reducedSizes(name, steps)).flatMap(([step, params]) =>
    Object.entries(params).map(([param, value]) => ` --set ${step}.${param}=${JSON.stringify(value)}`)
  );
  return `${id} --points ${LAST_POINTS[id]}${settings.join("")}`;
}

/** What else makes documents shorter: fewer replicates and points, which their later commands read. */
const SHORTER: readonly [RegExp, string][] = [
  [/\bbenchmark run first_comparison(?![^#\n]*--(?:replicates|until))/g, "$& --replicates 1"],
  [/(?<=benchmark run first_comparison --replicates )2/g, "1"],
  [/--until-errors 100 --max-bits 300000(?= --parallel-points)/g, "$& --replicates 1"],
  [/(?<=--peers rule\/\d --until-errors )100\b/g, "20"],
  // One photograph of four, where no word of the document is about the others.
  [/(?<=recipe run (?:recipes\/)?quickstart(?:\.yaml)?)(?= *(?:#|$|--))/gm, " --set data.image_ids=camera"],
  [/\brun-matrix first_link(?! --points)/g, "$& --points 0,8,9,17"],
  [
    /(?<=runMatrix\(await Deno\.readTextFile\("recipes\/first_link\.yaml"\))\)/g,
    ', { points: ["0", "8", "9", "17"] })',
  ],
  [/(?<=\breplicates:? )10\b/g, "3"],
  [/(?<=sample: \{n: )40\b/g, "12"],
];
function shorter(text: string): string {
  if (FULL_SIZE) return text;
  let seen = 0;
  const fewer = text.replaceAll(/run-matrix ([\w.]+)(?= *(#|$))/gm, (command, id) => {
    if (!(id in LAST_POINTS)) return command;
    return seen++ === 0 ? `run-matrix ${endOf(id)}` : `expand-matrix ${id}`;
  });
  return SHORTER.reduce((made, [found, replacement]) => made.replaceAll(found, replacement), fewer);
}

/** What a document shows: files, scripts, and the commands with each of their options, without names and values. */
function formsOf(found: readonly Block[]): string[] {
  return found.flatMap(({ language, body }) => language === "sh" ? body.split("\n").flatMap(formsOfLine) : [body]);
}
function formsOfLine(line: string): string[] {
  const command = line.replace(/ +#.*$/, ""), words = /^svc (?:--[a-z-]+ \S+ )*([a-z-]+ [a-z-]+)/.exec(command)?.[1];
  if (words === undefined) return [command];
  return [words, ...(command.match(/ --[a-z-]+/g) ?? []).map((option) => words + option)];
}

/**
 * Documents all of whose forms others show that run: they plan where they run recipes, and expand matrices; they run as printed
 * under `deno task soak whole`.
 */
function repeating(): Set<string> {
  const forms = new Map([...blocks].map(([document, all]) => [document, new Set(formsOf(all.filter(runHere)))]));
  const repeated = new Set<string>();
  for (const [document, own] of [...forms].sort(([, a], [, b]) => a.size - b.size)) {
    const others = new Set([...forms].flatMap(([other, some]) => other === document ? [] : [...some]));
    // A later command may read the run.
    const reads = blocks.get(document)!.some((block) => runHere(block) && /<(run|result)>/.test(block.body));
    if (reads || !own.isSubsetOf(others)) continue;
    forms.delete(document);
    repeated.add(document);
  }
  return repeated;
}
const REPEATING = FULL_SIZE ? new Set<string>() : repeating();
const planned = (text: string): string =>
  text.replaceAll(/(?<=^svc (?:--[a-z-]+ \S+ )*recipe )run(?= \S+(?: --set \S+)* *(?:#|$))/gm, "plan")
    .replaceAll(/(?<=^svc recipe )run-matrix(?= \S+ *(?:#|$))/gm, "expand-matrix");

/** Commands that the script of a document finds on its path, beside svc. */
const COMMANDS = {
  newest: `ls ".svc/$1" | grep -E '^[0-9]{8}T' | sort | tail -n 1`,
  digest: `grep -oE '\\b[0-9a-f]{64}\\b' "$LOG" | tail -n 1`,
};

/** A port that is free now: the documents name 8765. */
function freePort(): number {
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 }), { port } = listener.addr as Deno.NetAddr;
  listener.close();
  return port;
}

/** The shell script of a document. */
function scriptOf(found: readonly Block[], isPlanned: boolean): string {
  const parts = ["set -e -o pipefail", "trap 'set +e; kill $(jobs -p) 2>/dev/null; wait; true' EXIT"],
    script: string[] = [];
  const file = (name: string, body: string) => `cat > ${name} <<END_OF_BLOCK\n${body}\nEND_OF_BLOCK`;
  for (const { language, body } of found) {
    if (language === "sh") parts.push("set -x", isPlanned ? planned(body) : body, "{ set +x; } 2>/dev/null");
    else if (language === "ts") script.push(body);
    else parts.push(file(/^# (\S+\.yaml)$/m.exec(body.split("\n")[0])![1], body));
  }
  if (script.length > 0) {
    const text = script.join("\n").replaceAll(/[\\$`]/g, "\\$&");
    parts.push(file("script.ts", text), quoted([Deno.execPath(), ...CLI_ARGS.slice(0, -1), "script.ts"]));
  }
  return shorter(parts.join("\n"))
    .replaceAll("<run>", "$(newest runs)").replaceAll("<result>", "$(newest benchmarks)").replaceAll(
      "<digest>",
      "$(digest)",
    )
    .replaceAll("svc ui serve", "svc ui serve --port 8765").replaceAll("8765", String(freePort()))
    .replaceAll(/"(https:\/\/…|file:\/\/\/path\/to\/svc)\//g, `"${new URL("../../", import.meta.url).href}`);
}

for (const [document, all] of blocks) {
  const found = all.filter(runHere);
  if (found.length === 0) continue;
  Deno.test(
    `the blocks of ${document} work in an empty folder`,
    inFolder(async (cwd) => {
      const [bin, project, log] = [join(cwd, "bin"), join(cwd, "project"), join(cwd, "log")];
      await Promise.all([Deno.mkdir(bin), Deno.mkdir(project)]);
      await using performed = performer(svc, [Deno.execPath(), ...CLI_ARGS]);
      const commands = { ...COMMANDS, svc: performed.command };
      for (const [name, line] of Object.entries(commands)) {
        await Deno.writeTextFile(join(bin, name), `#!/usr/bin/env bash\n${line}\n`, { mode: 0o755 });
      }
      for (const [to, from] of Object.entries(HELD[document] ?? {})) {
        await Deno.mkdir(join(project, to, ".."), { recursive: true });
        await Deno.copyFile(join(ROOT_PATH, from), join(project, to));
      }
      await using store = testStore("lab");
      const { success } = await new Deno.Command("bash", {
        args: ["-c", `exec > "$LOG" 2>&1\n${scriptOf(found, REPEATING.has(document))}`],
        cwd: project,
        env: {
          ...{ PATH: `${bin}:${Deno.env.get("PATH")}`, NO_COLOR: "1", LOG: log },
          ...{ ...KEYS, AWS_ENDPOINT_URL: store.endpoint, SVC_TRUST: join(cwd, "trust.json") },
        },
        stdin: "null",
      }).output();
      assert.ok(success, (await Deno.readTextFile(log)).slice(-6000));
    }),
  );
}

Deno.test("every block of a document runs, or says which test runs it, or why none does", () => {
  const silent: string[] = [], notRun: Record<string, number> = {};
  for (const [document, all] of blocks) {
    for (const block of all) {
      const { language, body, note } = block, start = `${document}: ${body.slice(0, 60)}`;
      if (note === undefined && !runHere(block)) silent.push(`${start} (${language})`);
      if (note?.kind === "not run") notRun[document] = (notRun[document] ?? 0) + 1;
      if (note?.kind === "run by") {
        const test = Deno.readTextFileSync(join(ROOT_PATH, note.text));
        if (!test.includes(document)) silent.push(`${start}: ${note.text} does not read ${document}`);
      }
      if (language !== "yaml" || note !== undefined) continue;
      const name = /^# (\S+\.yaml)\n/.exec(body)?.[1];
      const used = all.some((other) =>
        runHere(other) && other.language !== "yaml" && other.body.includes(name ?? "\0")
      );
      if (!used) silent.push(`${start}: no command takes this file`);
    }
  }
  assert.deepEqual(silent, []);
  assert.deepEqual(notRun, NOT_RUN);
});

Deno.test("what makes documents shorter is in some of them", () => {
  const text = [...blocks.values()].flat().filter(runHere).map(({ body }) => body).join("\n");
  for (const [found] of SHORTER) assert.match(text, new RegExp(found.source, "m"));
  for (const id of Object.keys(LAST_POINTS)) assert.match(text, new RegExp(`run-matrix ${id} *(#|$)`, "m"));
});

Deno.test("every tutorial has commands that run", () => {
  const without = [...blocks].filter(([path, all]) =>
    path.startsWith("docs/tutorials/") && all.filter(runHere).flatMap(({ body }) => body.split("\n")).length < 3
  );
  assert.deepEqual(without, []);
});
