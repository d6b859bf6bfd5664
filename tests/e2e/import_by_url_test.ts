import assert from "node:assert/strict";
import { join } from "node:path";
import { serveTree } from "../support/serve_tree.ts";

const OWN_OPERATION = (root: string) => `
import { bitsArtifact, bitsOf, defineOperation, kinds, travel, z } from "${root}mod.ts";

export default defineOperation({
  id: "my.invert",
  name: "Invert bits",
  inputs: { bits: kinds.BITS_ANY },
  outputs: { bits: kinds.BITS },
  params: z.strictObject({}),
  threadSafe: true,
  run: ({ inputs }) => ({
    outputs: { bits: bitsArtifact(bitsOf(inputs.bits).map((bit) => 1 - bit), travel(inputs.bits.metadata)) },
  }),
});
`;

const SCRIPT = (root: string) => `
import { compile, open, run } from "${root}mod.ts";

const operations = [new URL("./my_op.ts", import.meta.url)];
const recipe = {
  name: "by_url",
  metadata: { seed: 23 },
  steps: [
    { id: "data", op: "source.random_bits", params: { bit_count: 4096 } },
    { id: "inverted", op: "my.invert", inputs: { bits: "data.bits" } },
    { id: "evaluation", op: "metrics.bit_error_rate", inputs: { candidate: "inverted.bits", reference: "data.bits" } },
  ],
};
const compilation = await compile(recipe, { operations });
const result = await run(recipe, { operations, parallelWorkers: 2 });
await using svc = await open();
const report = await svc.runs.verify(result.run_id);
const evaluation = result.summary.steps.find((step) => step.id === "evaluation");
const plan = JSON.parse(Deno.readTextFileSync(result.directory + "/execution-plan.json"));

const photographs = {
  name: "photos",
  metadata: { seed: 23 },
  steps: [{
    id: "data",
    op: "source.image_dataset",
    params: { dataset: "svc_sample_images", image_ids: "chelsea", crop_size: 64 },
  }],
};
const pictures = await run(photographs);
const { templates } = await svc.templates.list();
const codec = templates.find(({ id }) => id === "semantic_comm.image_reconstruction.default");
const texts = await svc.templates.instantiate("semantic_comm.text_semantic_similarity.default", { name: "texts" });
console.log(JSON.stringify({
  compiled: compilation.status,
  status: result.status,
  verified: report.status,
  ber: Number(evaluation.metrics["channel.ber"]),
  modules: plan.steps.map((step) => step.implementation_metadata.source_module),
  digests: plan.steps.map((step) => step.implementation_metadata.source_sha256),
  pictures: pictures.status,
  available: templates.filter((row) => row.available).length,
  missing: codec.run_readiness.missing,
  source: codec.source,
  template: texts.recipe.name,
  text: texts.text.split("\\n")[0],
}));
`;

Deno.test("a script in an empty folder imports the library by URL, adds an operation, runs, and has its photographs and templates", async () => {
  await using tree = serveTree();
  const folder = await Deno.makeTempDir({ prefix: "svc-by-url-" });
  try {
    await Deno.writeTextFile(join(folder, "my_op.ts"), OWN_OPERATION(tree.url));
    await Deno.writeTextFile(join(folder, "script.ts"), SCRIPT(tree.url));
    const { stdout, stderr, success } = await new Deno.Command(Deno.execPath(), {
      args: ["run", "-A", "--no-lock", "--no-check", "script.ts"],
      cwd: folder,
      env: { NO_COLOR: "1", XDG_CACHE_HOME: join(folder, "cache") },
    }).output();
    const text = new TextDecoder();
    assert.ok(success, text.decode(stderr));
    const seen = JSON.parse(text.decode(stdout).trim().split("\n").pop()!);
    assert.equal(seen.compiled, "valid");
    assert.equal(seen.status, "completed");
    assert.equal(seen.verified, "valid");
    assert.equal(seen.ber, 1);
    assert.ok(seen.modules[1].endsWith("my_op.ts"), seen.modules[1]);
    // The built-in sources cannot be read from a URL: their digests come from the generated list.
    for (const digest of seen.digests) assert.match(digest, /^[0-9a-f]{64}$/);
    assert.equal(seen.pictures, "completed");
    assert.ok(tree.requests.has("/recipes/samples/chelsea.png"));
    // The templates come with the library, and so does the data that they read.
    assert.ok(seen.available >= 3);
    assert.equal(seen.source.reference, "svc_pkg:recipe_starters/image_codec_default.yaml");
    assert.deepEqual(seen.missing, []);
    assert.deepEqual([seen.template, seen.text.startsWith("# Sentences as UTF-8")], ["texts", true]);
    const files = [...Deno.readDirSync(folder)].map(({ name }) => name).sort();
    assert.deepEqual(files, [".svc", "cache", "my_op.ts", "script.ts"]);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});
