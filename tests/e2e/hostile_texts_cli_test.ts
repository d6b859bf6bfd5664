/** Every command that prints documents of others prints them as data: names, labels, files, bundles, packs, adapters. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { inFolder, svc } from "../support/cli.ts";
import { FORBIDDEN } from "../support/hostile_texts.ts";

/** All that a terminal would obey or hide, and a line of its own. */
const TEXT = "a\u001b]52;c;cm0=\u0007\u001b[8m\u009b31m\u202e\u2066\u200b\u2028\nforged line\rb\tc";
/** The part that a file name may have on every system with these characters. */
const FILE = "a\u001b]52;c;cm0=\u0007\u202e\nforged line";

const LINK = {
  name: TEXT,
  description: TEXT,
  metadata: { seed: 5 },
  steps: [
    { id: "data", op: "source.random_bits", params: { bit_count: 100 } },
    {
      id: "modulator",
      op: "modulation.digital_modulate",
      params: { modulation: "qpsk" },
      inputs: { bits: "data.bits" },
    },
    {
      id: "channel",
      op: "wireless.channel",
      params: { channel: "awgn", snr_db: 3.5 },
      inputs: { symbols: "modulator.symbols" },
    },
    { id: "demodulator", op: "demodulation.digital_demodulate", inputs: { rx_symbols: "channel.rx_symbols" } },
    {
      id: "evaluation",
      op: "metrics.bit_error_rate",
      inputs: { reference: "data.bits", candidate: "demodulator.bits" },
    },
  ],
};

/** A recipe with texts of others where the compiler refuses them. */
const WRONG = {
  ...LINK,
  steps: [{ id: TEXT, op: TEXT, params: { [TEXT]: TEXT }, inputs: { [TEXT]: TEXT } }],
  [TEXT]: TEXT,
};

const json = (path: string, value: unknown) => Deno.writeTextFile(path, JSON.stringify(value));

/** A document with a text in place of others: their digests do not hold any more. */
async function poison(path: string, change: (document: Record<string, unknown>) => void): Promise<void> {
  const document = JSON.parse(await Deno.readTextFile(path));
  change(document);
  await json(path, document);
}

/** A project with what others wrote. @returns the id of a run */
async function project(cwd: string): Promise<string> {
  for (const folder of ["recipes", "benchmarks", "texts", "datasets"]) await Deno.mkdir(join(cwd, folder));
  await json(join(cwd, "link.json"), LINK);
  await json(join(cwd, "wrong.json"), WRONG);
  await json(join(cwd, "recipes", "link.json"), LINK);
  if (Deno.build.os !== "windows") await json(join(cwd, "recipes", `${FILE}.json`), LINK);
  await json(join(cwd, "benchmarks", "pack.json"), {
    id: TEXT,
    name: TEXT,
    version: TEXT,
    title: TEXT,
    recipes: [{ id: TEXT }],
  });
  await json(join(cwd, "texts", "manifest.json"), {
    kind: "svc.text_dataset_manifest",
    id: TEXT,
    samples: [{ id: TEXT }],
  });
  await svc(["adapter", "scaffold", "bits", "codec"], { cwd });
  const manifest = join(cwd, "codec", "svc_adapter.yaml");
  const written = await Deno.readTextFile(manifest);
  await Deno.writeTextFile(
    manifest,
    written.replace(/^description: .*$/m, `description: ${JSON.stringify(TEXT)}`).replace(
      /^(\s+name: ).*$/m,
      `$1${JSON.stringify(TEXT)}`,
    ),
  );
  await Deno.mkdir(join(cwd, "artifact"));
  await json(join(cwd, "artifact", "trained_artifact.json"), {
    kind: "svc.trained_block_artifact",
    id: TEXT,
    name: TEXT,
    description: TEXT,
  });
  const { run_id, ...ran } = (await svc(["recipe", "run", "link.json", "--json"], { cwd })).json;
  assert.ok(run_id, JSON.stringify(ran));
  const runs = join(cwd, ".svc", "runs"), other = run_id.replace(/Z_.*/, "Z_of_others");
  const copied = new Deno.Command("cp", { args: ["-r", join(runs, run_id), join(runs, other)] });
  assert.ok((await copied.output()).success);
  await poison(join(runs, other, "summary.json"), (summary) => {
    Object.assign(summary, {
      run_id: other,
      status: "failed",
      error: TEXT,
      recipe_name: TEXT,
      warnings: [{ code: TEXT, message: TEXT }],
    });
    for (const step of summary.steps as Record<string, unknown>[]) {
      Object.assign(step, { id: TEXT, op: TEXT, status: TEXT, metrics: { [TEXT]: 1, ...step.metrics as object } });
    }
  });
  await poison(
    join(runs, other, "manifest.json"),
    (document) => Object.assign(document, { run_id: other, recipe_name: TEXT, [TEXT]: TEXT }),
  );
  await Deno.mkdir(join(cwd, ".svc", "benchmarks", "of_others"), { recursive: true });
  await json(join(cwd, ".svc", "benchmarks", "of_others", "result.json"), {
    kind: TEXT,
    result_id: TEXT,
    status: TEXT,
  });
  return run_id;
}

/** The commands, by words; RUN is a run of the project, and OTHER one of somebody else. */
const COMMANDS = [
  "recipe list",
  "recipe list --format md",
  "recipe list --format csv",
  "recipe validate link.json",
  "recipe validate wrong.json",
  "recipe validate wrong.json --compat",
  "recipe lint link.json",
  "recipe lint wrong.json",
  "recipe plan link.json",
  "recipe graph link.json",
  "recipe graph link.json --format svg",
  "recipe graph link.json --format mermaid",
  "recipe graph link.json --format dot",
  "recipe explain link.json modulator",
  "recipe specs link.json",
  "recipe diff link.json wrong.json",
  "recipe fmt link.json --stdout",
  "recipe expand-matrix link.json",
  "recipe run link.json",
  "recipe run wrong.json",
  "runs list",
  "runs list --format md",
  "runs list --format csv",
  "runs table",
  "runs table --format tex",
  "runs table --format md",
  "runs show RUN",
  "runs show OTHER --all-metrics",
  "runs manifest OTHER",
  "runs verify OTHER",
  "runs diff RUN OTHER",
  "runs prune OTHER --dry-run",
  "runs gc --dry-run",
  "benchmark list",
  "benchmark show benchmarks/pack.json",
  "benchmark validate benchmarks/pack.json",
  "benchmark results",
  "benchmark result of_others",
  "benchmark verify of_others",
  "adapter inspect codec",
  "adapter validate codec",
  "--adapter codec adapter list",
  "--adapter codec ops list --filter codec.",
  "--adapter codec ops show codec.encode",
  "data list",
  "data validate-manifest texts/manifest.json",
  "artifact list",
  "artifact show artifact",
  "artifact verify artifact",
  "differentiable inspect link.json",
  "research validate-recipe link.json",
  "submission validate artifact",
  "template list",
  "suite list",
  "doctor",
  "index rebuild",
];
/** Words of a user that another wrote; the requests of the tests are lines, which end at U+2028. */
const WORD = TEXT.replace("\u2028", "");
const GIVEN = [
  ["runs", "show", WORD],
  ["recipe", "run", WORD],
  ["ops", "show", WORD],
  ["runs", "list", "--recipe", WORD],
  [WORD],
  ["docs", WORD],
  ["benchmark", "run", WORD],
  ["adapter", "inspect", WORD],
  ["recipe", "run", "link.json", "--set", `modulator.modulation=${WORD}`],
];

Deno.test(
  "no command prints a control, a hidden character or a line of another author",
  inFolder(async (cwd) => {
    const run = await project(cwd), other = run.replace(/Z_.*/, "Z_of_others");
    const words = COMMANDS.map((line) =>
      line.split(" ").map((word) => word === "RUN" ? run : word === "OTHER" ? other : word)
    );
    let marked = 0;
    for (const args of [...words, ...GIVEN]) {
      for (const form of ["--color=always", "--json"]) {
        const { stdout, stderr } = await svc([form, ...args], { cwd });
        const name = JSON.stringify([form, ...args]);
        // The colours of the program.
        const text = (stdout + stderr).replaceAll(new RegExp("\u001b\\[(?:[0-2]|3[1-6])m", "g"), "");
        assert.doesNotMatch(text, FORBIDDEN, name);
        assert.doesNotMatch(text, /^forged/m, name);
        if (/\\u001b\]52|\\\\u001b\]52/.test(text)) marked++;
      }
    }
    assert.ok(marked > COMMANDS.length / 2, `${marked} outputs have the text`);
  }),
);

Deno.test(
  "a name that a shell would run is no candidate of the completion",
  { ignore: Deno.build.os === "windows" },
  inFolder(async (cwd) => {
    for (const name of ["plain.yaml", "$(touch x).yaml", "`id`.yaml", "a;b.yaml", "a b.yaml", `${FILE}.yaml`]) {
      await Deno.writeTextFile(join(cwd, name), "");
    }
    const { stdout } = await svc(["__complete", "--", "recipe", "run", ""], { cwd });
    assert.equal(stdout, "plain.yaml\n");
  }),
);
