/** Recipes through every step that a recipe takes without running: read, lay out, edit, compile, plan, lint, draw. */
import { join } from "node:path";
import { canonicalJson, sameValue } from "../../lib/contract/json.ts";
import { parseYaml } from "../../lib/contract/yaml.ts";
import type { JsonObject, Value } from "../../lib/contract/value.ts";
import { graphSvg } from "../../lib/figure/graph/svg.ts";
import { Registry } from "../../lib/contract/registry.ts";
import { editRecipeText } from "../../lib/recipe/edit_text.ts";
import { formatRecipeText } from "../../lib/recipe/format.ts";
import { recipeFromValue } from "../../lib/recipe/read.ts";
import { Session } from "../../lib/api/session.ts";
import { BUILTIN_OPERATIONS } from "../../ops/index.ts";
import { parameterEdges } from "../../lib/conformance/parameter_edges.ts";
import { ROOT_PATH } from "../support/paths.ts";
import { sizeOf } from "../support/sample.ts";
import {
  changed,
  changedText,
  checkSize,
  coded,
  type Fuzzer,
  hostile,
  looseJson,
  pick,
  type Random,
} from "./inputs.ts";

const registry = new Registry();
registry.register(BUILTIN_OPERATIONS);
const CONTRACTS = registry.contracts();

/** A recipe of random steps with parameters at their edges; steps read from earlier ones by kind where they can. */
function generated(random: Random): JsonObject {
  const steps: JsonObject[] = [];
  const made: { from: string; kind: string }[] = [];
  for (let count = 1 + random(8); count > 0; count--) {
    const { id: op, params_schema, input_kinds, output_kinds } = pick(random, CONTRACTS);
    const id = `s${steps.length}`;
    const given: JsonObject = {};
    for (const [name, schema] of Object.entries(params_schema.properties as Record<string, JsonObject>)) {
      if (random(3) > 0) continue;
      const { accepted, refused } = parameterEdges(schema);
      const values = random(6) === 0 ? refused : accepted;
      if (values.length > 0) given[name] = pick(random, values);
    }
    const fitting = Object.entries(input_kinds).map(([port, kinds]) => {
      const sources = made.filter(({ kind }) => kinds.includes(kind) || random(30) === 0);
      return sources.length === 0 ? [] : [[port, pick(random, sources).from]];
    }).flat();
    steps.push({ id, op, inputs: Object.fromEntries(fitting), params: given });
    for (const [port, kind] of Object.entries(output_kinds)) made.push({ from: `${id}.${port}`, kind });
  }
  return { name: "generated", metadata: random(2) ? { seed: random(1000) } : {}, steps };
}

/** Recipes of the repository by path, with smaller ones more often. */
function shipped(): [string, string][] {
  const list = (folder: string): string[] =>
    [...Deno.readDirSync(folder)].flatMap(({ name, isDirectory }) =>
      isDirectory ? list(join(folder, name)) : name.endsWith(".yaml") ? [join(folder, name)] : []
    );
  return list(join(ROOT_PATH, "recipes")).sort().map((path): [string, string] => [path, Deno.readTextFileSync(path)])
    .filter(([, text]) => text.length < 30_000 && text.includes("steps:"));
}

export async function open(folder: string): Promise<Fuzzer> {
  const svc = new Session({ projectRoot: folder });
  await svc.registry();
  const texts = shipped().map(([, text]) => text);
  const checkValue = async (value: Value, before: string, random: Random) => {
    const recipe = await coded(() => recipeFromValue(value));
    if (recipe === undefined) return;
    const authored = await coded(() => svc.recipes.parse(canonicalJson(recipe), { file: "r.json" }));
    if (authored === undefined) return;
    const calls: [string, () => Promise<unknown>][] = [
      ["validate", () => svc.recipes.validate(authored)],
      ["validate in compat mode", () => svc.recipes.validate(authored, { mode: "compat", strictLegacy: false })],
      ["plan", () => svc.recipes.plan(authored, { usePlanCache: false })],
      ["lint", () => svc.recipes.lint(authored)],
      ["checkResearch", () => svc.recipes.checkResearch(authored)],
      ["overview", () => svc.recipes.overview(authored)],
      ["explain", () => svc.recipes.explain(authored, pick(random, ["s0", "data", "channel", ""]))],
      ["graph", async () => graphSvg(await svc.recipes.graph(authored, { mode: "compat" }))],
      ["training", () => svc.training.graph(authored)],
    ];
    for (const [name, call] of calls) {
      const result = await coded(call);
      if (result !== undefined) checkSize(`The result of ${name}`, looseJson(result as Value));
    }
    const text = await coded(() => editRecipeText(before, recipe, { file: "r.yaml" }));
    if (text === undefined) return;
    const after = await coded(() => svc.recipes.parse(text, { file: "r.yaml" }));
    if (after !== undefined && !sameValue(after.value, recipe)) {
      throw new Error(
        `An edited text holds another recipe: ${canonicalJson(after.value)} not ${canonicalJson(recipe)}`,
      );
    }
  };
  const checkText = async (text: string) => {
    await coded(() => {
      try {
        parseYaml(text);
      } catch (error) {
        if (!(error instanceof SyntaxError)) throw error;
      }
    });
    const before = await coded(() => svc.recipes.parse(text, { file: "r.yaml" }));
    const laidOut = await coded(() => formatRecipeText(text, { file: "r.yaml" }));
    if (laidOut === undefined) return;
    const again = formatRecipeText(laidOut, { file: "r.yaml" });
    if (again !== laidOut) throw new Error(`A laid out text is laid out differently: ${diffStart(laidOut, again)}`);
    // A text that is no recipe may be laid out all the same.
    if (before === undefined) return;
    const after = await svc.recipes.parse(laidOut, { file: "r.yaml" });
    if (!sameValue(before.value, after.value)) {
      throw new Error("A laid out text holds another recipe");
    }
  };
  const bits = (params: string) => `name: r\nsteps: [{id: a, op: source.random_bits, params: {${params}}}]\n`;
  const both = (text: string) => async () => {
    await checkText(text);
    const value = await coded(async () => (await svc.recipes.parse(text)).value);
    if (value !== undefined) await checkValue(value, texts[0], () => 0);
  };
  const many = (count: number, line: (at: number) => string) =>
    Array.from({ length: count }, (_, at) => line(at)).join("");
  const corpus = {
    "512 unknown operations": both(
      `name: r\nsteps:\n${many(512, (n) => `  - {id: s${n}, op: wireless.chanel${n}}\n`)}`,
    ),
    "thousands of unknown keys": both(`${bits("bit_count: 8")}${many(sizeOf(12_000, 60_000), (n) => `k${n}: 1\n`)}`),
    "1.8 MB of dashes": both("- ".repeat(900_000)),
    "a folded scalar of 100,000 lines": both(`name: r\nmetadata:\n  note: >\n${"    w\n".repeat(100_000)}steps: []\n`),
    "a horizon of 2^64": both(bits("bit_count: 8, prediction_horizon_s: 18446744073709551616")),
    "10^26 bits": both(bits(`bit_count: 1${"0".repeat(26)}`)),
    "an integer of 4,000 digits": both(bits(`bit_count: ${"9".repeat(4000)}`)),
    "half a surrogate pair": both(bits('bit_count: 8, label: "\\ud800"')),
    "a key of 70,000 characters": both(`name: r\nsteps: []\nmetadata:\n  ? ${"k".repeat(70_000)}\n  : {a: 1}\n`),
  };
  return {
    corpus,
    async perform(random) {
      const text = pick(random, texts);
      if (random(3) === 0) return await checkText(changedText(text, random));
      const value = random(3) === 0 ? generated(random) : (await svc.recipes.parse(text)).value;
      await checkValue(
        random(8) === 0 ? hostile(random) : random(4) === 0 ? value : changed(value, random),
        text,
        random,
      );
    },
    close: () => svc.close(),
  };
}

function diffStart(a: string, b: string): string {
  const at = [...a].findIndex((letter, index) => letter !== b[index]);
  return JSON.stringify([a.slice(Math.max(0, at - 40), at + 40), b.slice(Math.max(0, at - 40), at + 40)]);
}
