/** The guides about results: the Python reader on fresh bundles, objects in a notebook, and a run as an RO-Crate. */
import assert from "node:assert/strict";
import { cpSync } from "node:fs";
import { join } from "node:path";
import { sha256Hex } from "../../lib/contract/hash.ts";
import { sharedSession } from "../support/session.ts";
import { needs } from "../support/needs.ts";
import { ROOT_PATH } from "../support/paths.ts";
import { withModules } from "../support/python.ts";
import { codeBlocks } from "./blocks.ts";
import { tables } from "../support/tables.ts";

const DATA = tables(import.meta.url);

const stateDir = Deno.makeTempDirSync({ prefix: "svc-results-" });
// Hooks run last first: the session ends before.
Deno.test.afterAll(() => Deno.remove(stateDir, { recursive: true }));
const { test, session } = sharedSession({ stateDir });
Deno.test.beforeAll(async () => {
  await (await session()).recipes.runMatrix(LINK);
});

const LINK = DATA.LINK;

async function run(python: string, args: string[]): Promise<{ success: boolean; text: string }> {
  try {
    const { success, stdout, stderr } = await new Deno.Command(python, { args }).output();
    return { success, text: new TextDecoder().decode(success ? stdout : stderr) };
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return { success: false, text: `no ${python}` };
    throw error;
  }
}
/** A Python with the packages of the guide: the first on the path, or that of the system. */
let python: string | undefined;
for (const candidate of ["python3", "/usr/bin/python3"]) {
  python ??= await withModules(candidate, "numpy", "pandas") ?? undefined;
}
/** Checks a crate with the public validator of npm, with its own copy of the context. Without a crate only loads it. */
const VALIDATOR = DATA.CRATE;
async function validateCrate(...args: string[]): Promise<{ success: boolean; text: string }> {
  const file = join(stateDir, "validate.mjs");
  await Deno.writeTextFile(file, VALIDATOR);
  const { success, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
    args: ["run", "-A", "--quiet", "--no-lock", "--no-config", "--node-modules-dir=none", file, ...args],
    env: { NO_COLOR: "1" },
  }).output();
  return { success, text: new TextDecoder().decode(success ? stdout : stderr) };
}
const loaded = await validateCrate();

test("tables, figures and graphs show themselves in a notebook, and stay data for other readers", async (svc) => {
  const shown = async (object: object) =>
    await (object as Record<symbol, () => Promise<Record<string, string>>>)[Symbol.for("Jupyter.display")]();
  const table = await svc.runs.table({ recipe: "sweep" });
  const { "text/html": html, "text/plain": text } = await shown(table);
  assert.match(html, /<th>snr_db<\/th><th>channel\.ber<\/th>.*<td>6<\/td><td>0\.0\d+ \[/);
  assert.match(text, /\| 6 \| 0\.0/);
  assert.ok(!JSON.stringify(table).includes("<table"));
  const figure = await shown(await svc.runs.figure({ recipe: "sweep", x: "snr_db" }));
  assert.match(figure["image/svg+xml"], /^<svg/);
  const { $schema } = figure["application/vnd.vegalite.v6+json"] as unknown as { $schema: string };
  assert.match($schema, /vega-lite\/v6/);
  assert.match((await shown(await svc.recipes.graph(LINK)))["image/svg+xml"], /^<svg/);
});

Deno.test({
  name: "the Python reader of the guide reads fresh bundles",
  ...needs("a Python with numpy and pandas", python),
  async fn() {
    const [reader] = codeBlocks(await Deno.readTextFile(join(ROOT_PATH, "docs/guides/results_in_python.md")), "python");
    assert.ok(reader.trimEnd().split("\n").length <= 40);
    const checks = DATA.FRAME;
    const program = reader.replaceAll('state=".svc"', `state=${JSON.stringify(stateDir)}`) + checks;
    const { success, text } = await run(python!, ["-c", program]);
    assert.ok(success, text);
    assert.match(text, /evaluation\/channel\.ber/);
  },
});

Deno.test({
  name: "the readers of the bundle format and of the random streams read a stored bundle, and see a change",
  ...needs("a Python with numpy and pandas", python),
  async fn() {
    const copy = join(stateDir, "stored");
    cpSync(join(ROOT_PATH, "tests/data/bundles/schema_1"), copy, { recursive: true });
    const scripts = ["docs/reference/bundle.md", "docs/explanation/random_streams.md"].map((path) =>
      codeBlocks(Deno.readTextFileSync(join(ROOT_PATH, path)), "python")[0]
    );
    const [read, drawn] = await Promise.all(scripts.map((script) => run(python!, ["-c", script, copy])));
    assert.ok(read.success && drawn.success, read.text + drawn.text);
    assert.match(read.text, /modulator channel\.symbols\.complex_numpy complex64 \(256,\)/);
    assert.equal(drawn.text, "equal draws\n");
    const recipe = join(copy, "recipe.json"), text = await Deno.readTextFile(recipe);
    await Deno.writeTextFile(recipe, text.replace('"seed": 23', '"seed": 24'));
    for (const script of scripts) assert.ok(!(await run(python!, ["-c", script, copy])).success);
  },
});

test("an exported run is a Workflow Run RO-Crate: every rule of the profiles, every file, every digest", async (svc) => {
  const [{ run_id }] = await svc.runs.list({ recipe: "sweep" });
  const out = join(stateDir, "crate"), licence = "https://creativecommons.org/licenses/by/4.0/";
  const { files } = await svc.runs.export(run_id, { out, licence });
  const crate = JSON.parse(await Deno.readTextFile(join(out, "ro-crate-metadata.json")));
  type Entity = Record<string, unknown> & { "@id": string; "@type": string | string[] };
  const graph: Entity[] = crate["@graph"], byId = new Map(graph.map((entity) => [entity["@id"], entity]));
  assert.equal(byId.size, graph.length, "ids are unique");
  const typesOf = (id: string) => [byId.get(id)!["@type"]].flat();
  const ids = (value: unknown) => ([value].flat() as { "@id": string }[]).map((item) => item["@id"]);
  // RO-Crate 1.1: the descriptor and the root.
  assert.ok(crate["@context"].includes("https://w3id.org/ro/crate/1.1/context"));
  const descriptor = byId.get("ro-crate-metadata.json")!, root = byId.get("./")!;
  assert.equal(descriptor["@type"], "CreativeWork");
  assert.deepEqual(descriptor.about, { "@id": "./" });
  assert.ok(ids(descriptor.conformsTo).includes("https://w3id.org/ro/crate/1.1"));
  assert.equal(root["@type"], "Dataset");
  for (const key of ["name", "description", "license"]) assert.ok(String(root[key]).length > 3, key);
  assert.equal(root.license, licence);
  assert.ok(!Number.isNaN(Date.parse(String(root.datePublished))));
  // Every file is a part with its size and digest, and every part is there.
  assert.deepEqual(
    ids(root.hasPart).map(decodeURIComponent).sort(),
    files.filter((file) => !file.startsWith("ro-crate")),
  );
  for (const id of ids(root.hasPart)) {
    const bytes = await Deno.readFile(join(out, decodeURIComponent(id))), entity = byId.get(id)!;
    assert.ok(typesOf(id).includes("File"));
    assert.deepEqual([entity.sha256, entity.contentSize], [sha256Hex(bytes), String(bytes.length)]);
  }
  // Process, Workflow and Workflow RO-Crate: profiles, main entity, language, action.
  const profiles = ["wfrun/process", "wfrun/workflow", "workflowhub/workflow-ro-crate"];
  for (const profile of profiles) {
    const id = ids(root.conformsTo).find((id) => id.includes(profile))!;
    assert.ok(typesOf(id).includes("CreativeWork") && byId.get(id)!.version, profile);
  }
  const [main] = ids(root.mainEntity);
  for (const type of ["File", "SoftwareSourceCode", "ComputationalWorkflow"]) {
    assert.ok(typesOf(main).includes(type), type);
  }
  const [language] = ids(byId.get(main)!.programmingLanguage);
  assert.ok(typesOf(language).includes("ComputerLanguage"));
  const [run] = ids(root.mentions), action = byId.get(run)!;
  assert.ok(typesOf(run).includes("CreateAction"));
  assert.deepEqual(ids(action.instrument), [main]);
  assert.deepEqual(ids(action.actionStatus), ["http://schema.org/CompletedActionStatus"]);
  assert.ok(Date.parse(String(action.startTime)) <= Date.parse(String(action.endTime)));
  const results = ids(action.result), objects = ids(action.object);
  assert.ok(results.includes("artifacts/modulator/symbols.npz") && objects.length > 5);
  const metric = byId.get(results.find((id) => id.endsWith("/channel.ber"))!)!;
  assert.ok(metric["@type"] === "PropertyValue" && typeof metric.value === "number");
  assert.equal(byId.get(objects.find((id) => id.endsWith("wireless_channel.snr_db"))!)!.value, 6);
  // Nothing in the crate refers to an entity that it does not describe.
  const known = (id: string) => byId.has(id) || /^https?:/.test(id);
  const look = (value: unknown): void => {
    if (Array.isArray(value)) return value.forEach(look);
    if (typeof value !== "object" || value === null) return;
    if ("@id" in value && Object.keys(value).length === 1) assert.ok(known(String(value["@id"])), String(value["@id"]));
    Object.values(value).forEach(look);
  };
  look(graph);
  await assert.rejects(svc.runs.export(run_id, { out }), { code: "usage_invalid" });
});

Deno.test({
  name: "the public RO-Crate validator accepts an exported run",
  ...needs(`the RO-Crate validator of npm: ${loaded.text.split("\n")[0]}`, loaded.success),
  sanitizeOps: false,
  sanitizeResources: false,
  async fn() {
    const { runs } = await session(), [{ run_id }] = await runs.list({ recipe: "sweep" });
    const crate = join(stateDir, "validated"), licence = "https://creativecommons.org/licenses/by/4.0/";
    await runs.export(run_id, { out: crate, licence });
    const sums = await Deno.readTextFile(join(crate, "SHA256SUMS"));
    const files = [...sums.matchAll(/^\w+ [ *](.*)$/gm)].map(([, path]) => path);
    const check = async () => {
      const { success, text } = await validateCrate(crate, "ro-crate-metadata.json", "SHA256SUMS", ...files);
      assert.ok(success, text);
      return JSON.parse(text) as { id: string; status: string }[];
    };
    const results = await check();
    assert.deepEqual(results.filter(({ status }) => status !== "success"), []);
    assert.ok(results.length >= 9);
    // The validator objects to a crate without a name.
    const path = join(crate, "ro-crate-metadata.json"), document = JSON.parse(await Deno.readTextFile(path));
    const root = document["@graph"].find((entity: { "@id": string }) => entity["@id"] === "./");
    delete root.name;
    await Deno.writeTextFile(path, JSON.stringify(document));
    const wrong = (await check()).filter(({ status }) => status === "error").map(({ id }) => id);
    assert.deepEqual(wrong, ["nameRequired"]);
  },
});
