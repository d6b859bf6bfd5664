/** Edits of the graph, on the shipped recipes: edited recipes are planned, with the errors of lint. */
import assert from "node:assert/strict";
import type { Edit, EditContracts } from "../../../lib/contract/graph_draft.ts";
import {
  codeChoices,
  emptyLink,
  insertions,
  insertStep,
  methodChoices,
  removeStep,
  replacements,
  rewire,
  sourcesFor,
} from "../../../lib/contract/graph_edits.ts";
import { payloadChoices, transmissionChoices } from "../../../lib/contract/link_edits.ts";
import { asCustom, matrixFacts } from "../../../lib/contract/matrix_edits.ts";
import { CODES, WORDS } from "../../../lib/contract/transforms.ts";
import { isObject, type JsonObject } from "../../../lib/contract/value.ts";
import { lintRecipe } from "../../../lib/plan/lint.ts";
import { planRecipe } from "../../../lib/plan/planner.ts";
import { compileRecipe } from "../../../lib/recipe/compile.ts";
import { readRecipeText } from "../../../lib/recipe/read.ts";
import { createRegistry } from "../../../ops/registry.ts";

const registry = await createRegistry();
const CONTRACTS: EditContracts = new Map(registry.contracts().map((contract) => [contract.id, contract]));
const RECIPES = new URL("../../../recipes/", import.meta.url);
const recipeOf = (name: string): JsonObject =>
  readRecipeText(Deno.readTextFileSync(new URL(`${name}.yaml`, RECIPES)), { file: name }).value as JsonObject;
const namesIn = (folder: string): string[] =>
  [...Deno.readDirSync(new URL(`./${folder}`, RECIPES))].filter(({ name }) => name.endsWith(".yaml"))
    .map(({ name }) => folder + name.slice(0, -".yaml".length)).sort();

const stepsOf = (recipe: JsonObject) =>
  recipe.steps as (JsonObject & { id: string; op: string; inputs?: JsonObject })[];
const stepOf = (recipe: JsonObject, id: string) => stepsOf(recipe).find((step) => step.id === id)!;
const inputsOf = (recipe: JsonObject, id: string) => stepOf(recipe, id).inputs;

function done(edit: Edit | undefined): JsonObject {
  assert.ok(edit !== undefined && "recipe" in edit, JSON.stringify(edit));
  return edit.recipe;
}
const reasonOf = (edit: Edit) => "refused" in edit ? edit.refused : assert.fail("The edit was made");

/** Plans a recipe. @throws AssertionError for other errors of lint than the found ones, and for those of the plan */
async function planned(recipe: JsonObject, title: string, found: string[] = []): Promise<void> {
  const compilation = compileRecipe(recipe, { mode: "strict", registry });
  const { issues } = lintRecipe(compilation, { registry, strict: true });
  const errors = issues.filter(({ severity }) => severity === "error");
  assert.deepEqual(errors.map(({ code }) => code), found, `${title}: ${JSON.stringify(errors)}`);
  const result = await planRecipe(compilation, { registry, usePlanCache: false });
  assert.equal(result.status, "planned", `${title}: ${JSON.stringify(result.diagnostics)}`);
}

/** Codes that cannot take the place of the one of a step, with the reason. */
const REFUSED: { [place: string]: { [code: string]: RegExp } } = {
  // Only soft values are interleaved back, and only the turbo decoder gives soft values of its payload too.
  "bit_transport_concatenated outer_encoder": {
    "no code": /identity_decoder takes .* at coded_bits; outer_deinterleaver.llr is channel.llr/,
    "repetition code": /repetition_decoder takes .* at coded_bits; outer_deinterleaver.llr is channel.llr/,
  },
  "bit_transport_concatenated encoder": {
    "no code": /identity_encoder takes .* at bits; outer_interleaver.coded_bits is channel.coded_bits/,
    "repetition code": /repetition_encoder takes .* at bits/,
    "LDPC code": /nr_ldpc_encoder takes .* at bits/,
    "polar code": /nr_polar_encoder takes .* at bits/,
    "Reed-Solomon code": /outer_deinterleaver needs channel.llr.numpy in place of decoder.payload_llr/,
    "BCH code": /outer_deinterleaver needs channel.llr.numpy in place of decoder.payload_llr/,
    "unequal error protection": /unequal_error_protection takes .* at bits/,
  },
  "bit_transport_shaped encoder": {
    "no code": /identity_encoder takes .* at bits; matcher.coded_bits is channel.coded_bits/,
    "repetition code": /repetition_encoder takes .* at bits/,
    "LDPC code": /nr_ldpc_encoder takes .* at bits/,
    "polar code": /nr_polar_encoder takes .* at bits/,
    "Reed-Solomon code": /dematcher needs channel.llr.numpy in place of decoder.payload_llr/,
    "BCH code": /dematcher needs channel.llr.numpy in place of decoder.payload_llr/,
    "unequal error protection": /unequal_error_protection takes .* at bits/,
  },
  "bit_transport_convolutional encoder": {
    "no code": /identity_decoder takes .* at coded_bits; descrambler.llr is channel.llr/,
    "repetition code": /repetition_decoder takes .* at coded_bits; descrambler.llr is channel.llr/,
  },
};

/** Codes that do not send the shaped bits in their places: lint names them where one takes the place of another code. */
const SHAPED: Record<string, string[]> = {
  bit_transport_shaped: ["convolutional code", "turbo code", "small block code"],
};

for (const name of namesIn("").filter((name) => name.startsWith("bit_transport_"))) {
  Deno.test(`${name}: every code takes the place of every other one`, async () => {
    const recipe = recipeOf(name);
    const encoders = stepsOf(recipe).filter(({ op }) => op.endsWith("encoder")).map(({ id }) => id);
    assert.ok(encoders.length > 0);
    for (const encoder of encoders) {
      const { present, choices } = codeChoices(recipe, encoder, CONTRACTS)!;
      assert.deepEqual(
        [present, ...choices.map(({ name }) => name)].sort(),
        ["no code", ...CODES.map((kind) => WORDS[kind])].sort(),
      );
      const refused = {
        "unequal error protection": /needs the input importance_map, and no earlier step gives it/,
        ...REFUSED[`${name} ${encoder}`],
      };
      for (const { name: code, edit } of choices) {
        const reason = refused[code as keyof typeof refused];
        if (reason !== undefined) assert.match(reasonOf(edit), reason, `${encoder} ${code}`);
        else {await planned(
            done(edit),
            `${encoder} ${code}`,
            SHAPED[name]?.includes(code) ? ["shaping_not_systematic"] : [],
          );}
      }
    }
  });
}

Deno.test("a code that is changed and changed back has its wires again", () => {
  for (const name of ["bit_transport_awgn", "bit_transport_bch", "bit_transport_nr_ldpc_tdl", "bit_transport_turbo"]) {
    const recipe = recipeOf(name), id = stepsOf(recipe).find(({ op }) => op.endsWith("encoder"))!.id;
    const { present, choices } = codeChoices(recipe, id, CONTRACTS)!;
    for (const { name: code, edit } of choices.filter(({ edit }) => "recipe" in edit)) {
      const back = codeChoices(done(edit), id, CONTRACTS)!;
      assert.equal(back.present, code);
      const again = done(back.choices.find(({ name }) => name === present)!.edit);
      const wires = (one: JsonObject) => stepsOf(one).map(({ id, op, inputs }) => ({ id, op, inputs }));
      assert.deepEqual(wires(again), wires(recipe), `${name} ${code}`);
    }
  }
});

Deno.test("a code of hard decisions and one of soft values change the wire of the decoder", () => {
  const layered = recipeOf("bit_transport_awgn");
  const to = (recipe: JsonObject, code: string) =>
    done(codeChoices(recipe, "channel_decoder", CONTRACTS)!.choices.find(({ name }) => name === code)!.edit);
  const soft = to(layered, "LDPC code");
  assert.deepEqual(inputsOf(soft, "channel_decoder"), { llr: "demodulator.llr" });
  assert.equal(stepOf(soft, "channel_encoder").op, "channel.nr_ldpc_encoder");
  // The boundary of received bits is in front of a decoder of hard decisions.
  assert.deepEqual(inputsOf(to(soft, "repetition code"), "channel_decoder"), { coded_bits: "rx_bit_boundary.bits" });
});

Deno.test("the empty link is planned, and each code comes into it with its decoder", async () => {
  const link = emptyLink();
  await planned(link, "empty link");
  const { present, choices } = codeChoices(link, null, CONTRACTS)!;
  assert.equal(present, "no code");
  for (const { name, edit } of choices) {
    if (name === "unequal error protection") {
      assert.match(reasonOf(edit), /needs the input importance_map/);
      continue;
    }
    const coded = done(edit), [, encoder] = stepsOf(coded);
    await planned(coded, name);
    const decoder = stepsOf(coded).find(({ op }) => op.endsWith("decoder"))!;
    assert.deepEqual(inputsOf(coded, "bit_errors"), { reference: "data.bits", candidate: `${decoder.id}.bits` });
    assert.deepEqual(inputsOf(coded, "modulator"), { bits: `${encoder.id}.coded_bits` });
    // Either side takes both away.
    for (const id of [encoder.id, decoder.id]) {
      assert.deepEqual(done(removeStep(coded, id, CONTRACTS)).steps, link.steps, `${name} without ${id}`);
    }
  }
});

Deno.test("an interleaver goes between encoder and modulator, and its inverse in front of the decoder", async () => {
  const recipe = recipeOf("bit_transport_bch");
  const mixed = done(insertStep(recipe, "encoder", "channel.block_interleaver", CONTRACTS));
  await planned(mixed, "interleaver");
  assert.deepEqual(inputsOf(mixed, "modulator"), { bits: "block_interleaver.coded_bits" });
  assert.deepEqual(inputsOf(mixed, "block_deinterleaver"), { llr: "demodulator.llr" });
  assert.deepEqual(inputsOf(mixed, "decoder"), { llr: "block_deinterleaver.llr" });
  // Decisions in front of the inverse are compared with the interleaved bits.
  assert.deepEqual(inputsOf(mixed, "coded_errors"), {
    reference: "block_interleaver.coded_bits",
    candidate: "demodulator.bits",
  });
  const without = done(removeStep(mixed, "block_deinterleaver", CONTRACTS));
  assert.deepEqual(without.steps, recipe.steps);
});

Deno.test("pilots come with an estimator and an equaliser, and go with both", async () => {
  const link = emptyLink();
  const piloted = done(insertStep(link, "modulator", "modulation.ofdm_pilot_insert", CONTRACTS));
  await planned(piloted, "pilots");
  assert.deepEqual(inputsOf(piloted, "channel"), { symbols: "ofdm_pilot_insert.symbols" });
  const heard = { rx_symbols: "channel.rx_symbols", pilot_context: "ofdm_pilot_insert.pilot_context" };
  assert.deepEqual(inputsOf(piloted, "ofdm_channel_estimator"), heard);
  assert.deepEqual(inputsOf(piloted, "ofdm_equalize"), { ...heard, estimate: "ofdm_channel_estimator.estimate" });
  assert.deepEqual(inputsOf(piloted, "demodulator"), { rx_symbols: "ofdm_equalize.rx_symbols" });
  for (const id of ["ofdm_pilot_insert", "ofdm_equalize"]) {
    assert.deepEqual(done(removeStep(piloted, id, CONTRACTS)).steps, link.steps, id);
  }
});

Deno.test("an operation of the wire's kind goes into it, and a measurement reads beside its readers", async () => {
  const link = emptyLink();
  const loud = done(insertStep(link, "modulator", "hardware.power_amplifier", CONTRACTS));
  await planned(loud, "amplifier");
  assert.deepEqual(inputsOf(loud, "channel"), { symbols: "power_amplifier.signal" });
  const measured = done(insertStep(link, "demodulator", "metrics.block_error_rate", CONTRACTS));
  await planned(measured, "block errors");
  assert.deepEqual(inputsOf(measured, "block_error_rate"), { candidate: "demodulator.bits", reference: "data.bits" });
  assert.deepEqual(stepsOf(measured).filter(({ id }) => id !== "block_error_rate"), stepsOf(link));
  const names = insertions(link, "demodulator", CONTRACTS).map(({ name }) => name);
  assert.ok(names.includes("metrics.mutual_information"));
  // What reads the wire comes before sources.
  assert.ok(names.indexOf("metrics.spectrum") < names.indexOf("source.random_bits"));
  // A metric compares what was received with what was sent, not with itself.
  const images = { ...recipeOf("image_jpeg_nr_ldpc_awgn") };
  const scored = done(insertStep(images, "receiver", "metrics.image_reconstruction", CONTRACTS));
  assert.deepEqual(inputsOf(scored, "image_reconstruction"), {
    reference: `${stepsOf(images)[0].id}.images`,
    reconstruction: "receiver.images",
  });
  // An inverse comes with its encoder; an equaliser needs an estimate.
  assert.ok(!names.includes("channel.turbo_decoder") && !names.includes("demodulation.ofdm_equalize"));
});

Deno.test("each insertion that is offered after a step of the empty link has a source of an accepted kind for each input", () => {
  const link = emptyLink();
  let count = 0;
  for (const { id } of stepsOf(link)) {
    for (const { name, edit } of insertions(link, id, CONTRACTS)) {
      const { diagnostics } = compileRecipe(done(edit), { mode: "strict", registry });
      assert.deepEqual(diagnostics.filter(({ code }) => code.startsWith("input_")), [], `${name} after ${id}`);
      count++;
    }
  }
  assert.ok(count > 100, `${count} insertions`);
});

Deno.test("a removed step gives its readers its source, and a needed one stays", () => {
  const layered = recipeOf("bit_transport_awgn");
  const bare = done(removeStep(layered, "payload_bit_boundary", CONTRACTS));
  assert.deepEqual(inputsOf(bare, "channel_encoder"), { bits: "data.bits" });
  // The rate was counted at the boundary.
  assert.equal((bare.metadata as JsonObject).rate_count_fixed_point, "data.bits");
  const profile = { id: "custom", version: 1, based_on: { id: "layered_digital", version: 1 } };
  assert.deepEqual(bare.execution_profile, profile);
  assert.deepEqual(asCustom({ execution_profile: "layered_digital" }).execution_profile, profile);
  assert.match(
    reasonOf(removeStep(layered, "modulator", CONTRACTS)),
    /^wireless_channel needs channel.symbols.complex_numpy in place of modulator.symbols$/,
  );
  assert.equal(stepsOf(done(removeStep(layered, "evaluation", CONTRACTS))).length, stepsOf(layered).length - 1);
});

Deno.test("bindings of a parameter that is gone go with it, and are named", () => {
  const link = recipeOf("bit_transport_turbo"),
    metadata = link.metadata as JsonObject,
    matrix = metadata.matrix as JsonObject;
  const swept = {
    ...link,
    metadata: {
      ...metadata,
      matrix: {
        dimensions: { ...matrix.dimensions as JsonObject, iterations: [1, 8], coded: [2048, 3072] },
        step_params: {
          ...matrix.step_params as JsonObject,
          decoder: { iterations: { matrix: "iterations" } },
          encoder: { coded_bits: { matrix: "coded" } },
        },
      },
    },
  };
  const edit = codeChoices(swept, "encoder", CONTRACTS)!.choices.find(({ name }) => name === "BCH code")!.edit;
  assert.deepEqual(matrixFacts(done(edit)).dimensions.map(({ name }) => name), ["snr_db"]);
  assert.deepEqual("changes" in edit && edit.changes, [
    "decoder.iterations is not swept by iterations any more",
    "encoder.coded_bits is not swept by coded any more",
    "encoder: channel.bch_encoder in place of channel.turbo_encoder",
    "encoder loses coded_bits",
    "decoder: channel.bch_decoder in place of channel.turbo_decoder",
  ]);
});

Deno.test("a codec is replaced on both sides", async () => {
  const recipe = recipeOf("image_jpeg_nr_ldpc_awgn"),
    sender = stepsOf(recipe).find(({ op }) => op === "model.jpeg_encode")!;
  const receiver = stepsOf(recipe).find(({ op }) => op === "model.jpeg_decode")!;
  for (const { id } of [sender, receiver]) {
    const choices = replacements(recipe, id, CONTRACTS);
    const webp = done(choices.find(({ name }) => name === "model.webp_encode")?.edit);
    assert.equal(stepOf(webp, receiver.id).op, "model.webp_decode");
    assert.deepEqual(stepOf(webp, sender.id).params, { quality: 75, wire_format: "compact_binary_v1" });
    assert.deepEqual(stepOf(webp, receiver.id).params, { on_error: "gray_image" });
    await planned(webp, "webp");
    // No half of a codec is offered.
    assert.deepEqual(choices.filter(({ name }) => name.endsWith("decode")), []);
  }
});

Deno.test("an estimator and an equaliser are replaced where the wires give what they need", () => {
  const recipe = recipeOf("channel_estimation_ls_awgn");
  const estimator = stepsOf(recipe).find(({ op }) => op === "model.ls_channel_estimator")!;
  assert.deepEqual(
    replacements(recipe, estimator.id, CONTRACTS).map(({ name }) => name),
    ["model.channel_estimator_adapter"],
  );
});

Deno.test("a replacement reads the content of the step, is read, and compares nothing with itself", () => {
  // The pilots that were sent only help the detector: blocks that would read them leave the channel out.
  const mimo = recipeOf("nr_pusch_two_layers");
  assert.deepEqual(replacements(mimo, "detector", CONTRACTS), []);
  assert.deepEqual(methodChoices(mimo, "detector", CONTRACTS).map(({ name }) => name), [
    "detector zf",
    "detector mmse_sic",
    "detector ml",
    "detector kbest",
  ]);
  const [zero] = methodChoices(recipeOf("image_jpeg_ofdm"), "equalizer", CONTRACTS);
  assert.deepEqual(stepOf(done(zero.edit), "equalizer").params, { method: "zf" });
  assert.deepEqual("changes" in zero.edit && zero.edit.changes, ["equalizer.method: zf in place of mmse"]);
  for (const name of ["nr_pusch_two_layers", "bit_transport_awgn", "nr_link_adaptation"]) {
    const recipe = recipeOf(name);
    for (const { id } of stepsOf(recipe)) {
      const readers = (of: JsonObject) =>
        stepsOf(of).filter(({ inputs = {} }) =>
          Object.values(inputs).some((from) => String(from).startsWith(`${id}.`))
        );
      for (const { name: op, edit } of replacements(recipe, id, CONTRACTS)) {
        const replaced = done(edit), { reference, ...others } = inputsOf(replaced, id) ?? {};
        const compared = Object.values(others);
        assert.ok(compared.length !== 1 || compared[0] !== reference, `${id} ${op}`);
        assert.equal(readers(replaced).length > 0, readers(recipe).length > 0, `${id} ${op}`);
      }
    }
  }
});

Deno.test("every link of the recipes is built from the empty one by insertions and choices of sources", () => {
  const names = [...namesIn(""), ...namesIn("recipe_starters/")];
  for (const name of names) {
    const wanted = recipeOf(name);
    let recipe = emptyLink();
    const old = stepsOf(recipe).map(({ id }) => id), idOf = new Map<string, string>();
    let last = old.at(-1)!;
    const asBuilt = (from: string) => `${idOf.get(from.split(".")[0])}.${from.split(".").slice(1).join(".")}`;
    for (const { id, op, inputs = {} } of stepsOf(wanted)) {
      const edit = insertStep(recipe, last, op, CONTRACTS, true);
      const before = new Set(stepsOf(recipe).map(({ id }) => id));
      recipe = done(edit);
      const added = stepsOf(recipe).filter((step) => !before.has(step.id));
      const own = added.find((step) => step.op === op)!;
      // A partner that came along is wired by its own turn in the list.
      for (const other of added) if (other !== own) recipe = done(removeStep(recipe, other.id, CONTRACTS));
      if (!stepsOf(recipe).some((step) => step.id === own.id)) {
        recipe = done(insertStep(recipe, last, op, CONTRACTS, true));
      }
      idOf.set(id, own.id);
      for (const [port, from] of Object.entries(inputs)) {
        const source = asBuilt(String(from));
        assert.ok(
          sourcesFor(recipe, own.id, port, CONTRACTS).includes(source),
          `${name}: ${own.id}.${port} from ${source}`,
        );
        recipe = done(rewire(recipe, { step: own.id, port, from: source }, CONTRACTS));
      }
      for (const port of Object.keys(inputsOf(recipe, own.id) ?? {})) {
        if (inputs[port] === undefined) recipe = done(rewire(recipe, { step: own.id, port, from: null }, CONTRACTS));
      }
      last = own.id;
    }
    for (const id of old.reverse()) recipe = done(removeStep(recipe, id, CONTRACTS));
    const shape = (one: JsonObject, as: (from: string) => string = (from) => from) =>
      stepsOf(one).map(({ op, inputs }) => ({
        op,
        inputs: isObject(inputs)
          ? Object.fromEntries(Object.entries(inputs).map(([p, from]) => [p, as(String(from))]))
          : {},
      }));
    assert.deepEqual(shape(recipe), shape(wanted, asBuilt), name);
  }
  assert.ok(names.length > 100);
});

/** The coded link of the empty one. */
const coded = (code: string) =>
  done(codeChoices(emptyLink(), null, CONTRACTS)!.choices.find(({ name }) => name === code)?.edit);
const chosen = (choices: { name: string; edit: Edit }[], name: string) =>
  done(choices.find((choice) => choice.name === name)?.edit);
const wiresOf = (recipe: JsonObject) =>
  stepsOf(recipe).map(({ op, inputs = {} }) => `${op.split(".")[1]}(${Object.values(inputs).join(", ")})`);

Deno.test("another content comes with its coders and metric, through the same link", async () => {
  const links: [string, JsonObject, string][] = [
    ["empty", emptyLink(), "data"],
    ["LDPC", coded("LDPC code"), "data"],
    ["JPEG", recipeOf("image_jpeg_nr_ldpc_awgn"), "sender"],
    ["analog", recipeOf("image_linear_analog_awgn"), "source"],
    ["text", recipeOf("text_huffman_turbo_awgn"), "data"],
  ];
  for (const [title, recipe, id] of links) {
    const choices = payloadChoices(recipe, id, CONTRACTS);
    assert.ok(choices.length >= 5, title);
    for (const { name, edit } of choices) await planned(done(edit), `${title}: ${name}`);
  }
  const jpeg = chosen(payloadChoices(coded("LDPC code"), "data", CONTRACTS), "images as JPEG");
  assert.deepEqual(wiresOf(jpeg), [
    "image_dataset()",
    "jpeg_encode(image_dataset.images)",
    "nr_ldpc_encoder(jpeg_encode.bits)",
    "digital_modulate(nr_ldpc_encoder.coded_bits)",
    "channel(modulator.symbols)",
    "digital_demodulate(channel.rx_symbols)",
    "nr_ldpc_decoder(demodulator.llr)",
    "jpeg_decode(nr_ldpc_decoder.bits)",
    "image_reconstruction(jpeg_decode.images, image_dataset.images)",
    "bit_error_rate(jpeg_encode.bits, nr_ldpc_decoder.bits)",
  ]);
  assert.equal((jpeg.metadata as JsonObject).rate_count_fixed_point, "jpeg_encode.bits");
  // And back: the same link as before.
  const back = chosen(payloadChoices(jpeg, "image_dataset", CONTRACTS), "random bits");
  assert.deepEqual(stepsOf(back).map(({ op }) => op), stepsOf(coded("LDPC code")).map(({ op }) => op));
  // What declares the task of the old content goes, and is said.
  const text = payloadChoices(recipeOf("image_jpeg_nr_ldpc_awgn"), "data", CONTRACTS).find(({ name }) =>
    /texts/.test(name)
  )!;
  assert.ok("changes" in text.edit && text.edit.changes.includes("The declared task is removed"));
  assert.equal((done(text.edit).metadata as JsonObject).research, undefined);
  // A joint coder has neither code nor modulation; a step behind the link has no other content.
  const joint = chosen(
    payloadChoices(coded("turbo code"), "data", CONTRACTS),
    "images, source and channel coded jointly",
  );
  assert.ok(!stepsOf(joint).some(({ op }) => /modulat|turbo|bit_error/.test(op)));
  assert.deepEqual(payloadChoices(jpeg, "jpeg_decode", CONTRACTS), []);
  const circle = { ...emptyLink(), steps: [{ id: "a", op: "wireless.channel", inputs: { symbols: "a.rx_symbols" } }] };
  assert.deepEqual(payloadChoices(circle, "a", CONTRACTS), []);
});

Deno.test("a channel becomes OFDM or MIMO with pilots, estimator and receiver", async () => {
  for (
    const recipe of [
      emptyLink(),
      coded("LDPC code"),
      chosen(payloadChoices(coded("polar code"), "data", CONTRACTS), "images as tokens"),
    ]
  ) {
    for (const { name, edit } of transmissionChoices(recipe, "channel", CONTRACTS)) await planned(done(edit), name);
  }
  const [ofdm, mimo] = transmissionChoices(emptyLink(), "channel", CONTRACTS).map(({ edit }) => done(edit));
  assert.deepEqual(inputsOf(ofdm, "demodulator"), { rx_symbols: "ofdm_equalize.rx_symbols" });
  assert.equal(stepOf(ofdm, "channel").op, "wireless.channel");
  assert.deepEqual(inputsOf(mimo, "demodulator"), { rx_symbols: "mimo_detect.symbols" });
  assert.deepEqual([(stepOf(mimo, "channel").params as JsonObject).tx_antennas, stepOf(mimo, "channel").op], [
    2,
    "wireless.mimo_ofdm_channel",
  ]);
  // The sweep over Es/N0 stays, and the content of the detected symbols is known: a code is inserted around them.
  assert.deepEqual(matrixFacts(mimo).bindings.map(({ stepId, param }) => [stepId, param]), [["channel", "snr_db"]]);
  await planned(
    done(codeChoices(mimo, null, CONTRACTS)!.choices.find(({ name }) => name === "LDPC code")?.edit),
    "a code over MIMO",
  );
  assert.deepEqual(transmissionChoices(ofdm, "channel", CONTRACTS), [], "pilots are there");
  assert.deepEqual(transmissionChoices(ofdm, "data", CONTRACTS), []);
});
