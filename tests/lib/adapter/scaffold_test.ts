/** Every scaffold is a working adapter: it validates, its code passes its own tests, and nothing of its name is left. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { inspectAdapter } from "../../../lib/adapter/inspect.ts";
import {
  SCAFFOLD_KINDS,
  scaffoldAdapter,
  scaffoldFiles,
  type ScaffoldKind,
  scaffoldKind,
} from "../../../lib/adapter/scaffold.ts";
import { loadAdapters } from "../../../lib/adapter/load.ts";
import { toNumber } from "../../../lib/contract/value.ts";
import { formatRecipeText } from "../../../lib/recipe/format.ts";
import { open } from "../../../mod.ts";
import { createRegistry } from "../../../ops/registry.ts";
import { needs } from "../../support/needs.ts";
import { needsPython, pythonWith } from "../../support/python.ts";
import { withFolder } from "./support.ts";

/** What the operations of each kind wrap. */
const WRAPS: Record<string, string[]> = {
  bits: ["model.external_encode_bits", "model.external_decode_bits"],
  indices: ["model.external_encode_indices", "model.external_decode_indices"],
  latents: ["model.external_encode_latents", "model.external_decode_latents"],
  deepjscc_symbols: ["model.deepjscc_external_encode", "model.deepjscc_external_decode"],
  classification_dataset: ["source.external_classification_dataset"],
  classification_metric: ["metrics.external_classification", "source.external_classification_dataset"],
  text_dataset: ["source.external_texts"],
  text_metric: ["metrics.external_text"],
  text_reader: ["model.external_read_texts"],
  operation: ["custom"],
  "python-codec": ["model.external_encode_bits", "model.external_decode_bits"],
  "python-receiver": ["custom"],
  "python-metric": ["custom"],
  "python-operation": ["custom"],
};
const PYTHON = SCAFFOLD_KINDS.filter((kind) => kind.startsWith("python-"));
const DENO = SCAFFOLD_KINDS.filter((kind) => !PYTHON.includes(kind));
/** Those with a sender whose bits beside the link count. */
const CODERS: readonly string[] = ["bits", "indices", "latents", "deepjscc_symbols"];
const python = await pythonWith("numpy");
const prefix = (kind: string) => `my_${kind.replaceAll("-", "_")}`;

Deno.test("every kind validates, wraps what it is for, and asks for nothing", () =>
  withFolder(async (root) => {
    assert.deepEqual(Object.keys(WRAPS), [...SCAFFOLD_KINDS]);
    for (const kind of SCAFFOLD_KINDS) {
      const folder = join(root, `my-${kind}`);
      const written = await scaffoldAdapter(kind, folder);
      assert.equal(written.name, `my-${kind}`);
      const found = inspectAdapter({ folder }, { projectRoot: root });
      assert.deepEqual(found.diagnostics, [], kind);
      assert.equal(found.status, "valid");
      assert.deepEqual(found.files.map(({ path }) => path), written.files);
      assert.deepEqual(found.operations.map(({ wraps }) => wraps), WRAPS[kind]);
      for (const { id } of found.operations) assert.match(id, new RegExp(`^${prefix(kind)}\\.`));
      assert.deepEqual(found.permissions_requested, { net: [], read: [], env: [] });
      const test = PYTHON.includes(kind) ? /^test_\w+\.py$/ : /_test\.ts$/;
      assert.ok(found.files.some(({ path }) => test.test(path)) && written.files.includes("recipe.yaml"));
      assert.equal(found.python !== null, PYTHON.includes(kind));
    }
  }));

Deno.test("the name goes through every file", async () => {
  for (const kind of SCAFFOLD_KINDS) {
    const { files } = await scaffoldFiles(kind, "other");
    for (const [path, text] of Object.entries(files)) {
      assert.doesNotMatch(text, /\bexample[-_]\w/, `${kind}/${path}`);
    }
    assert.match(files["svc_adapter.yaml"], /^name: other$/m);
    assert.match(files["recipe.yaml"], /op: other\./);
    assert.match(files["README.md"], /svc adapter validate other /);
  }
});

Deno.test("the tests of every scaffold pass, types included", () =>
  withFolder(async (root) => {
    for (const kind of DENO) await scaffoldAdapter(kind, join(root, kind));
    const { code, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
      args: ["test", "--no-lock", "--no-remote", "--no-npm", "."],
      cwd: root,
      env: { NO_COLOR: "1" },
    }).output();
    const text = new TextDecoder().decode(stdout);
    assert.equal(code, 0, text + new TextDecoder().decode(stderr));
    assert.match(text, /\b18 passed/);
  }));

Deno.test({
  name: "the tests of every scaffold in Python pass",
  ...needs("Python with NumPy", python),
  fn: () =>
    withFolder(async (root) => {
      for (const kind of PYTHON) {
        const cwd = join(root, kind);
        await scaffoldAdapter(kind, cwd);
        const { code, stderr } = await new Deno.Command(python!, { args: ["-B", "-m", "unittest"], cwd }).output();
        const text = new TextDecoder().decode(stderr);
        assert.equal(code, 0, text);
        assert.match(text, /Ran [24] tests/);
      }
    }),
});

Deno.test("the recipe of every scaffold is laid out, has no finding, runs, and leaves a bundle that verifies", () =>
  runs(DENO));

Deno.test({
  name: "the recipe of every scaffold in Python runs, and leaves a bundle that verifies",
  ...needsPython(python),
  fn: () => runs(PYTHON),
});

const runs = (kinds: readonly ScaffoldKind[]) =>
  withFolder(async (root) => {
    const folders = kinds.map((kind) => join(root, `my-${kind}`));
    for (const [index, kind] of kinds.entries()) await scaffoldAdapter(kind, folders[index]);
    // One session has all adapters, as that of a project with several.
    const adapters = folders.map((folder) => ({ folder }));
    await using svc = await open({ projectRoot: root, adapters, python: python ?? undefined });
    for (const [index, kind] of kinds.entries()) {
      const recipe = await Deno.readTextFile(join(folders[index], "recipe.yaml"));
      assert.equal(formatRecipeText(recipe, { file: "recipe.yaml" }), recipe, kind);
      assert.deepEqual((await svc.recipes.compile(recipe)).diagnostics, []);
      const { status, summary, run_id } = await svc.recipes.run(recipe);
      assert.equal(status, "completed", `${kind}: ${JSON.stringify(summary.error)}`);
      const steps = summary.steps as { op: string; metrics: Record<string, number> }[];
      const metric = (id: string) => toNumber(steps.find(({ metrics }) => id in metrics)!.metrics[id]);
      const beside = steps.flatMap(({ metrics }) => metrics["rate.side_information_bits"] ?? []);
      if (CODERS.includes(kind)) assert.ok(beside.length > 0, `${kind}: what is sent beside the link is counted`);
      assert.ok(beside.every((bits) => Number(bits) === 0), `${kind} sends ${beside} bits beside the link`);
      const own = `external.${prefix(kind)}`;
      if (kind === "classification_metric") {
        assert.ok(Math.abs(metric("external.my_classification_metric.cohen_kappa") - 0.4) < 1e-12);
      } else if (kind === "text_dataset") {
        assert.equal(metric("text.exact_match"), 1);
      } else if (kind === "text_metric") {
        const rate = metric("external.my_text_metric.character_error_rate");
        assert.ok(rate > 0 && rate < 0.2, String(rate));
      } else if (kind === "text_reader") {
        assert.equal(metric("task.wer"), 0);
      } else if (kind === "python-receiver") {
        assert.equal(metric("channel.own"), metric("channel.baseline"));
      } else if (kind === "python-metric") {
        assert.ok(metric(`${own}.gmsd`) > 0.05 && metric(`${own}.gmsd`) < 0.2);
      } else if (kind === "operation" || kind === "python-operation") {
        const share = metric(`${own}.clipped_share`);
        assert.ok(share > 0.2 && share < 0.3, String(share));
      } else if (kind !== "classification_dataset") assert.ok(metric("quality.psnr_db") > 15, kind);
      const report = await svc.runs.verify(run_id);
      assert.equal(report.status, "valid", `${kind}: ${JSON.stringify(report)}`);
    }
  });

Deno.test("what scaffolds wrap has the ports of the contracts that it wraps", () =>
  withFolder(async (root) => {
    const registry = await createRegistry();
    for (const kind of SCAFFOLD_KINDS) {
      const folder = join(root, kind);
      await scaffoldAdapter(kind, folder, { name: "own" });
      const before = new Set(registry.ids());
      const added = await createRegistry();
      await loadAdapters(added, [{ folder }], { projectRoot: root, loadModules: false });
      for (const id of added.ids().filter((id) => !before.has(id))) {
        const { contract } = added.get(id).operation;
        const wrapped = registry.find((contract.external_adapter as { wraps: string }).wraps)?.operation.contract;
        if (wrapped === undefined) {
          // The contracts of joint coders come with the slots for trained artifacts; an operation has ports of its own.
          assert.ok(["deepjscc_symbols", "operation"].includes(kind) || WRAPS[kind].includes("custom"));
          continue;
        }
        const ports = ["input_kinds", "optional_input_kinds", "output_kinds", "execution_safety"] as const;
        for (const port of ports) assert.deepEqual(contract[port], wrapped[port], `${id} ${port}`);
      }
    }
  }));

Deno.test("somebody's files are left alone, and impossible names and kinds are refused", () =>
  withFolder(async (root) => {
    await Deno.writeTextFile(join(root, "notes.txt"), "mine");
    await assert.rejects(scaffoldAdapter("bits", root, { name: "a" }), /the folder is not empty/);
    assert.deepEqual([...Deno.readDirSync(root)].map(({ name }) => name), ["notes.txt"]);
    await assert.rejects(scaffoldAdapter("bits", join(root, "notes.txt"), { name: "a" }), { code: "usage_invalid" });
    await assert.rejects(scaffoldAdapter("bits", join(root, "9 lives")), { code: "usage_invalid" });
    assert.throws(() => scaffoldKind("indicse"), { hint: "Did you mean indices?" });
    // An empty folder, as a version control system makes it, is good enough.
    await Deno.mkdir(join(root, "empty"));
    assert.equal((await scaffoldAdapter("bits", join(root, "empty"))).name, "empty");
  }));

Deno.test("the operation with ports of its own in docs/guides/write_an_adapter.md fits the code of its scaffold", () =>
  withFolder(async (root) => {
    const guide = await Deno.readTextFile(new URL("../../../docs/guides/write_an_adapter.md", import.meta.url));
    const operations = /```yaml\n(operations:\n {2}- id: my_amplifier\.clip\n[\s\S]*?)```/.exec(guide)![1];
    const folder = join(root, "my-amplifier");
    await scaffoldAdapter("operation", folder, { name: "my-amplifier" });
    const file = join(folder, "svc_adapter.yaml"), manifest = Deno.readTextFileSync(file);
    Deno.writeTextFileSync(file, manifest.slice(0, manifest.indexOf("operations:")) + operations);
    const { diagnostics, operations: found } = inspectAdapter({ folder }, { projectRoot: root });
    assert.deepEqual(diagnostics, []);
    assert.deepEqual(found.map(({ id, wraps }) => [id, wraps]), [["my_amplifier.clip", "custom"]]);
  }));
