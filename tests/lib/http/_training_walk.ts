/** Asks every training route for every status that it documents. */
import { join } from "node:path";
import { MAX_STREAMS } from "../../../lib/http/stream.ts";
import { ROOT_PATH } from "../../support/paths.ts";
import { link, TAPS } from "../capture/_link.ts";
import type { Asked, TestServer } from "./support.ts";

export interface Asker {
  get(path: string, headers?: Record<string, string>): Promise<Asked>;
  post(path: string, body: unknown, headers?: Record<string, string>): Promise<Asked>;
  stream(path: string, headers?: Record<string, string>): Promise<void>;
}

const JOBS = "/api/dataset-capture-jobs", NOW = "/api/recipe/dataset-capture-run";

/** A capture that takes a while, and looks for its cancellation between runs. */
const LONG = { recipe: link(), samples: 100_000, training_plan: { dataset_capture: { taps: TAPS } } };

export async function walkTraining(server: TestServer, { get, post, stream }: Asker): Promise<void> {
  const recipe = link(), wrong = { selected_steps: ["data"] };
  for (const path of ["inspect", "export-graph", "export"]) {
    await post(`/api/recipe/differentiable-${path}`, { recipe, training_plan: { dataset_capture: { taps: TAPS } } });
    await post(`/api/recipe/differentiable-${path}`, { recipe, training_plan: wrong });
  }
  await post("/api/recipe/differentiable-export", { recipe });
  await post("/api/recipe/differentiable-export", { recipe, out: "../x" });
  await get("/api/workbench/exported-projects");
  const project = "training_projects/small_link";
  for (const path of [project, "training_projects/nothing", "runs/x"]) {
    await get(`/api/workbench/exported-project?path=${path}`);
    await stream(`/api/workbench/exported-project-watch?path=${path}`);
    await post("/api/workbench/exported-project-package", { path });
  }
  await post("/api/workbench/exported-project-package", {});
  await Deno.copyFile(
    join(ROOT_PATH, "recipes/models/qpsk-iq-receiver-v1/receiver.onnx"),
    join(server.folder, ".svc", project, "receiver.onnx"),
  );
  await post("/api/workbench/exported-project-package", { path: project });

  await get(JOBS);
  const failing = link();
  failing.steps[1].params = { modulation: "bpsk" };
  const refused = [
    { recipe, path: "recipes/bits.yaml" },
    { path: "../x" },
    { project_path: "training_projects/nothing", split: "train" },
  ];
  for (const body of refused) {
    await post(JOBS, body);
    await post(NOW, body);
  }
  const { job_id } = (await post(JOBS, { project_path: project, split: "test", samples: 2 })).json;
  await get(`${JOBS}/${job_id}/wait?timeout_seconds=60`);
  for (const id of [job_id, "nothing"]) {
    await get(`${JOBS}/${id}`);
    await get(`${JOBS}/${id}/wait`);
    await stream(`${JOBS}/${id}/events`);
    await post(`${JOBS}/${id}/cancel`, {});
  }
  await stream(`${JOBS}/${job_id}/events`, { "last-event-id": "9999" });
  server.service.events.streams += MAX_STREAMS;
  await stream(`${JOBS}/${job_id}/events`);
  await stream(`/api/workbench/exported-project-watch?path=${project}`);
  server.service.events.streams -= MAX_STREAMS;

  await post(NOW, { project_path: project, split: "train", samples: 2 });
  await post(NOW, { project_path: project, split: "train", samples: 2 });
  await post(NOW, {
    recipe: failing,
    samples: 1,
    training_plan: { dataset_capture: { taps: [{ id: "x", from: "receiver.llr" }] } },
  });
  await Deno.writeTextFile(join(server.folder, ".svc", project, "capture_train_recipe.yaml"), "name: another\n");
  await post(JOBS, { project_path: project, split: "train" });
  for (let i = 0; i < 5; i++) await post(JOBS, { ...LONG, out: `long/${i}` });
  await post(NOW, { ...LONG, out: "long/now" });
  for (const { document } of server.service.jobs.list(["dataset_capture"])) server.service.jobs.cancel(document.job_id);
}

/** On a server whose clients do not wait. */
export async function walkHastyTraining({ post }: Asker): Promise<void> {
  await post(NOW, { recipe: link(), samples: 1 });
}
