import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { join } from "node:path";
import { openNpz } from "../../../lib/artifact/npz.ts";
import { type JsonObject, parseJson } from "../../../lib/contract/json.ts";
import { createCancellation } from "../../../lib/execute/cancellation.ts";
import { runRecipe } from "../../../lib/run/run.ts";
import { openWorkspace } from "../../../lib/run/workspace.ts";
import { capturing, link, registry, TAPS } from "./_link.ts";

// deno-lint-ignore no-explicit-any -- documents of several shapes are looked into
const document = (...path: string[]): any => parseJson(Deno.readTextFileSync(join(...path)));
const shard = (out: string, number = 0) =>
  openNpz(Deno.readFileSync(join(out, `shards/shard_${String(number).padStart(4, "0")}.npz`)));

/** Every file below a folder and its digest. */
function digests(folder: string, below = ""): Record<string, string> {
  return Object.fromEntries(
    [...Deno.readDirSync(join(folder, below))].flatMap(({ name, isDirectory }) => {
      const path = join(below, name);
      if (isDirectory) return Object.entries(digests(folder, path));
      return [[path, createHash("sha256").update(Deno.readFileSync(join(folder, path))).digest("hex")]];
    }),
  );
}

Deno.test(
  "a limit of bytes lowers the number of records, with a warning; less than a record is refused",
  capturing(async (capture, folder) => {
    // A record has 16 complex64 symbols and 32 bits: 160 bytes.
    const config = { samples: 9, taps: TAPS };
    const made = await capture(link(), config, { maxBytes: 500, out: join(folder, "a") });
    assert.deepEqual([made.captured_samples, made.diagnostics.map(({ code }) => code)], [3, ["capture_short"]]);
    assert.equal(openNpz(Deno.readFileSync(join(folder, "a/shards/shard_0000.npz"))).array("rx").shape[0], 3);
    await assert.rejects(capture(link(), config, { maxBytes: 100, out: join(folder, "b") }), {
      code: "dataset_capture_invalid",
    });
    const enough = await capture(link(), config, { maxBytes: 1440, out: join(folder, "c") });
    assert.deepEqual([enough.captured_samples, enough.diagnostics], [9, []]);
  }),
);

Deno.test(
  "a capture writes shards of records, and documents that say where they came from",
  capturing(async (capture, folder) => {
    const phases: string[] = [];
    const result = await capture(link(), { split: "train", samples: 5, shard_size: 2, taps: TAPS }, {
      onEvent: ({ fields }) => phases.push(String(fields.phase)),
    });
    assert.deepEqual([result.status, result.captured_samples, result.number_of_shards], ["completed", 5, 3]);
    const out = join(folder, ".svc/dataset_captures/small_link/train");
    assert.equal(result.out, out);
    assert.deepEqual([...new Set(phases)], [
      "validating",
      "preparing",
      "executing",
      "capturing",
      "writing",
      "finalizing",
      "completed",
    ]);
    const { rx, bits } = { rx: shard(out).array("rx"), bits: shard(out, 2).array("bits") };
    assert.deepEqual([rx.dtype, rx.shape, bits.dtype, bits.shape], ["complex64", [2, 16], "uint8", [1, 32]]);

    const schema = document(out, "schema.json");
    assert.deepEqual([schema.kind, schema.split, schema.captured_samples], ["svc.capture_dataset", "train", 5]);
    assert.deepEqual(schema.runs.map(({ name, seed }: { name: string; seed: number }) => [name, seed])[4], [
      "small_link_train_dataset_capture_0004",
      27,
    ]);
    for (const { path, sha256 } of schema.shards) assert.equal(digests(out)[path], sha256);
    for (const [path, sha256] of Object.entries(schema.files)) assert.equal(digests(out)[path], sha256);
    assert.deepEqual(Object.keys(schema.files).sort(), [
      "channel_distribution.json",
      "matrix_distribution.json",
      "recipe.json",
      "record_digests.npz",
      "split.json",
      "tap_manifest.json",
    ]);
    assert.equal(schema.channel_distribution[0].records, 5);
    assert.equal(document(out, "split.json").records, 5);
    // No run left anything but its records.
    assert.deepEqual([...Deno.readDirSync(join(folder, ".svc"))].map(({ name }) => name), ["dataset_captures"]);
  }),
);

Deno.test(
  "a record is what a run of the kept recipe with its seed gives",
  capturing(async (capture, folder) => {
    const { out } = await capture(link(), { samples: 2, taps: TAPS });
    const recipe = document(out, "recipe.json");
    assert.deepEqual(recipe.steps.map(({ id }: { id: string }) => id), ["data", "modulator", "wireless_channel"]);
    const { dataset_capture: _config, ...alone } = recipe;
    const workspace = openWorkspace({ projectRoot: folder });
    const raw = { ...alone, metadata: { ...alone.metadata, seed: 24 } };
    const { directory } = await runRecipe({ raw, registry, workspace, cancellation: createCancellation() });
    const npz = openNpz(Deno.readFileSync(join(directory, "artifacts/wireless_channel/rx_symbols.npz")));
    const rx = shard(out).array("rx").data as Float32Array;
    assert.deepEqual(rx.subarray(32), npz.array("rx_symbols").data);
  }),
);

Deno.test(
  "neither workers nor a second capture change a byte",
  capturing(async (capture, folder) => {
    const config = { samples: 6, shard_size: 4, taps: TAPS };
    const first = await capture(link(), config, { out: join(folder, "a") });
    const second = await capture(link(), config, { out: join(folder, "b"), parallelWorkers: 3 });
    assert.equal(first.schema_sha256, second.schema_sha256);
    assert.deepEqual(digests(join(folder, "a")), digests(join(folder, "b")));
  }),
);

Deno.test(
  "points of a matrix take turns, and dimensions of steps that are left out are gone",
  capturing(async (capture) => {
    const recipe = link({
      matrix: {
        dimensions: { snr_db: [0, 6], mode: ["reference_qpsk", "linear_npz"] },
        step_params: { wireless_channel: { snr_db: { matrix: "snr_db" } }, receiver: { mode: { matrix: "mode" } } },
      },
    });
    const { out } = await capture(recipe, { samples: 5, taps: TAPS });
    const schema = document(out, "schema.json");
    assert.deepEqual(
      schema.matrix_distribution.map((
        { selection, records }: { selection: unknown; records: number },
      ) => [selection, records]),
      [[{ snr_db: 0 }, 3], [{ snr_db: 6 }, 2]],
    );
    assert.deepEqual(schema.runs[1].selection, { snr_db: 6 });
    const excluded = await capture(recipe, { samples: 2, matrix_mode: "exclude", taps: TAPS }, { force: true });
    assert.deepEqual(document(excluded.out, "schema.json").matrix_distribution, []);
  }),
);

Deno.test(
  "a sweep goes through all its combinations in turn",
  capturing(async (capture) => {
    const sweep = { "wireless_channel.snr_db": [0, 3], "modulator.modulation": ["qpsk"] };
    const { out } = await capture(link(), { samples: 3, sweep, taps: TAPS });
    const schema = document(out, "schema.json");
    assert.deepEqual(schema.sweep_distribution.map(({ records }: { records: number }) => records), [2, 1]);
    assert.deepEqual(schema.channel_distribution.map(({ params }: { params: { snr_db: number } }) => params.snr_db), [
      0,
      3,
    ]);
  }),
);

Deno.test(
  "splits draw different numbers, and a split that repeats records of another is refused",
  capturing(async (capture, folder) => {
    await capture(link(), { samples: 4, taps: TAPS }, { split: "train", out: join(folder, "data/train") });
    const test = await capture(link(), { samples: 4, taps: TAPS }, { split: "test", out: join(folder, "data/test") });
    assert.equal(test.duplicate_records, 0);
    assert.deepEqual(document(test.out, "split.json").disjoint_from, ["train"]);

    // A source without randomness has the same records in every split.
    const fixed = link();
    fixed.steps = fixed.steps.slice(0, 1);
    const bits = { samples: 1, seed_mode: "fixed_seed", taps: [{ id: "bits", from: "data.bits" }] };
    fixed.steps[0].params = { bit_count: 32, seed: 5 };
    await capture(fixed, bits, { split: "train", out: join(folder, "fixed/train") });
    await assert.rejects(
      capture(fixed, bits, { split: "validation", out: join(folder, "fixed/validation") }),
      { code: "capture_splits_overlap" },
    );
    assert.deepEqual([...Deno.readDirSync(join(folder, "fixed"))].map(({ name }) => name), ["train"]);
  }),
);

Deno.test(
  "a written seed gives way, unless it is asked for; repeated records are counted",
  capturing(async (capture) => {
    const recipe = link();
    recipe.steps[0].params = { bit_count: 32, seed: 7 };
    const config = { samples: 3, taps: [{ id: "bits", from: "data.bits" }] };
    const free = await capture(recipe, config);
    assert.equal(free.duplicate_records, 0);
    assert.deepEqual(free.diagnostics.map(({ code }) => code), ["capture_seed_released"]);
    const fixed = await capture(recipe, { ...config, seed_mode: "fixed_seed" }, { force: true });
    assert.equal(fixed.duplicate_records, 2);
    assert.deepEqual(fixed.diagnostics.map(({ code }) => code), ["capture_seed_fixed", "capture_duplicates"]);
  }),
);

Deno.test(
  "an earlier capture stays as it was when another is refused, fails or is canceled",
  capturing(async (capture, folder) => {
    const config = { samples: 2, taps: TAPS };
    const { out } = await capture(link(), config);
    const before = digests(out);
    await assert.rejects(capture(link(), config), { code: "capture_conflict" });
    const failing = link();
    failing.steps[1].params = { modulation: "bpsk" };
    failing.steps[3].params = { mode: "reference_qpsk", modulation: "auto" };
    await assert.rejects(
      capture(failing, { samples: 2, taps: [{ id: "llr", from: "receiver.llr" }] }, { force: true }),
      /it failed at receiver/,
    );
    const cancellation = createCancellation();
    const canceled = await capture(link(), { ...config, samples: 50 }, {
      force: true,
      cancellation,
      onEvent: ({ fields }) => fields.phase === "capturing" && cancellation.cancel(),
    });
    assert.deepEqual([canceled.status, canceled.schema_sha256], ["canceled", null]);
    assert.deepEqual(digests(out), before);
    assert.deepEqual([...Deno.readDirSync(join(out, ".."))].map(({ name }) => name), ["train"]);

    await Deno.mkdir(join(folder, "mine"));
    await Deno.writeTextFile(join(folder, "mine/thesis.txt"), "years of work");
    await assert.rejects(capture(link(), config, { out: join(folder, "mine"), force: true }), {
      code: "capture_conflict",
    });
  }),
);

Deno.test(
  "records that do not agree are refused",
  capturing(async (capture) => {
    const grown = { samples: 2, sweep: { "data.bit_count": [32, 64] }, taps: TAPS };
    await assert.rejects(capture(link(), grown), /Cannot join the records of rx/);
  }),
);

Deno.test(
  "the further arrays of an output are captured with it, and labels are paired with the rows they are of",
  capturing(async (capture) => {
    const positions: JsonObject = {
      name: "positions",
      metadata: { seed: 3 },
      steps: [
        { id: "data", op: "source.localization_geometry" },
        { id: "range", op: "wireless.range_observation", inputs: { scene: "data.scene" } },
      ],
    };
    const taps: JsonObject[] = [{ id: "seen", from: "range.observation" }, {
      id: "truth",
      from: "range.truth",
      array: "truth",
    }];
    const { out } = await capture(positions, { samples: 3, taps });
    const file = shard(out);
    assert.deepEqual(file.names.filter((name) => name !== "metadata_json").sort(), ["seen", "seen__anchors", "truth"]);
    assert.deepEqual([file.array("seen").shape, file.array("seen__anchors").shape], [[3, 4], [3, 4, 2]]);
    const [seen] = document(out, "tap_manifest.json").taps;
    assert.deepEqual(Object.keys(seen.arrays), ["seen", "seen__anchors"]);

    const frames: JsonObject = {
      name: "frames",
      metadata: { seed: 3 },
      steps: [{ id: "data", op: "source.modulation_frames" }],
    };
    const labeled = [{ id: "iq", from: "data.frames" }, { id: "label", from: "data.labels" }];
    const made = await capture(frames, { samples: 5, taps: labeled });
    assert.deepEqual(shard(made.out).array("label").shape, [5]);
  }),
);
