/** Work with one's own data from an empty folder, through the command line alone. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { decodePng, parsePng } from "../../lib/artifact/png_decode.ts";
import { CLI_ARGS, inFolder, svc } from "../support/cli.ts";
import { LONG } from "../support/long_recipe.ts";
import { until } from "../support/until.ts";

const TEXTS = ["The ship left the harbour at noon.", "Rain fell on the coast.", "Two engines failed."];

/** Own texts, one source item and one packet each, over Es/N0. The dimension's name gives variants ids for names. */
const recipeOf = (digest: string) =>
  `schema_version: 1
name: own_texts
metadata:
  seed: 7
  matrix:
    dimensions: {"Es/N0": [9.5, 20.0]}
    step_params: {link: {snr_db: {matrix: "Es/N0"}}}
steps:
  - id: data
    op: source.text_dataset
    params: {dataset: own, manifest_path: own.manifest.json, manifest_sha256: ${digest}, repeat_count: 8}
  - {id: sender, op: model.text_utf8_encode, params: {wire_format: items}, inputs: {texts: data.texts}}
  - {id: packets, op: channel.packetize_crc32, params: {packet_payload_bits: 512}, inputs: {bits: sender.bits}}
  - {id: modulator, op: modulation.digital_modulate, params: {modulation: qpsk}, inputs: {bits: packets.bits}}
  - {id: link, op: wireless.channel, params: {channel: awgn}, inputs: {symbols: modulator.symbols}}
  - {id: demodulator, op: demodulation.digital_demodulate, inputs: {rx_symbols: link.rx_symbols}}
  - {id: check, op: channel.crc32_check, params: {on_decode_failure: erasure}, inputs: {bits: demodulator.bits}}
  - {id: receiver, op: model.text_utf8_decode, inputs: {bits: check.bits}}
  - {id: evaluation, op: metrics.text_semantic_similarity, inputs: {reference: data.texts, candidate: receiver.texts}}
  - {id: errors, op: metrics.bit_error_rate, inputs: {reference: packets.bits, candidate: demodulator.bits}}
`;

/** Runs a command that must succeed. */
async function done(cwd: string, ...args: string[]) {
  const result = await svc([...args, "--json"], { cwd });
  assert.equal(result.code, 0, `${args.join(" ")}: ${result.stdout}${result.stderr}`);
  return result.json;
}

/** Digests of all files of a bundle, by path; SHA256SUMS holds them. */
const sums = (cwd: string, run: string) => Deno.readTextFile(join(cwd, ".svc/runs", run, "SHA256SUMS"));

async function present(cwd: string, run: string): Promise<string[]> {
  const folder = join(cwd, ".svc/runs", run);
  const names: string[] = [];
  for (const line of (await sums(cwd, run)).trim().split("\n")) {
    const [, digest, path] = /^([0-9a-f]{64}) [ *](.*)$/.exec(line)!;
    const bytes = await Deno.readFile(join(folder, path)).catch(() => null);
    if (bytes === null) continue;
    assert.equal(new Uint8Array(await crypto.subtle.digest("SHA-256", bytes)).toHex(), digest, path);
    names.push(path);
  }
  return names;
}

Deno.test(
  "own texts: manifest, a sweep as a benchmark, variants, table and figure, less kept and restored, a crate",
  inFolder(async (cwd) => {
    await Deno.writeTextFile(
      join(cwd, "own.jsonl"),
      TEXTS.map((text, at) => JSON.stringify({ id: `text ${at}`, text })).join("\n"),
    );
    const { sha256, text_count } = await done(cwd, "data", "make-manifest", "own.jsonl");
    assert.equal(text_count, 3);
    await Deno.writeTextFile(join(cwd, "own.yaml"), recipeOf(sha256));

    // A method with a row for each point; the noisy one ends at its errors, the other at the limit of replicates.
    const result = await done(cwd, "benchmark", "run", "own.yaml", "--until-errors", "20", "--replicates", "3");
    assert.equal(result.status, "completed");
    const points = Map.groupBy(
      result.recipes as { matrix_selection: Record<string, number>; method_id: string }[],
      ({ matrix_selection }) => matrix_selection["Es/N0"],
    );
    assert.deepEqual([...points.keys()].sort((a, b) => a - b), [9.5, 20]);
    assert.equal(points.get(20)!.length, 3);

    // A point that is chosen by its values is that of the matrix, which uses its run again; 20 is its 20.0.
    const chosen = await done(cwd, "recipe", "run", "own.yaml", "--set", "Es/N0=20");

    // One packet costs one text: exactly the share of lost packets is not received.
    const sweep = await done(cwd, "recipe", "run-matrix", "own.yaml", "--keep", "metrics");
    const [noisy, clean] = sweep.rows;
    assert.deepEqual([noisy.reused, clean.reused, clean.run_id], [false, true, chosen.run_id]);
    const lost = 1 - noisy.metrics.check["channel.packet_success_rate"];
    assert.ok(lost > 0 && lost < 1, `${lost}`);
    assert.ok(Math.abs(noisy.metrics.evaluation["text.exact_match"] - (1 - lost)) < 1e-12);
    assert.equal(clean.metrics.evaluation["text.exact_match"], 1);

    // Variants are named by their ids, and found by the name of the recipe.
    assert.match(noisy.recipe_name, /^mxv1-/);
    const metrics = ["--metrics", "channel.ber,text.exact_match"];
    const table = await done(cwd, "runs", "table", "--recipe", "own_texts", ...metrics);
    const rows = table.rows.map((row: { family: string; coordinates: Record<string, number> }) => [
      row.family,
      row.coordinates["Es/N0"],
    ]);
    assert.deepEqual(rows.sort((a: [string, number], b: [string, number]) => a[1] - b[1]), [
      ["own_texts", 9.5],
      ["own_texts", 20],
    ]);
    const figure = [
      "runs",
      "plot",
      "--recipe",
      "own_texts",
      "--x",
      "Es/N0",
      "--y",
      "text.exact_match",
      "--out",
      "figures",
    ];
    const { files } = await done(cwd, ...figure);
    const csv = await Deno.readTextFile(join(cwd, "figures", files.find((file: string) => file.endsWith(".csv"))));
    assert.deepEqual(csv.trim().split("\n").slice(1).map((line) => line.split(",")[0]), ["own_texts", "own_texts"]);

    // What is not kept comes back, byte for byte.
    const run = noisy.run_id, before = await sums(cwd, run);
    const kept = await present(cwd, run);
    assert.ok(
      kept.includes("recipe.json") &&
        kept.every((path) => !path.startsWith("artifacts/") || path.endsWith("report.json")),
      kept.join(),
    );
    assert.equal((await done(cwd, "runs", "restore", run)).status, "restored");
    assert.equal(await sums(cwd, run), before);
    const all = await present(cwd, run);
    assert.equal(all.length, before.trim().split("\n").length);
    assert.ok(all.includes("artifacts/link/rx_symbols.npz"));
    // The reports that --keep metrics leaves go with the rest.
    await done(cwd, "runs", "prune", run);
    assert.deepEqual(await present(cwd, run), kept.filter((path) => !path.startsWith("artifacts/")));
    await done(cwd, "runs", "restore", run);
    assert.deepEqual(await present(cwd, run), all);

    const crate = join(cwd, "crate");
    await done(cwd, "runs", "export", run, "--format", "ro-crate", "--out", crate, "--licence", "CC-BY-4.0");
    const { "@graph": graph } = JSON.parse(await Deno.readTextFile(join(crate, "ro-crate-metadata.json")));
    assert.ok(graph.some((entity: { "@id": string }) => entity["@id"] === "artifacts/link/rx_symbols.npz"));
  }),
);

Deno.test(
  "a file of bits is a source, and an adapter scores texts of one's own",
  inFolder(async (cwd) => {
    const bytes = Uint8Array.from({ length: 64 }, (_, at) => (37 * at + 11) % 256);
    await Deno.writeFile(join(cwd, "payload.bin"), bytes);
    const { sha256 } = await done(cwd, "data", "make-manifest", "payload.bin");
    await Deno.writeTextFile(
      join(cwd, "bits.yaml"),
      `schema_version: 1
name: own_bits
metadata: {seed: 1}
steps:
  - id: data
    op: source.bit_manifest
    params: {manifest_path: payload.manifest.json, manifest_sha256: ${sha256}}
  - {id: modulator, op: modulation.digital_modulate, params: {modulation: qpsk}, inputs: {bits: data.bits}}
  - {id: demodulator, op: demodulation.digital_demodulate, inputs: {rx_symbols: modulator.symbols}}
  - {id: errors, op: metrics.bit_error_rate, inputs: {reference: data.bits, candidate: demodulator.bits}}
`,
    );
    const { summary } = await done(cwd, "recipe", "run", "bits.yaml");
    const { metrics, metadata } = summary.steps.at(-1);
    const { events, trials } = metadata.metric_metadata["channel.ber"];
    assert.deepEqual([events, trials, metrics["channel.ber"]], [0, 8 * bytes.length, 0]);

    await Deno.writeTextFile(join(cwd, "own.txt"), TEXTS.join("\n"));
    const texts = await done(cwd, "data", "make-manifest", "own.txt", "--lines");
    await done(cwd, "adapter", "scaffold", "text_metric", "my-metric");
    const path = join(cwd, "my-metric/recipe.yaml"), text = await Deno.readTextFile(path);
    const own = `\n    params: {dataset: own, manifest_path: own.manifest.json, manifest_sha256: ${texts.sha256}}\n`;
    await Deno.writeTextFile(path, text.replace("op: source.text_dataset\n", `op: source.text_dataset${own}`));
    const scored = await done(cwd, "--adapter", "my-metric", "recipe", "run", "my-metric/recipe.yaml");
    const evaluation = scored.summary.steps.at(-1);
    const rate = evaluation.metrics["external.my_metric.character_error_rate"];
    assert.ok(rate > 0 && rate < 0.2, JSON.stringify(evaluation.metrics));
    assert.equal(evaluation.metrics["external.my_metric.characters"], TEXTS.join("").length);
  }),
);

Deno.test(
  "texts of a CSV file and of a folder are sources, and files that are none are refused",
  inFolder(async (cwd) => {
    const quoted = [
      "The ship, at noon, left.",
      'She said "rain".\nThen it fell.',
      "Zwei Motoren fielen aus: größer als je.",
    ];
    const cells = quoted.map((text, at) => `${at},"${text.replaceAll('"', '""')}"`);
    await Deno.writeTextFile(join(cwd, "captions.csv"), ["id,caption", ...cells].join("\r\n"));
    await Deno.mkdir(join(cwd, "notes/sub"), { recursive: true });
    for (const [at, text] of TEXTS.entries()) {
      await Deno.writeTextFile(join(cwd, "notes", at === 2 ? "sub/c.txt" : `${"ab"[at]}.txt`), text);
    }
    const textsOf = async (path: string, ...options: string[]): Promise<string[]> => {
      const { sha256, path: manifest, id } = await done(cwd, "data", "make-manifest", path, ...options);
      await Deno.writeTextFile(
        join(cwd, "texts.yaml"),
        `name: texts
steps:
  - id: data
    op: source.text_dataset
    params: {dataset: ${id}, manifest_path: ${manifest}, manifest_sha256: ${sha256}}
`,
      );
      const { run_id } = await done(cwd, "recipe", "run", "texts.yaml");
      const batch = await Deno.readTextFile(join(cwd, ".svc/runs", run_id, "artifacts/data/texts.json"));
      return JSON.parse(batch).items.map(({ text }: { text: string }) => text);
    };
    assert.deepEqual(await textsOf("captions.csv", "--column", "caption"), quoted);
    assert.deepEqual(await textsOf("notes"), TEXTS);

    const lines = (language: string) =>
      Array.from({ length: 60 }, (_, at) => at % 7 === 3 ? "" : `${at + 1} ${language}`);
    for (const language of ["en", "de"]) {
      await Deno.writeTextFile(join(cwd, `ep.${language}`), lines(language).join("\n"));
    }
    const pinned = async (own: string, other: string) =>
      await done(cwd, "data", "make-manifest", `ep.${own}`, "--parallel", `ep.${other}`, "--line-ranges");
    for (const [own, other] of [["en", "de"], ["de", "en"]]) assert.equal((await pinned(own, other)).text_count, 51);
    const checked = await done(cwd, "data", "validate-manifest", "ep.en.manifest.json");
    assert.deepEqual([checked.sample_count, checked.splits], [51, { test: 51 }]);
    const drawn = async (language: string) => {
      const text = await Deno.readTextFile(join(cwd, "texts.yaml"));
      const { sha256 } = await done(cwd, "data", "validate-manifest", `ep.${language}.manifest.json`, "--no-files");
      const params =
        `{dataset: ep.${language}, manifest_path: ep.${language}.manifest.json, manifest_sha256: ${sha256}, ` +
        "draw_count: 20, draw_seed: 3}";
      await Deno.writeTextFile(join(cwd, "texts.yaml"), text.replace(/params: .*/, `params: ${params}`));
      const { run_id } = await done(cwd, "recipe", "run", "texts.yaml");
      const batch = JSON.parse(await Deno.readTextFile(join(cwd, ".svc/runs", run_id, "artifacts/data/texts.json")));
      return batch.items.map(({ text }: { text: string }) => text.split(" "));
    };
    const english = await drawn("en");
    assert.deepEqual(await drawn("de"), english.map(([number]: string[]) => [number, "de"]));
    await Deno.writeTextFile(join(cwd, "ep.de"), "changed");
    const { code: refused, json: why } = await svc(["data", "validate-manifest", "ep.de.manifest.json", "--json"], {
      cwd,
    });
    assert.deepEqual([refused === 0, why.code], [false, "boundary_hash_mismatch"]);

    await Deno.writeFile(join(cwd, "latin.txt"), new Uint8Array([71, 114, 246, 223, 101]));
    await Deno.writeTextFile(join(cwd, "long.txt"), "x".repeat(2 ** 20 + 1));
    for (const args of [["captions.csv", "--column", "text", "--force"], ["latin.txt"], ["long.txt"]]) {
      const { code, json } = await svc(["data", "make-manifest", ...args, "--out", "none.json", "--json"], { cwd });
      assert.deepEqual([code, json.code], [3, "text_manifest_invalid"], args[0]);
    }
    await assert.rejects(Deno.stat(join(cwd, "none.json")), Deno.errors.NotFound);
  }),
);

Deno.test(
  "own images: pictures of a run, and gc removes what a killed run left",
  inFolder(async (cwd) => {
    await Deno.mkdir(join(cwd, "photos"));
    for (const name of ["camera", "chelsea"]) {
      await Deno.copyFile(
        new URL(`../../recipes/samples/${name}.png`, import.meta.url),
        join(cwd, `photos/${name}.png`),
      );
    }
    const { sha256 } = await done(cwd, "data", "make-manifest", "photos");
    await Deno.writeTextFile(
      join(cwd, "photos.yaml"),
      `name: photos
metadata: {seed: 3}
steps:
  - id: data
    op: source.image_dataset
    params: {dataset: photos, image_ids: "", split: test, manifest_path: photos/manifest.json, manifest_sha256: ${sha256}, crop_size: 64}
  - {id: sender, op: model.jpeg_encode, params: {quality: 40}, inputs: {images: data.images}}
  - {id: receiver, op: model.jpeg_decode, inputs: {bits: sender.bits}}
`,
    );
    const { run_id } = await done(cwd, "recipe", "run", "photos.yaml");
    await done(cwd, "runs", "pictures", run_id, "--out", "pictures");
    const names = [...Deno.readDirSync(join(cwd, "pictures"))].map(({ name }) => name).sort();
    for (const name of ["camera", "chelsea"]) {
      assert.equal(names.filter((file) => file.includes(name) && file.endsWith(".png")).length, 2, names.join());
    }
    for (const name of names.filter((name) => name.endsWith(".png"))) {
      decodePng(parsePng(await Deno.readFile(join(cwd, "pictures", name))));
    }

    await Deno.writeTextFile(join(cwd, "long.yaml"), JSON.stringify(LONG));
    const child = new Deno.Command(Deno.execPath(), {
      args: [...CLI_ARGS, "recipe", "run", "long.yaml"],
      cwd,
      stdout: "null",
      stderr: "null",
    }).spawn();
    const bundle = () => [...Deno.readDirSync(join(cwd, ".svc/runs"))].find(({ name }) => name.endsWith("_long"));
    let ended = false;
    const end = child.status.finally(() => ended = true);
    await until("the run has its bundle", () => ended || bundle() !== undefined);
    assert.ok(!ended, "it ended before it was killed");
    child.kill("SIGKILL");
    await end;
    const { name: killed } = bundle()!;
    const listed = await done(cwd, "runs", "list");
    assert.equal(listed.runs.find((row: { run_id: string }) => row.run_id === killed).status, "incomplete");
    const gc = ["runs", "gc", "--incomplete", "0s"];
    const planned = await done(cwd, ...gc, "--dry-run");
    assert.ok(planned.items.some((item: { path: string }) => item.path === `runs/${killed}`), JSON.stringify(planned));
    assert.notEqual(bundle(), undefined);
    const { items } = await done(cwd, ...gc);
    assert.deepEqual(items, planned.items);
    assert.equal(bundle(), undefined);
    assert.equal((await done(cwd, "runs", "verify", run_id)).status, "valid");
    const removing = ["runs", "remove", "--recipe", "photos"];
    assert.equal((await done(cwd, ...removing, "--dry-run")).runs.length, 1);
    assert.equal((await done(cwd, ...removing, "--yes")).runs.length, 1);
    assert.deepEqual((await done(cwd, "runs", "list")).runs, []);
  }),
);
