/** The learned codec from the command line: run, verified, reproduced to the bit; and what is missing, said at once. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { inFolder, svc } from "../support/cli.ts";
import { ROOT_PATH } from "../support/paths.ts";

const recipe = (name: string) => join(ROOT_PATH, `recipes/${name}.yaml`);
const SMALL = ["--set", "data.image_ids=chelsea", "--set", "data.crop_size=64"];

Deno.test(
  "a run with the bundled codec says which files it used, and another gives the same bits",
  inFolder(async (cwd) => {
    const args = ["recipe", "run", recipe("image_codeclib_tiny_capacity_oracle_awgn"), ...SMALL, "--json"];
    const ran = await svc(args, { cwd });
    assert.equal(ran.code, 0, ran.stderr);
    const { run_id } = ran.json;
    const plan = JSON.parse(await Deno.readTextFile(join(cwd, `.svc/runs/${run_id}/execution-plan.json`)));
    const [sender, receiver] = ["sender", "receiver"].map((id) =>
      // deno-lint-ignore no-explicit-any -- a document
      plan.steps.find((step: any) => step.step_id === id).implementation_metadata.models
    );
    // What the decoder can do without has left no trace.
    assert.deepEqual([Object.keys(sender), Object.keys(receiver)], [["svc_tiny_hyperprior"], ["svc_tiny_hyperprior"]]);
    assert.deepEqual(sender, receiver);
    assert.match(sender.svc_tiny_hyperprior.files["synthesis.onnx"].sha256, /^[0-9a-f]{64}$/);
    const reproduced = await svc(["runs", "reproduce", run_id], { cwd });
    assert.equal(reproduced.code, 0, reproduced.stdout + reproduced.stderr);
    assert.match(reproduced.stdout, /^identical/m);
  }),
);

Deno.test(
  "the recipes on Kodak say what to fetch, and compiled networks why they do not run",
  inFolder(async (cwd) => {
    const refused = await svc(["recipe", "run", recipe("codeclib_q3_kodak_nr_ldpc_awgn")], { cwd });
    assert.notEqual(refused.code, 0);
    assert.match(refused.stderr, /dataset_unavailable[^]*svc data fetch kodak/);
    assert.match(refused.stderr, /model_unavailable[^]*svc_tiny_hyperprior/);

    const steps = [
      { id: "data", op: "source.image_dataset", params: { dataset: "svc_sample_images", image_ids: "chelsea" } },
      {
        id: "bundle",
        op: "model.codeclib_export_onnx",
        inputs: { images: "data.images" },
        params: { model: "svc_tiny_hyperprior" },
      },
      {
        id: "compiled",
        op: "model.codeclib_aoti_encode",
        inputs: { images: "data.images", model: "bundle.model" },
      },
    ];
    await Deno.writeTextFile(join(cwd, "compiled.json"), JSON.stringify({ name: "compiled", steps }));
    const wrong = await svc(["recipe", "run", "compiled.json"], { cwd });
    assert.notEqual(wrong.code, 0);
    assert.match(wrong.stderr, /materialization_unavailable[^]*codeclib_onnx/);
  }),
);
