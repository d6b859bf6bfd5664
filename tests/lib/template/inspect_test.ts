import assert from "node:assert/strict";
import { join } from "node:path";
import { sha256Hex } from "../../../lib/contract/hash.ts";
import { readinessOf } from "../../../lib/execute/readiness.ts";
import { packagedCatalog, type TemplateEntry } from "../../../lib/template/catalog.ts";
import { inspectTemplate, inspectTemplates } from "../../../lib/template/inspect.ts";
import { Registry } from "../../../lib/contract/registry.ts";
import {
  ABSENT,
  CODEC,
  CODEC_PATH,
  CODEC_TEXT,
  edited,
  HAS_ALL,
  inProject,
  PLANNED,
  PROTECTED,
  refusal,
  registry,
  TEXTS,
  WITH_PLANNED,
} from "./_setup.ts";
import { tables } from "../../support/tables.ts";

const DATA = tables(import.meta.url);

/** The catalogue without the rows that wait for a starter, so that its status can be anything. */
const SHORT = {
  ...packagedCatalog(),
  templates: packagedCatalog().templates.filter(({ id }) => [CODEC, TEXTS].includes(id)),
};

Deno.test("the catalogue as it ships: what is here is valid, what is not is unavailable, nothing is invalid", () =>
  inProject({}, async (options) => {
    const { schema_version, status, templates } = await inspectTemplates(options);
    assert.equal(schema_version, 1);
    assert.deepEqual(templates.map(({ id }) => id), packagedCatalog().templates.map(({ id }) => id));
    const state = (id: string) => templates.find((row) => row.id === id)!.validation.status;
    for (const id of [CODEC, PROTECTED, TEXTS]) assert.equal(state(id), "valid");
    for (const row of templates) {
      assert.equal(row.available, row.validation.status === "valid");
      assert.notEqual(row.validation.status, "invalid", JSON.stringify(row.validation.errors));
      assert.equal(row.validation.errors.length, row.available ? 0 : 1);
      assert.equal(
        row.recipe !== undefined && row.source !== undefined && row.run_readiness !== undefined,
        row.available,
      );
    }
    const waits = templates.some((row) => row.status !== "planned" && !row.available);
    assert.equal(status, waits ? "degraded" : "valid");
  }));

Deno.test("a row holds its entry, a summary of the recipe, the source with its digest, and the readiness", () =>
  inProject({}, async (options) => {
    const row = await inspectTemplate(CODEC, options);
    const entry = packagedCatalog().templates.find(({ id }) => id === CODEC)!;
    const { steps } = row.recipe!;
    assert.deepEqual(steps[1], {
      id: "sender",
      op: "model.jpeg_encode",
      name: "JPEG images to bit payload",
      inputs: { images: "data.images" },
    });
    assert.deepEqual(row, {
      ...entry,
      available: true,
      validation: { status: "valid", errors: [] },
      recipe: {
        name: "image_codec_default",
        description: "Sample photographs as JPEG over an ideal link",
        step_count: 11,
        task_id: "image_reconstruction",
        execution_profile: { id: "layered_digital", version: 1 },
        steps,
      },
      source: {
        kind: "packaged_builtin",
        reference: "svc_pkg:recipe_starters/image_codec_default.yaml",
        digest: `sha256:${sha256Hex(CODEC_TEXT)}`,
      },
      run_readiness: { ready: true, missing: [] },
    });
  }));

Deno.test("a planned row is listed with an information, is not resolved, and leaves the catalogue's status alone", async () => {
  const path = packagedCatalog().templates.find(({ id }) => id === PLANNED)!.recipe_path;
  await inProject({ [path]: "name: [" }, async (options) => {
    const row = await inspectTemplate(PLANNED, { ...options, catalog: WITH_PLANNED });
    assert.equal(row.available, false);
    assert.equal(row.source, undefined);
    assert.equal(row.validation.status, "unavailable");
    const [info] = row.validation.errors;
    assert.deepEqual([info.severity, info.code], ["info", "template_unavailable"]);
    assert.match(info.message, /planned and not part of this version$/);
    const templates = WITH_PLANNED.templates.filter(({ id }) => [CODEC, PLANNED].includes(id));
    assert.equal((await inspectTemplates({ ...options, catalog: { ...SHORT, templates } })).status, "valid");
  });
});

Deno.test("without override and starter a row is unavailable, names what it waits for, and degrades the catalogue", () =>
  inProject({}, async (options) => {
    const bare = { ...options, catalog: SHORT, starters: {} };
    const { status, templates: [row] } = await inspectTemplates(bare);
    assert.equal(status, "degraded");
    assert.equal(row.validation.status, "unavailable");
    assert.equal(row.validation.errors[0].code, "template_unavailable");
    assert.equal(row.validation.errors[0].hint, `A recipe of your own at ${CODEC_PATH} replaces it`);
    // A starter that waits for nothing has only been left out.
    const { validation } = await inspectTemplate(ABSENT, { ...options, starters: {}, registry: new Registry() });
    assert.match(validation.errors[0].message, /its starter does not come with this version$/);
  }));

Deno.test("a recipe of the project takes the place of the starter; changed, broken, mended or removed, it is read anew", () =>
  inProject({ [CODEC_PATH]: edited(CODEC_TEXT, [/^name: .*$/m, "name: our_codec"]) }, async (options, folder) => {
    const path = join(folder, CODEC_PATH);
    const own = await inspectTemplate(CODEC, options);
    assert.equal(own.recipe!.name, "our_codec");
    assert.deepEqual(own.source, {
      kind: "project_override",
      reference: CODEC_PATH,
      digest: `sha256:${sha256Hex(Deno.readFileSync(path))}`,
    });

    await Deno.writeTextFile(path, "name: our_codec\nsteps: []\n");
    const broken = await inspectTemplates({ ...options, catalog: SHORT });
    assert.equal(broken.status, "invalid");
    assert.equal(broken.templates[0].available, false);
    assert.equal(broken.templates[0].source!.kind, "project_override");
    assert.equal(broken.templates[1].available, true);

    await Deno.writeTextFile(path, edited(CODEC_TEXT, [/^name: .*$/m, "name: mended"]));
    assert.equal((await inspectTemplate(CODEC, options)).recipe!.name, "mended");

    await Deno.remove(path);
    assert.equal((await inspectTemplate(CODEC, options)).source!.kind, "packaged_builtin");
    await Deno.writeTextFile(path, "");
  }));

Deno.test("the digest is of the exact bytes, byte order mark and line ends included", async () => {
  const text = "\ufeff" + CODEC_TEXT.replaceAll("\n", "\r\n");
  await inProject({ [CODEC_PATH]: text }, async (options) => {
    const row = await inspectTemplate(CODEC, options);
    assert.equal(row.available, true, JSON.stringify(row.validation));
    assert.equal(row.source!.digest, `sha256:${sha256Hex(new TextEncoder().encode(text))}`);
  });
});

const INVALID: [
  name: string,
  contents: string | Uint8Array | [string | RegExp, string][],
  code: string,
  path: string,
][] = [
  ...DATA.INVALID,
  ["no UTF-8", new Uint8Array([0x6e, 0x3a, 0xff]), "recipe_syntax_invalid", "$"],
  ["too much text", "#".repeat(2 * 1024 * 1024 + 1), "recipe_limit_exceeded", "$"],
];

/** A changed starter; patterns find their line anywhere. */
const changed = (changes: [string | RegExp, string][]) =>
  edited(
    CODEC_TEXT,
    ...changes.map((
      [from, to],
    ): [string | RegExp, string] => [from instanceof RegExp ? new RegExp(from, "m") : from, to]),
  );

for (const [name, contents, code, path] of INVALID) {
  Deno.test(`an override with ${name} is reported and never replaced`, () =>
    inProject({ [CODEC_PATH]: Array.isArray(contents) ? changed(contents) : contents }, async (options) => {
      const { status, templates: [row] } = await inspectTemplates({ ...options, catalog: SHORT });
      assert.equal(status, "invalid");
      assert.equal(row.validation.status, "invalid");
      assert.equal(row.available, false);
      assert.equal(row.recipe, undefined);
      const found = row.validation.errors.find((item) => item.code === code);
      assert.ok(found, JSON.stringify(row.validation.errors));
      assert.equal(found.path, path, JSON.stringify(row.validation.errors));
      if (found.location) assert.equal(found.location.file, CODEC_PATH);
    }));
}

Deno.test("an override that is a folder or a symbolic link is reported as well", async () => {
  await inProject({ [`${CODEC_PATH}/x`]: "" }, async (options) => {
    assert.equal((await inspectTemplate(CODEC, options)).validation.errors[0].code, "path_refused");
  });
  await inProject({ "elsewhere.yaml": CODEC_TEXT, "recipes/x": "" }, async (options, folder) => {
    const link = join(folder, CODEC_PATH);
    for (const target of [join(folder, "elsewhere.yaml"), join(folder, "nowhere.yaml")]) {
      await Deno.symlink(target, link);
      const { validation } = await inspectTemplate(CODEC, options);
      assert.deepEqual([validation.status, validation.errors[0].code], ["invalid", "path_refused"]);
      await Deno.remove(link);
    }
  });
  await inProject({ "elsewhere/image_codec_default.yaml": CODEC_TEXT }, async (options, folder) => {
    await Deno.symlink(join(folder, "elsewhere"), join(folder, "recipes"));
    assert.equal((await inspectTemplate(CODEC, options)).validation.errors[0].code, "path_refused");
    await Deno.remove(join(folder, "recipes"));
  });
  await inProject({ recipes: "a file, not a folder" }, async (options) => {
    assert.equal((await inspectTemplate(CODEC, options)).source!.kind, "packaged_builtin");
  });
});

Deno.test("bindings are checked against the operation's parameters", () =>
  inProject({}, async (options) => {
    const entry = structuredClone(SHORT.templates[0]) as TemplateEntry;
    entry.editor_bindings = { image_ids: { step_id: "data", op: "source.image_dataset", param: "image_id" } };
    const catalog = { ...SHORT, templates: [entry] };
    const { errors: [error] } = (await inspectTemplate(CODEC, { ...options, catalog })).validation;
    assert.equal(error.code, "template_contract_mismatch");
    assert.match(error.message, /no parameter image_id$/);
    assert.match(error.hint!, /image_ids/);
  }));

Deno.test("what is missing on the machine makes a row no less valid, and is listed once with what brings it", () =>
  inProject({}, async (options) => {
    const readiness = {
      missing: ({ id }: { id: string }) => ({
        reason: "it is not here",
        hint: "get it",
        fetch: `svc data fetch ${id}`,
        size_bytes: 7,
      }),
    };
    for (const id of [CODEC, PROTECTED]) {
      const { validation, run_readiness } = await inspectTemplate(id, { ...options, readiness });
      assert.equal(validation.status, "valid");
      assert.deepEqual(run_readiness, {
        ready: false,
        missing: [{
          kind: "dataset",
          id: "svc_sample_images",
          reason: "it is not here",
          fetch: "svc data fetch svc_sample_images",
          size_bytes: 7,
        }],
      });
    }
  }));

Deno.test("every variant of a matrix is asked what it needs", async () => {
  const matrix = "  matrix: {dimensions: {m: [a.json, b.json]}, step_params: {data: {manifest_path: {matrix: m}}}}\n";
  const digest = `      manifest_sha256: "${"0".repeat(64)}"\n      manifest_path: any.json\n`;
  const text = edited(
    CODEC_TEXT,
    ["  seed: 23\n", "  seed: 23\n" + matrix],
    ["dataset: svc_sample_images\n", "dataset: ours\n" + digest],
  );
  await inProject({ [CODEC_PATH]: text, "a.json": "{}" }, async (options, folder) => {
    const readiness = readinessOf({ stateDir: join(folder, ".svc"), projectRoot: folder });
    const { validation, run_readiness } = await inspectTemplate(CODEC, { ...options, readiness });
    assert.deepEqual(validation.errors, []);
    assert.deepEqual(run_readiness!.missing, [
      { kind: "dataset", id: "b.json", reason: "the file b.json does not exist", fetch: null },
    ]);
  });
});

Deno.test("the only variant of a matrix is checked, not the recipe around it", async () => {
  const matrix = "  matrix: {dimensions: {q: [500]}, step_params: {sender: {quality: {matrix: q}}}}\n";
  const text = edited(CODEC_TEXT, ["  seed: 23\n", "  seed: 23\n" + matrix]);
  await inProject({ [CODEC_PATH]: text }, async (options) => {
    const { validation } = await inspectTemplate(CODEC, options);
    assert.deepEqual([validation.status, validation.errors.map(({ code }) => code)], ["invalid", [
      "operation_params_schema_invalid",
    ]]);
  });
});

Deno.test("an unknown template is refused", () =>
  inProject({}, async (options) => {
    assert.equal((await refusal(inspectTemplate("ai_phy.nothing", options))).code, "template_not_found");
  }));

Deno.test("a registry without the operations finds the shipped starters invalid, not absent", () =>
  inProject({}, async (options) => {
    const { validation } = await inspectTemplate(TEXTS, { ...options, registry: new Registry() });
    assert.equal(validation.status, "invalid");
    assert.ok(validation.errors.every(({ code }) => code === "unknown_operation"), JSON.stringify(validation.errors));
    assert.ok(registry.has("model.text_utf8_encode"));
  }));

Deno.test({
  name: "where the project may not be read, the starter does not take the place of what might be there",
  permissions: { read: false, env: true },
  async fn() {
    const { validation, source } = await inspectTemplate(CODEC, {
      registry,
      projectRoot: "/project",
      readiness: HAS_ALL,
    });
    assert.deepEqual([validation.status, validation.errors[0].code, source], ["invalid", "path_forbidden", undefined]);
  },
});
