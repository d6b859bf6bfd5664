import assert from "node:assert/strict";
import { join } from "node:path";
import { openNpz } from "../../lib/artifact/npz.ts";
import { inFolder, svc } from "../support/cli.ts";
import { ROOT_PATH } from "../support/paths.ts";

const RECIPE = join(ROOT_PATH, "recipes/recipe_starters/neural_receiver_qpsk_iq_calibration.yaml");
/** A network that was trained for this front end, in place of what a trainer would bring. */
const TRAINED = join(ROOT_PATH, "recipes/models/qpsk-iq-receiver-v1/receiver.onnx");

Deno.test(
  "from a recipe to a project, its data, a packaged network, and back into the recipe",
  inFolder(async (cwd) => {
    const inspected = (await svc(["differentiable", "inspect", RECIPE, "--json"], { cwd })).json;
    assert.deepEqual(inspected.selected_steps, ["demodulator"]);

    const exported = await svc(
      ["differentiable", "export", RECIPE, "--framework", "torch", "--samples", "10", "--out", "rx", "--json"],
      { cwd },
    );
    assert.equal(exported.code, 0, exported.stderr);
    assert.equal(exported.json.scenario_sha256, inspected.scenario_sha256);
    const listed = [...Deno.readDirSync(join(cwd, "rx"))].map(({ name }) => name).sort();
    assert.deepEqual(listed, [
      "README.md",
      "capture_test_recipe.yaml",
      "capture_train_recipe.yaml",
      "capture_validation_recipe.yaml",
      "data",
      "data_contract.yaml",
      "interfaces.py",
      "networks.py",
      "package_artifact.py",
      "project_manifest.yaml",
      "scenario.json",
      "scenario.py",
      "scenario_graph.json",
      "svc_recipe.yaml",
      "tests",
      "train.py",
      "trained_artifact.template.yaml",
      "training_contract.yaml",
      "training_plan.yaml",
      "twins",
      "validate_contract.py",
    ]);
    // Both identities stand in what is exported, and in what is captured from it.
    const identities = [exported.json.scenario_sha256, exported.json.training_plan_sha256];
    for (const file of ["training_contract.yaml", "data_contract.yaml", "project_manifest.yaml", "interfaces.py"]) {
      const text = Deno.readTextFileSync(join(cwd, "rx", file));
      for (const identity of identities) assert.ok(text.includes(identity), file);
    }

    const captured = (await svc(["dataset-capture", "run", "rx", "--parallel-workers", "2", "--json"], { cwd })).json;
    assert.deepEqual(
      captured.captures.map((row: { split: string; captured_samples: number }) => [row.split, row.captured_samples]),
      [["train", 8], ["validation", 1], ["test", 1]],
    );
    const train = openNpz(Deno.readFileSync(join(cwd, "rx/data/train/shards/shard_0000.npz")));
    assert.deepEqual(train.array("receiver_frontend_rx_symbols").shape, [8, 2048]);
    assert.deepEqual(train.array("payload_bit_boundary_bits").shape, [8, 4096]);
    const schema = JSON.parse(Deno.readTextFileSync(join(cwd, "rx/data/train/schema.json")));
    assert.deepEqual([schema.scenario_sha256, schema.training_plan_sha256], identities);
    assert.deepEqual((await svc(["dataset-capture", "run", "rx", "--split", "test"], { cwd })).code, 3);

    await Deno.copyFile(TRAINED, join(cwd, "rx/receiver.onnx"));
    const packaged = (await svc(["artifact", "package", "rx", "--out", "rx.zip", "--json"], { cwd })).json;
    assert.equal((await svc(["artifact", "import", "rx.zip"], { cwd })).code, 0);
    const ber = async (...settings: string[]) => {
      const args = settings.flatMap((setting) => ["--set", `demodulator.${setting}`]);
      const run = await svc([
        "recipe",
        "run-matrix",
        "rx/svc_recipe.yaml",
        "--points",
        "snr_db=10.0",
        "--json",
        ...args,
      ], {
        cwd,
      });
      assert.equal(run.code, 0, run.stderr + run.stdout);
      return run.json.rows[0].metrics.ber["channel.ber"] ?? run.json.rows[0].metrics.ber.ber;
    };
    const learned = await ber(
      "mode=learned_artifact",
      "modulation=qpsk",
      `artifact_package_sha256=${packaged.package_sha256}`,
    );
    const reference = await ber("mode=reference_qpsk");
    assert.ok(learned < reference / 10, `${learned} against ${reference}`);
  }),
);

Deno.test(
  "what cannot be trained, captured or exported is refused with what helps",
  inFolder(async (cwd) => {
    const select = await svc(["differentiable", "inspect", RECIPE, "--select", "modulator"], { cwd });
    assert.equal(select.code, 3);
    assert.match(select.stderr, /Cannot replace modulator[\s\S]*It can be demodulator/);
    const nothing = await svc(["differentiable", "export", join(ROOT_PATH, "recipes/bit_transport_awgn.yaml")], {
      cwd,
    });
    assert.equal(nothing.code, 3);
    assert.match(nothing.stderr, /none of its steps can be replaced/);
    const tap = await svc(["dataset-capture", "run", RECIPE, "--samples", "1", "--tap", "x=demodulator.lr"], { cwd });
    assert.equal(tap.code, 3);
    assert.match(tap.stderr, /Did you mean llr\?/);
    assert.equal((await svc(["dataset-capture", "run", "absent.yaml"], { cwd })).code, 4);
    assert.equal((await svc(["dataset-capture", "run", "."], { cwd })).code, 4);
    assert.equal((await svc(["dataset-capture", "run", RECIPE, "--samples", "few"], { cwd })).code, 2);
    const help = await svc(["dataset-capture", "run", "--help"], { cwd });
    assert.ok(help.stdout.includes("svc dataset-capture run recipe.yaml --samples 1000"));
    assert.deepEqual([...Deno.readDirSync(cwd)], []);
  }),
);
