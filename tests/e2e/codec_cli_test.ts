/** The learned codec from the command line: run, verified, reproduced to the bit; and what is missing, said at once. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { CLI_ARGS, inFolder, svc } from "../support/cli.ts";
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
    // The decoder may meet images of both bundled codecs; models that are not there have left no trace.
    assert.deepEqual(Object.keys(sender), ["svc_tiny_hyperprior"]);
    assert.deepEqual(Object.keys(receiver), ["svc_tiny_hyperprior", "svc_tiny_hyperprior_high"]);
    assert.deepEqual(sender.svc_tiny_hyperprior, receiver.svc_tiny_hyperprior);
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

/** A photograph through the four operations of a runtime. */
function codecOn(runtime: string): string {
  const model = "bundle.model";
  const step = (role: string, inputs: Record<string, string>) => ({
    id: role,
    op: `model.codeclib_${runtime}_${role}`,
    inputs: { ...inputs, model },
  });
  const steps = [
    {
      id: "data",
      op: "source.image_dataset",
      params: { dataset: "svc_sample_images", image_ids: "chelsea", crop_size: 64 },
    },
    {
      id: "bundle",
      op: "model.codeclib_export_onnx",
      inputs: { images: "data.images" },
      params: { model: "svc_tiny_hyperprior" },
    },
    step("encode", { images: "data.images" }),
    step("entropy_encode", { latents: "encode.latents" }),
    step("entropy_decode", { bits: "entropy_encode.bits" }),
    step("decode", { latents: "entropy_decode.latents" }),
    {
      id: "evaluation",
      op: "metrics.image_reconstruction",
      inputs: { reference: "data.images", reconstruction: "decode.images" },
    },
  ];
  return JSON.stringify({ schema_version: 1, name: runtime, metadata: { seed: 23 }, steps });
}

Deno.test(
  "a runtime that is not there is named while planning, with the reason",
  inFolder(async (cwd) => {
    await Deno.writeTextFile(join(cwd, "openvino.json"), codecOn("openvino"));
    const planned = await svc(["recipe", "run", "openvino.json"], { cwd });
    assert.equal(
      planned.stderr.match(/materialization_unavailable[^\n]*openvino-node contains no runtime/g)?.length,
      4,
    );

    await Deno.writeTextFile(join(cwd, "native.json"), codecOn("onnx_cpp"));
    const args = ["--deny-ffi", ...CLI_ARGS.slice(1), "recipe", "run", "native.json"];
    const { code, stderr } = await new Deno.Command(Deno.execPath(), { args: ["run", ...args], cwd }).output();
    assert.notEqual(code, 0);
    const message = /Cannot run decode without the runtime onnxruntime-node: native libraries may not be loaded/;
    assert.match(new TextDecoder().decode(stderr), message);
  }),
);

Deno.test(
  "the native runtime gives the image of the sandbox, where its package is",
  inFolder(async (cwd) => {
    const values: number[] = [];
    for (const runtime of ["onnx_cpp", "onnx"]) {
      await Deno.writeTextFile(join(cwd, `${runtime}.json`), codecOn(runtime));
      // The package is in no lock file, and nothing is fetched for a test.
      const args = ["run", "--no-lock", "--cached-only", ...CLI_ARGS.slice(1), "recipe", "run", `${runtime}.json`];
      const { code, stdout, stderr } = await new Deno.Command(Deno.execPath(), { args, cwd }).output();
      const said = new TextDecoder().decode(stderr) + new TextDecoder().decode(stdout);
      if (runtime === "onnx_cpp" && code !== 0) {
        console.log("skipped: deno cache npm:onnxruntime-node@1.30.0 brings the runtime");
        assert.match(said, /without the runtime onnxruntime-node: its package is not on this machine/);
        return;
      }
      assert.equal(code, 0, said);
      values.push(Number(/quality\.psnr_db +([\d.]+) dB/.exec(said)?.[1]));
    }
    assert.ok(Math.abs(values[0] - values[1]) < 0.02, `${values}`);
    assert.ok(values[0] > 25, `${values}`);
  }),
);
