import assert from "node:assert/strict";
import { join } from "node:path";
import { openNpz } from "../../../lib/artifact/npz.ts";
import type { JsonObject } from "../../../lib/contract/value.ts";
import { ROOT_PATH } from "../../support/paths.ts";
import { link, TAPS } from "../capture/_link.ts";
import { openTestServer, readStream } from "./support.ts";

const plan = {
  dataset_capture: {
    taps: TAPS,
    split_plan: { total_samples: 10, percentages: { train: 80, validation: 10, test: 10 } },
  },
};

Deno.test("a plan is derived, exported, captured and watched over HTTP", async () => {
  await using server = await openTestServer();
  const recipe = link();
  const inspection = (await server.post("/api/recipe/differentiable-inspect", { recipe, training_plan: plan })).json;
  assert.deepEqual(inspection.selected_steps, ["receiver"]);
  assert.deepEqual(inspection.capture_sizes.map(({ split, records }: JsonObject) => [split, records]), [
    ["train", 8],
    ["validation", 1],
    ["test", 1],
  ]);
  const made = await server.post("/api/recipe/differentiable-export", { recipe, training_plan: plan });
  assert.equal(made.status, 200, made.text);
  const { out, scenario_sha256, training_plan_sha256 } = made.json;
  assert.equal(out, "training_projects/small_link");
  assert.deepEqual([scenario_sha256, training_plan_sha256], [
    inspection.scenario_sha256,
    inspection.training_plan_sha256,
  ]);

  const states: string[] = [];
  const watched = readStream(
    await server.request(`/api/workbench/exported-project-watch?path=${out}`),
    (messages) => {
      states.splice(
        0,
        states.length,
        ...messages.map(({ data }) => (data.capture_jobs as { state: string }[])[1].state),
      );
      return states.includes("captured");
    },
  );
  const taken = (await server.post("/api/dataset-capture-jobs", { project_path: out, split: "validation" })).json;
  const ended = (await server.get(`/api/dataset-capture-jobs/${taken.job_id}/wait?timeout_seconds=60`)).json;
  assert.equal(ended.state, "completed", JSON.stringify(ended.error));
  assert.deepEqual(ended.result.out, `${out}/data/validation`);
  assert.ok(
    ended.events.some(({ kind, phase }: { kind: string; phase: string }) =>
      kind === "capture_phase" && phase === "finalizing"
    ),
  );
  await watched;
  assert.deepEqual([states[0], states.at(-1)], ["missing", "captured"]);
  assert.equal(server.service.events.streams, 0);

  const test = await server.post("/api/recipe/dataset-capture-run", { project_path: out, split: "test" });
  assert.deepEqual([test.status, test.json.captured_samples], [200, 1], test.text);
  const shard = openNpz(Deno.readFileSync(join(server.folder, ".svc", test.json.out, "shards/shard_0000.npz")));
  assert.deepEqual(shard.array("rx").shape, [1, 16]);
  const view = (await server.get(`/api/workbench/exported-project?path=${out}`)).json;
  assert.deepEqual(view.capture_jobs.map(({ state }: { state: string }) => state), ["missing", "captured", "captured"]);
  assert.ok(!JSON.stringify([view, ended, made.json]).includes(server.folder), "no place of this machine is told");
});

Deno.test("networks of a project are sealed and imported, and its losses are read as they grow", async () => {
  await using server = await openTestServer();
  const { out: path } =
    (await server.post("/api/recipe/differentiable-export", { recipe: link(), training_plan: plan })).json;
  const project = join(server.folder, ".svc", path);
  const view = async () => (await server.get(`/api/workbench/exported-project?path=${path}`)).json;
  const { curve, checkpoint, package: sealed } = await view();
  assert.deepEqual([curve, checkpoint, sealed], [[], false, { path: ".", state: "missing" }]);
  const seal = () => server.post("/api/workbench/exported-project-package", { path });
  assert.equal((await seal()).status, 422);

  await Deno.writeTextFile(
    join(project, "curve.csv"),
    "epoch,seconds,train_loss,validation_loss\n1,2,0.5,0.4\n2,4,0.3",
  );
  await Deno.writeTextFile(join(project, "checkpoint.pt"), "");
  await Deno.mkdir(join(project, "package"));
  await Deno.copyFile(
    join(project, "trained_artifact.template.yaml"),
    join(project, "package/trained_artifact.template.yaml"),
  );
  await Deno.copyFile(
    join(ROOT_PATH, "recipes/models/qpsk-iq-receiver-v1/receiver.onnx"),
    join(project, "package/receiver.onnx"),
  );
  const trained = await view();
  assert.deepEqual(trained.curve, [{ epoch: 1, train_loss: 0.5, validation_loss: 0.4 }]);
  assert.deepEqual([trained.checkpoint, trained.package], [true, { path: "package", state: "exported" }]);
  const { status, json, text } = await seal();
  assert.equal(status, 201, text);
  assert.deepEqual(json.operations, ["demodulation.neural_receiver_adapter"]);
  assert.ok(!text.includes(server.folder));
  assert.equal((await view()).package.state, "sealed");
  assert.equal((await server.get(`/api/trained-artifacts/${json.artifact_package_sha256}`)).status, 200);
});

Deno.test("a capture of a recipe goes below dataset_captures, where its files can be read", async () => {
  await using server = await openTestServer();
  const body = { recipe: link(), split: "train", samples: 2, out: "mine/train" };
  const { json } = await server.post("/api/recipe/dataset-capture-run", body);
  assert.equal(json.out, "dataset_captures/mine/train");
  const shown = (await server.get(`/api/artifact?path=${json.out}/schema.json`)).json;
  assert.match(shown.preview.text, /"kind": "svc.capture_dataset"/);
  const short = await server.post("/api/recipe/dataset-capture-run", { ...body, out: "short", max_bytes: 160 });
  assert.deepEqual([short.status, short.json.captured_samples], [200, 1], short.text);
  const again = await server.post("/api/recipe/dataset-capture-run", body);
  assert.deepEqual([again.status, again.json.code], [409, "capture_conflict"]);
  assert.ok(!again.text.includes(server.folder));
  assert.equal((await server.post("/api/recipe/dataset-capture-run", { ...body, force: true })).status, 200);
});

Deno.test("no place leads out of the state directory", async () => {
  await using server = await openTestServer();
  await Deno.mkdir(join(server.folder, ".svc/training_projects"), { recursive: true });
  await Deno.mkdir(join(server.folder, "outside"));
  await Deno.symlink(join(server.folder, "outside"), join(server.folder, ".svc/training_projects/link"));
  for (const out of ["../x", "/etc/x", "a/../../x", "link/x", "link", "a\\b", ""]) {
    const reply = await server.post("/api/recipe/differentiable-export", { recipe: link(), out });
    assert.deepEqual([reply.status, reply.json.code], [403, "path_forbidden"], out);
    const capture = await server.post("/api/dataset-capture-jobs", { recipe: link(), samples: 1, out: `../${out}` });
    assert.equal(capture.status, 403, out);
  }
  for (const path of ["training_projects/link", "training_projects/../runs", "runs/x"]) {
    assert.equal((await server.get(`/api/workbench/exported-project?path=${path}`)).status, 403, path);
  }
  assert.deepEqual([...Deno.readDirSync(join(server.folder, "outside"))], []);
});

Deno.test("a configuration that cannot be used is refused before a job is made of it", async () => {
  await using server = await openTestServer();
  const reply = await server.post("/api/dataset-capture-jobs", {
    recipe: link(),
    training_plan: { dataset_capture: { samples: 0, taps: [{ id: "x", from: "nowhere.bits" }] } },
  });
  assert.deepEqual([reply.status, reply.json.code], [400, "dataset_capture_invalid"]);
  assert.deepEqual(reply.json.diagnostics.map(({ pointer }: { pointer: string }) => pointer), [
    "/dataset_capture/samples",
    "/dataset_capture/taps/0/from",
  ]);
  assert.deepEqual((await server.get("/api/dataset-capture-jobs")).json.jobs, []);
});
