/** One strict validation: the session, which the command line prints, the route and the save have the same verdict. */
import assert from "node:assert/strict";
import { canonicalJson } from "../../../lib/contract/json.ts";
import { type Diagnostic, SvcError } from "../../../lib/contract/error.ts";
import { readRecipeText } from "../../../lib/recipe/read.ts";
import { open } from "../../../mod.ts";
import { svc } from "../../support/cli.ts";
import { isSampled } from "../../support/sample.ts";
import { openTestServer } from "./support.ts";

const RECIPES = new URL("../../../recipes/", import.meta.url);
const SHIPPED = ["", "recipe_starters/"].flatMap((folder) =>
  [...Deno.readDirSync(new URL(folder || "./", RECIPES))]
    .filter(({ name }) => name.endsWith(".yaml"))
    .map(({ name }): [string, string] => [name, Deno.readTextFileSync(new URL(folder + name, RECIPES))])
);

const link = (change: (text: string) => string) =>
  change(`name: link
metadata: {research: {task: {id: bit_transport}}}
steps:
  - {id: data, op: source.random_bits, params: {bit_count: 64}}
  - {id: link, op: wireless.digital_link, params: {snr_db: 3.0}, inputs: {bits: data.bits}}
  - {id: ber, op: metrics.bit_error_rate, inputs: {reference: data.bits, candidate: link.bits}}
`);
const swap = (from: string, to: string) => link((text) => text.replace(from, to));

/** Broken recipes with a code that their findings hold. */
const BROKEN: [string, string, string][] = [
  ["parameter", swap("bit_count: 64", "bit_count: many"), "operation_params_schema_invalid"],
  ["unknown operation", swap("source.random_bits", "source.random_bit"), "unknown_operation"],
  ["unknown step of an input", swap("candidate: link.bits", "candidate: lonk.bits"), "recipe_validation_error"],
  ["kind of an input", swap("candidate: link.bits", "candidate: ber.report"), "recipe_validation_error"],
  ["task", swap("bit_transport", "image_reconstruction"), "task_mismatch"],
  ["catalogue", swap("id: bit_transport", "id: bit_transport, modality: image"), "research_catalog_error"],
  [
    "matrix point",
    link((text) =>
      text.replace(
        "metadata: {",
        "metadata: {matrix: {dimensions: {n: [8, -1]}, step_params: {data: {bit_count: {matrix: n}}}}, ",
      )
    ),
    "operation_params_schema_invalid",
  ],
];

type Verdict = { valid: boolean; diagnostics: Omit<Diagnostic, "location">[] };
const plain = (diagnostics: readonly Diagnostic[]) => diagnostics.map(({ location: _, ...item }) => item);

Deno.test("session, route and save give a recipe the same verdict and the same diagnostics", async (t) => {
  await using server = await openTestServer();
  await using session = await open({ projectRoot: server.folder });
  const valid = SHIPPED.filter((_, index) => isSampled(index, 8)).map(([name, text]) => [name, text, null] as const);
  for (const [name, text, code] of [...valid, ...BROKEN]) {
    await t.step(name, async () => {
      const source = await session.recipes.parse(text);
      let own: Verdict;
      try {
        own = { valid: true, diagnostics: plain((await session.recipes.validate(source)).diagnostics) };
      } catch (error) {
        assert.ok(error instanceof SvcError && error.code === "recipe_invalid");
        own = { valid: false, diagnostics: plain(error.diagnostics) };
      }
      assert.equal(own.valid, code === null);
      if (code) assert.ok(own.diagnostics.some((item) => item.code === code), canonicalJson(own.diagnostics as never));
      const body = `{"recipe": ${canonicalJson(readRecipeText(text, { file: name }).value)}`;
      for (const route of ["validate", "save"]) {
        const end = route === "save" ? `, "filename": "own.yaml"}` : "}";
        const reply = await server.post(`/api/recipe/${route}`, body + end);
        assert.deepEqual([reply.status, reply.json.code], own.valid ? [200, undefined] : [400, "recipe_invalid"]);
        const found = reply.json.validation?.diagnostics ?? reply.json.diagnostics;
        assert.deepEqual(plain(found), JSON.parse(JSON.stringify(own.diagnostics)), route);
      }
    });
  }
});

const MATRIX = `name: sweep
execution_profile: {id: custom}
metadata:
  seed_namespace: sweep
  matrix: {dimensions: {snr_db: [1.0, 5.0]}, step_params: {chan: {snr_db: {matrix: snr_db}}}}
steps:
  - {id: data, op: source.random_bits, params: {bit_count: 4096}}
  - {id: encoder, op: channel.nr_ldpc_encoder, inputs: {bits: data.bits}}
  - {id: modulator, op: modulation.digital_modulate, inputs: {bits: encoder.coded_bits}}
  - {id: chan, op: wireless.channel, params: {channel: awgn}, inputs: {symbols: modulator.symbols}}
  - {id: demodulator, op: demodulation.digital_demodulate, inputs: {rx_symbols: chan.rx_symbols}}
  - {id: decoder, op: channel.repetition_decoder, inputs: {coded_bits: demodulator.bits}}
`;

Deno.test("the plan of a matrix has the findings of its links and the missing parts of every point", async () => {
  await using server = await openTestServer();
  const plan = async (text: string) =>
    (await server.post(
      "/api/recipe/plan",
      `{"recipe": ${canonicalJson(readRecipeText(text, { file: "sweep.yaml" }).value)}}`,
    )).json;
  const linked = await plan(MATRIX);
  const of = (step: string) => linked.plan.steps.find(({ step_id }: { step_id: string }) => step_id === step);
  assert.equal(of("chan").operation_id, "wireless.channel");
  assert.deepEqual(
    linked.diagnostics.map(({ severity, code, pointer }: Diagnostic) => [severity, code, pointer]),
    [["warning", "channel_decoder_mismatch", "/steps/5/inputs/coded_bits"]],
  );
  const missing = MATRIX.replace("snr_db: [1.0, 5.0]", "photos: [kodak, my_photos]")
    .replace("chan: {snr_db: {matrix: snr_db}}", "image: {dataset: {matrix: photos}}")
    .replace("steps:", "steps:\n  - {id: image, op: source.image_dataset}");
  const refused = await plan(missing);
  assert.equal(refused.code, "plan_invalid");
  const found = refused.diagnostics.filter(({ message }: Diagnostic) => message.includes("photos=my_photos"));
  assert.deepEqual(found.map(({ step_id }: Diagnostic) => step_id), ["image"], JSON.stringify(refused.diagnostics));
});

Deno.test("svc recipe validate prints the findings of the session", async () => {
  for (const [name, text, code] of BROKEN.slice(-3)) {
    const { code: exit, json } = await svc(["recipe", "validate", "-", "--json"], { stdin: text });
    assert.equal(exit, 3, name);
    assert.ok(json.diagnostics.some((item: Diagnostic) => item.code === code));
  }
});
