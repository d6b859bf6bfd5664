/**
 * Every option of a session has an effect in every method that takes recipes, packs, templates or captures. Each method of
 * these groups that takes more of the session than its places stands in the table: with a test of the effect, or with the
 * document that it takes instead.
 */
import assert from "node:assert/strict";
import { join } from "node:path";
import { NOUNS } from "./nouns.ts";
import { SvcError } from "../../../lib/contract/error.ts";
import { parseJson } from "../../../lib/contract/json.ts";
import type { JsonObject } from "../../../lib/contract/value.ts";
import { open, type Session } from "../../../mod.ts";
import { holds, makeProject, MATRIX, OPTIONS, PERMISSIONS, type Project, RECIPE, TEMPLATE } from "./fixture.ts";

interface Means {
  svc: Session;
  /** The same session without the accelerator. */
  plain: Session;
  project: Project;
}

type Check = (means: Means) => Promise<void>;

/** The recipe has the defaults of the adapter's and of the own operation. */
function known(effective: { steps: JsonObject[] } | null): void {
  const params = (id: string) => effective!.steps.find((step) => step.id === id)!.params as JsonObject;
  assert.equal(Number(params("slices").bits_per_pixel), 1);
  assert.equal(params("indices").codebook_size, 100);
}

/** The bundle of a run: its plan, both steps that it completed, and the step that the accelerator was needed for. */
async function ran(directory: string): Promise<void> {
  const read = async (name: string) => parseJson(await Deno.readTextFile(join(directory, name))) as JsonObject;
  holds(await read("execution-plan.json") as { steps: JsonObject[] });
  const { steps, failure } = await read("summary.json");
  const status = (id: string) => (steps as JsonObject[]).find((step) => step.id === id)?.status;
  assert.deepEqual([status("slices"), status("indices")], ["completed", "completed"]);
  // The test may not load libraries; the accelerator has no fallback.
  assert.equal((failure as JsonObject).code, "runtime_unavailable");
}

/** A call that needs the accelerator. */
const needsAccelerator = (call: Promise<unknown>) =>
  assert.rejects(call, { message: /onnxruntime-node: native libraries may not be loaded/ });

const TAPS = [{ id: "slices", from: "slices.bits", record: "run" }, {
  id: "indices",
  from: "indices.indices",
  record: "run",
}];
const CAPTURE = { samples: 1, taps: TAPS, split: "train" as const };
const LEARNED = { ...CAPTURE, taps: [{ id: "bits", from: "demodulator.bits", record: "run" }] };
const PLAN = {
  dataset_capture: {
    taps: TAPS,
    split_plan: { total_samples: 10, percentages: { train: 80, validation: 10, test: 10 } },
  },
};

type Group = "recipes" | "runs" | "benchmarks" | "templates" | "training" | "validation";
const TABLE: Record<Group, Record<string, Check | string>> = {
  recipes: {
    list: "no document",
    read: "a file; it is compiled by the other methods",
    compile: async ({ svc }) => known((await svc.recipes.compile(RECIPE)).effective),
    compiled: async ({ svc }) => known((await svc.recipes.compiled(RECIPE)).effective),
    inspect: async ({ svc }) => known((await svc.recipes.inspect(RECIPE)).compilation.effective),
    async overview({ svc }) {
      const { status, run_readiness } = await svc.recipes.overview(RECIPE);
      assert.deepEqual([status, run_readiness?.ready], ["valid", true]);
    },
    async validate({ svc }) {
      assert.equal((await svc.recipes.validate(MATRIX)).expansion.points.length, 1);
    },
    async check({ svc }) {
      const { status, estimate } = await svc.recipes.check(RECIPE);
      assert.deepEqual([status, estimate === null], ["valid", false]);
    },
    async plan({ svc }) {
      const planned = await svc.recipes.plan(RECIPE);
      assert.ok(planned.status === "planned");
      holds(planned.plan);
    },
    planWhole: async ({ svc }) => holds((await svc.recipes.planWhole(MATRIX)).plan),
    prepare: async ({ svc }) => holds((await svc.recipes.prepare(RECIPE)).planned.plan),
    async lint({ svc }) {
      assert.equal((await svc.recipes.lint(RECIPE)).status, "passed");
    },
    async specs({ svc }) {
      assert.equal(((await svc.recipes.specs(RECIPE)).task as JsonObject).id, "neural_receiver_demapping");
    },
    async checkResearch({ svc }) {
      assert.equal((await svc.recipes.checkResearch(RECIPE)).name, "neural_receiver_qpsk_iq_learned");
    },
    async explain({ svc }) {
      for (const step of ["slices", "indices", "demodulator"]) {
        const { problems, binding } = await svc.recipes.explain(RECIPE, step);
        assert.deepEqual([problems, binding === null], [[], false], step);
      }
    },
    async graph({ svc }) {
      const { nodes } = await svc.recipes.graph(RECIPE);
      const names = nodes.map(({ id, name }) => id === "slices" || id === "indices" ? name : null).filter(Boolean);
      assert.deepEqual(names, ["Sliced transform codec, encoder", "Random indices"]);
    },
    async diff({ svc }) {
      const written = RECIPE.replace("op: test.indices", "op: test.indices\n    params: {codebook_size: 100}");
      assert.equal((await svc.recipes.diff(RECIPE, written)).equal, false);
      assert.equal((await svc.recipes.diff(RECIPE, written, { form: "effective" })).equal, true);
    },
    async expand({ svc }) {
      const { points } = await svc.recipes.expand(MATRIX);
      for (const { compilation } of points) known(compilation.effective);
      assert.equal(points.length, 1);
    },
    async matrix({ svc }) {
      assert.ok((await svc.recipes.matrix(MATRIX)).canonical_matrix !== null);
    },
    async schema({ svc }) {
      const text = JSON.stringify(await svc.recipes.schema());
      for (const id of ["dct_slices.encode", "test.indices"]) assert.ok(text.includes(id), id);
    },
    async run({ svc, plain }) {
      await ran((await svc.recipes.run(RECIPE)).directory);
      const { run_id, status, summary } = await plain.recipes.run(RECIPE, { keep: "metrics" });
      // A run that fails keeps its artifacts: the reason is its failure.
      assert.equal(status, "completed", JSON.stringify(summary.failure));
      assert.equal((await svc.runs.verify(run_id)).artifacts, "pruned");
    },
    async runMatrix({ svc, plain }) {
      const { rows: [{ run_id }] } = await svc.recipes.runMatrix(MATRIX);
      await ran((await svc.runs.show(run_id!)).directory);
      const { rows: [kept] } = await plain.recipes.runMatrix(MATRIX, { drop: ["slices"] });
      assert.equal(kept.status, "completed", JSON.stringify(kept.error));
      assert.equal((await svc.runs.verify(kept.run_id!)).artifacts, "pruned");
    },
    async findCrossing({ svc }) {
      const query = { over: "slices.bits_per_pixel", between: [1, 2], resolution: 1, untilBler: 0.5 } as const;
      const { error, diagnostics } = await svc.recipes.findCrossing(RECIPE, { ...query, metric: "steps.slices.x" });
      // The recipe compiles with the own operations, and its last step needs the accelerator.
      assert.equal(error?.code, "runtime_unavailable", JSON.stringify(diagnostics));
    },
  },
  runs: {
    list: "no document",
    detectionOverlay: "an id",
    segmentationOverlay: "an id",
    figure: "finished runs",
    plot: "finished runs",
    table: "finished runs",
    async restore({ svc, plain }) {
      const { run_id } = await plain.recipes.run(RECIPE);
      await svc.runs.prune({ ids: [run_id] });
      await needsAccelerator(svc.runs.restore(run_id));
      assert.equal((await plain.runs.restore(run_id)).status, "restored");
    },
    async reproduce({ svc, plain }) {
      const { run_id } = await plain.recipes.run(RECIPE);
      const report = await svc.runs.reproduce(run_id);
      await ran((await svc.runs.show(report.reproduced_run_id)).directory);
    },
  },
  benchmarks: {
    file: "the name of a pack",
    rows: "no document",
    result: "an id",
    evidence: "an id",
    verify: "an id",
    compare: "ids",
    rateDifferences: "an id",
    async shard({ svc, project }) {
      const out = await Deno.makeTempDir();
      const { result } = await svc.benchmarks.shard(project.pack, { shard: { index: 0, count: 1 }, out });
      await ran(join(out, result.recipes[0].run_dir!));
      assert.equal((await svc.benchmarks.merge(project.pack, [out])).result.view_sha256, result.view_sha256);
      await Deno.remove(out, { recursive: true });
    },
    merge: "beside shard",
    async runOn({ svc, project }) {
      const out = await Deno.makeTempDir();
      // A stand-in for sbatch and squeue that keeps what it is given.
      for (const name of ["sbatch", "squeue"]) {
        await Deno.writeTextFile(join(out, name), "#!/bin/sh\necho 1\n", { mode: 0o755 });
      }
      const path = Deno.env.get("PATH")!;
      Deno.env.set("PATH", `${out}:${path}`);
      const made = await svc.benchmarks.runOn(project.pack, { on: "slurm", detach: true, program: ["svc"] });
      Deno.env.set("PATH", path);
      assert.ok("engine" in made);
      const script = await Deno.readTextFile(join(svc.workspace.stateDir, "engine", made.result_id, "shard.sh"));
      assert.match(script, /--adapter \S+ .*--operation \S+ --onnx-accelerator onnxruntime-node benchmark shard/);
      await Deno.remove(out, { recursive: true });
    },
    pack: "a pack in benchmarks/, as load loads it",
    async load({ svc, project }) {
      const { valid, diagnostics } = await svc.benchmarks.load(project.pack);
      assert.ok(valid, JSON.stringify(diagnostics));
    },
    async loaded({ svc, project }) {
      assert.equal((await svc.benchmarks.loaded(project.pack)).recipes.length, 1);
    },
    async run({ svc, plain, project }) {
      const { result } = await svc.benchmarks.run(project.pack, { retainBackingRuns: true });
      const { runs } = svc.workspace;
      await ran(join(runs, result.recipes[0].run_id!));
      const kept = await plain.benchmarks.run(project.pack, { retainBackingRuns: true, keep: "metrics" });
      assert.equal((await svc.runs.verify(kept.result.recipes[0].run_id!)).artifacts, "pruned");
      await assert.rejects(plain.benchmarks.run(project.pack, { keep: "metrics" }), { code: "execution_invalid" });
    },
  },
  templates: {
    async list({ svc }) {
      const row = (await svc.templates.list()).templates.find(({ id }) => id === TEMPLATE)!;
      assert.deepEqual([row.available, row.source?.kind], [true, "project_override"]);
      assert.equal(row.run_readiness?.ready, true);
    },
    async show({ svc }) {
      assert.equal((await svc.templates.show(TEMPLATE)).available, true);
    },
    async instantiate({ svc }) {
      const { recipe } = await svc.templates.instantiate(TEMPLATE, { stepParams: { indices: { codebook_size: 7 } } });
      holds((await svc.recipes.prepare(recipe)).planned.plan);
    },
  },
  training: {
    project: "a folder",
    seal: "a folder",
    async inspect({ svc }) {
      const { boundaries } = await svc.training.inspect(RECIPE);
      assert.ok(boundaries.some(({ step_id }) => step_id === "demodulator"));
    },
    async graph({ svc }) {
      const { nodes } = await svc.training.graph(RECIPE);
      assert.ok((nodes as JsonObject[]).some(({ op }) => op === "dct_slices.encode"));
    },
    async export({ svc }) {
      assert.ok((await svc.training.export(RECIPE, { plan: PLAN, force: true })).files.length > 0);
    },
    async prepareCapture({ svc }) {
      known((await svc.training.prepareCapture(RECIPE, CAPTURE)).scenario);
    },
    async capture({ svc }) {
      assert.equal((await svc.training.capture(RECIPE, CAPTURE)).captured_samples, 1);
      await needsAccelerator(svc.training.capture(RECIPE, { ...LEARNED, force: true }));
    },
    async prepareProject({ svc }) {
      const { out } = await svc.training.export(RECIPE, { plan: PLAN, force: true });
      known((await svc.training.prepareProject(out, { split: "train", samples: 1 })).scenario);
    },
    async captureProject({ svc }) {
      const { out } = await svc.training.export(RECIPE, { plan: PLAN, force: true });
      const options = { split: "train", samples: 1, force: true } as const;
      assert.equal((await svc.training.captureProject(out, options)).captured_samples, 1);
      const learned = { dataset_capture: { ...PLAN.dataset_capture, taps: LEARNED.taps } };
      const other = await svc.training.export(RECIPE, { plan: learned, force: true });
      await needsAccelerator(svc.training.captureProject(other.out, options));
    },
  },
  validation: {
    list: "no document",
    show: "an id",
    report: "stored results",
    async run({ svc, plain, project: { projectRoot } }) {
      const folder = join(projectRoot, "benchmarks/validation");
      await Deno.mkdir(folder, { recursive: true });
      const card = {
        id: "own",
        title: "Size of a sliced image",
        operations: ["dct_slices.encode"],
        reference: { kind: "closed_form", citation: "This test", location: "its card", access: "written here" },
        recipe: "../../recipes/own.yaml",
        points: [{ at: {}, metric: "rate.payload_bpp", expected: 1, tolerance: { absolute: 0.1 } }],
      };
      await Deno.writeTextFile(join(folder, "own.yaml"), JSON.stringify(card));
      const [{ verdict }] = await plain.validation.run(["own"]);
      assert.equal(verdict, "reproduced");
      await assert.rejects(svc.validation.run(["own"]), { code: "benchmark_incomplete" });
    },
  },
};

/** Groups without methods for recipes, packs, templates or captures. */
const OTHERS = ["data", "models", "artifacts", "research", "adapters", "system"];

/** The verbs of a noun; no option reaches a call that takes the places of a session alone. */
const methodsOf = (noun: keyof typeof TABLE) =>
  Object.entries(NOUNS[noun]).filter(([, { run }]) =>
    !/^(async )?(run )?\((\{ workspace(: \{ [\w, ]+ \})? \}|_core)?[,)]/.test(String(run))
  ).map(([name]) => name);

Deno.test("every method of a session is in the table", async () => {
  await using svc = await open({ stateDir: await Deno.makeTempDir() });
  assert.deepEqual(Object.keys(svc).sort(), [...Object.keys(TABLE), ...OTHERS].sort());
  for (const [group, methods] of Object.entries(TABLE)) {
    assert.deepEqual(Object.keys(methods).sort(), methodsOf(group as keyof typeof TABLE).sort(), group);
  }
});

Deno.test({
  name: "adapters, own operations and the accelerator have their effect in every method",
  permissions: PERMISSIONS,
  async fn(t) {
    const shown = await open().then((svc) => svc.templates.show(TEMPLATE));
    const project = await makeProject(shown.recipe_path);
    try {
      const { accelerator: _, ...others } = OPTIONS;
      await using svc = await open({ ...project, ...OPTIONS });
      await using plain = await open({ ...project, ...others });
      for (const [group, methods] of Object.entries(TABLE)) {
        for (const [name, check] of Object.entries(methods)) {
          if (typeof check === "string") continue;
          await t.step(`${group}.${name}`, async () => {
            try {
              await check({ svc, plain, project });
            } catch (error) {
              if (error instanceof SvcError) console.error(error.code, error.message, error.diagnostics);
              throw error;
            }
          });
        }
      }
    } finally {
      await Deno.remove(project.projectRoot, { recursive: true });
    }
  },
});
