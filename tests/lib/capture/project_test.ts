import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { exportedGraph, exportTrainingProject } from "../../../lib/capture/export_project.ts";
import { PROJECT_FILE, projectCapture, viewTrainingProject } from "../../../lib/capture/project.ts";
import type { JsonObject } from "../../../lib/contract/value.ts";
import { openWorkspace } from "../../../lib/run/workspace.ts";
import { readTrainingPlan } from "../../../lib/training/training_plan.ts";
import { capturing, link, registry, TAPS } from "./_link.ts";

const PLAN = {
  framework: "torch",
  dataset_capture: {
    taps: TAPS,
    split_plan: { total_samples: 10, percentages: { train: 80, validation: 10, test: 10 } },
  },
};
const exported = (folder: string, more: JsonObject & { force?: boolean } = {}) => {
  const { force, ...plan } = more;
  const workspace = openWorkspace({ projectRoot: folder });
  return exportTrainingProject({
    raw: link(),
    plan: readTrainingPlan({ ...PLAN, ...plan }),
    registry,
    workspace,
    force,
  });
};

Deno.test(
  "a project is exported whole, and its data and other files outlive a new export",
  capturing(async (capture, folder) => {
    const { out, files } = await exported(folder);
    assert.equal(out, join(folder, ".svc/training_projects/small_link"));
    for (const path of files) assert.ok(existsSync(join(out, path)), path);
    const { raw, out: place, job } = projectCapture(out, "test");
    assert.equal(job.requested_samples, 1);
    await capture(raw as JsonObject, (raw as JsonObject).dataset_capture as JsonObject, { out: place });
    await Deno.writeTextFile(join(out, "model.py"), "mine");
    await Deno.writeTextFile(join(out, "receiver.onnx"), "weights");
    const view = viewTrainingProject(out);
    assert.deepEqual(view.capture_jobs.map(({ state }) => state), ["missing", "missing", "captured"]);
    assert.deepEqual([view.others, view.components[0].present], [["model.py", "networks.py", "receiver.onnx"], true]);

    await assert.rejects(exported(folder), { code: "training_project_conflict" });
    // Another objective is another plan: what was captured under the former says so.
    await exported(folder, { objective: "bce", force: true });
    const again = viewTrainingProject(out);
    assert.equal(again.capture_jobs[2].state, "outdated");
    assert.equal(again.identities.scenario_sha256, view.identities.scenario_sha256);
    assert.equal(await Deno.readTextFile(join(out, "model.py")), "mine");
    await Deno.writeTextFile(join(out, "README.md"), "changed");
    assert.deepEqual(viewTrainingProject(out).files.filter(({ state }) => state !== "unchanged"), [
      { path: "README.md", state: "changed" },
    ]);
  }),
);

Deno.test(
  "a project from somebody else writes nowhere but below itself",
  capturing(async (_capture, folder) => {
    const { out } = await exported(folder);
    const path = join(out, PROJECT_FILE);
    const manifest = await Deno.readTextFile(path);
    const refused = (text: string) => {
      Deno.writeTextFileSync(path, text);
      assert.throws(() => projectCapture(out, "train"), { code: "training_project_changed" });
    };
    refused(manifest.replace("output_dir: data/train", "output_dir: ../../elsewhere"));
    refused(manifest.replace("recipe_path: capture_train_recipe.yaml", "recipe_path: /etc/passwd"));
    refused(manifest.replace("split: train", "split: test"));
    Deno.writeTextFileSync(path, manifest.replace("version: 1", "version: 2"));
    assert.throws(() => viewTrainingProject(out), { code: "training_project_not_found" });
    Deno.writeTextFileSync(path, manifest);
    await Deno.writeTextFile(join(out, "capture_train_recipe.yaml"), "name: another\n");
    assert.throws(() => projectCapture(out, "train"), { code: "training_project_changed" });
    await Deno.remove(join(out, "data/test"), { recursive: true });
    await Deno.symlink(folder, join(out, "data/test"));
    assert.throws(() => projectCapture(out, "test"), /symbolic link/);
  }),
);

Deno.test("the graph names the part of each block, and nothing can be exported where nothing can be replaced", async () => {
  const { nodes } = exportedGraph({ raw: link(), plan: readTrainingPlan(PLAN), registry });
  const roles = Object.fromEntries((nodes as JsonObject[]).map(({ id, training_role }) => [id, training_role]));
  assert.deepEqual(roles, {
    data: "context",
    modulator: "context",
    wireless_channel: "context",
    receiver: "selected",
    ber: "evaluation",
  });
  const bits = { name: "bits", steps: [{ id: "data", op: "source.random_bits" }] };
  await assert.rejects(
    exportTrainingProject({ raw: bits, registry, workspace: openWorkspace({ projectRoot: "/nowhere" }) }),
    { code: "training_plan_invalid" },
  );
});
