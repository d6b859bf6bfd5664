/** Closed-form curves: which links have one, and that it is the rate of an enumeration of all data words. */
import assert from "node:assert/strict";
import { float, type JsonObject } from "../../../lib/contract/value.ts";
import { knownLink, theoryCurves, theorySource } from "../../../lib/figure/theory_curves.ts";
import { bitErrorRateAwgn } from "../../../lib/numeric/link/theory.ts";
import enumerated from "../../data/physical/repetition.json" with { type: "json" };
import { linkRecipe } from "../study/result_fixture.ts";

interface Step {
  id: string;
  op: string;
  params: JsonObject;
  inputs: JsonObject;
}
const step = (recipe: JsonObject, id: string) => (recipe.steps as unknown as Step[]).find((one) => one.id === id)!;

/** A step put on the wire between two others. */
function between(
  recipe: JsonObject,
  into: string,
  input: string,
  added: Omit<Step, "inputs">,
  ports: [string, string],
) {
  const next = step(recipe, into);
  (recipe.steps as unknown as Step[]).push({ ...added, inputs: { [ports[0]]: next.inputs[input] } });
  next.inputs[input] = `${added.id}.${ports[1]}`;
}

/** A repetition code around a link; bits are compared behind its decoder, unless `compared` says before it. */
function repeated(
  modulation: string,
  channel: string,
  snrDb: number,
  copies: number,
  compared = "payload",
): JsonObject {
  const recipe = linkRecipe(modulation, channel, snrDb);
  step(recipe, "channel").params.fading_scope = "symbol";
  between(
    recipe,
    "modulator",
    "bits",
    { id: "encoder", op: "channel.repetition_encoder", params: { factor: copies } },
    [
      "bits",
      "coded_bits",
    ],
  );
  if (compared === "coded") step(recipe, "ber").inputs.reference = "encoder.coded_bits";
  else {
    between(recipe, "ber", "candidate", { id: "decoder", op: "channel.repetition_decoder", params: { factor: 0 } }, [
      "coded_bits",
      "bits",
    ]);
  }
  return recipe;
}

Deno.test("a theory curve is the closed form over Es/N0", () => {
  const link = knownLink(linkRecipe("qpsk", "awgn", 0), "channel.ber")!;
  const points = [{ x: 0, link }, { x: 4, link: { ...link, snrDb: 4 } }];
  const curves = theoryCurves([points]), at = curves[0].points.find(({ x }) => x === 2)!;
  assert.ok(Math.abs(at.y / bitErrorRateAwgn("qpsk", 10 ** 0.2) - 1) < 1e-11);
  assert.deepEqual(theorySource(curves), { theory: "Cho and Yoon 2002, eq. 14-16" });
  assert.deepEqual(theoryCurves([[...points, { x: 8, link: null }]]), []);
  assert.deepEqual(theoryCurves([[points[0]]]), [], "one place is no curve");
});

Deno.test("a majority of hard decisions has the rate of an enumeration, in each modulation and channel", () => {
  let seen = 0;
  for (const [name, rate] of Object.entries(enumerated.rates)) {
    const [, channel, modulation, copies, snr] = /^(\w+) (\w+) x(\d) (-?[\d.]+) dB$/.exec(name)!;
    if (modulation === "qam16") continue;
    const at = (snrDb: number) => ({
      x: snrDb,
      link: knownLink(repeated(modulation, channel, snrDb, Number(copies)), "channel.ber"),
    });
    // The enumeration integrates over the gain by Simpson's rule, to 2e-6.
    const [curve] = theoryCurves([[at(Number(snr)), at(Number(snr) + 10)]]);
    assert.equal(curve.label.includes("majority of 3"), copies === "3", curve.label);
    assert.ok(Math.abs(curve.points[0].y / rate - 1) < 3e-6, `${name}: ${curve.points[0].y}, enumerated ${rate}`);
    seen++;
  }
  assert.ok(seen >= 72, String(seen));
});

Deno.test("over Eb/N0 the copies count, and before the decoder the rate is that of the channel", () => {
  const known = (compared: string, snrDb: number) =>
    knownLink(repeated("qpsk", "awgn", snrDb, 3, compared), "channel.ber");
  for (const compared of ["payload", "coded"]) {
    const points = [0, 6].map((snrDb) => ({ x: snrDb - 10 * Math.log10(2 / 3), link: known(compared, snrDb) }));
    const [{ label, points: [first] }] = theoryCurves([points]), p = bitErrorRateAwgn("qpsk", 1);
    const expected = compared === "coded" ? p : 3 * p ** 2 - 2 * p ** 3;
    assert.ok(Math.abs(first.y / expected - 1) < 1e-9, `${label}: ${first.y}`);
  }
});

Deno.test("no curve stands where the wires do not prove what is compared", () => {
  const link = () => linkRecipe("qpsk", "awgn", 0), of = (recipe: JsonObject) => knownLink(recipe, "channel.ber");
  const changed = (recipe: JsonObject, change: (recipe: JsonObject) => unknown) => (change(recipe), recipe);
  assert.notEqual(of(link()), null);
  assert.notEqual(of(repeated("qpsk", "awgn", 0, 3)), null);
  assert.notEqual(of(repeated("qpsk", "awgn", 0, 2)), null, "fair bits make an even split fair");
  const passed = (id: string, op: string, params: JsonObject = {}): Omit<Step, "inputs"> => ({ id, op, params });
  const wired = (id: string, op: string, into: string, input: string, port: string, params: JsonObject = {}) =>
    changed(link(), (recipe) => between(recipe, into, input, passed(id, op, params), [port, port]));
  const kept: Record<string, JsonObject> = {
    "a checkpoint": wired("check", "channel.bit_boundary", "ber", "candidate", "bits"),
    "a power that is one already": wired("power", "channel.symbol_power_normalize", "channel", "symbols", "symbols", {
      target_power: float(1),
    }),
    "an operation beside the link": changed(
      link(),
      (recipe) =>
        (recipe.steps as unknown as Step[]).push({ ...passed("mine", "my.operation"), inputs: { bits: "data.bits" } }),
    ),
  };
  for (const [what, recipe] of Object.entries(kept)) assert.notEqual(of(recipe), null, what);
  const never: Record<string, JsonObject> = {
    "an unknown operation": wired("mine", "my.operation", "ber", "candidate", "bits"),
    "an impairment": wired("phase", "wireless.carrier_phase_impairment", "demodulator", "rx_symbols", "rx_symbols"),
    "another power": wired("power", "channel.symbol_power_normalize", "channel", "symbols", "symbols", {
      target_power: float(2),
    }),
    "another channel": changed(link(), (recipe) => step(recipe, "channel").params.channel = "ofdm_tdl"),
    "no equaliser": changed(link(), (recipe) => step(recipe, "channel").params.receiver_processing = "none"),
    "a fixed noise variance": changed(link(), (recipe) => step(recipe, "channel").params.noise_mode = "fixed_variance"),
    "a wired channel state": changed(link(), (recipe) => step(recipe, "channel").inputs.channel_state = "state.state"),
    "a power allocation": changed(link(), (recipe) => step(recipe, "demodulator").inputs.allocation = "power.power"),
    "another demapper": changed(link(), (recipe) => step(recipe, "demodulator").params.modulation = "bpsk"),
    "other bits as the reference": changed(link(), (recipe) => step(recipe, "ber").inputs.reference = "more.bits"),
    "another metric": changed(link(), (recipe) => step(recipe, "ber").params.label = "other.ber"),
    "two steps of that metric": changed(link(), ({ steps }) => (steps as unknown[]).push((steps as unknown[]).at(-1))),
    "soft values": changed(link(), (recipe) => step(recipe, "ber").inputs.candidate = "demodulator.llr"),
    "copies within a symbol of 16QAM": repeated("qam16", "awgn", 0, 3),
    "an even split of unfair bits": changed(
      repeated("qpsk", "awgn", 0, 2),
      (recipe) => step(recipe, "data").op = "source.file_bits",
    ),
    "16QAM of unfair bits": changed(
      linkRecipe("qam16", "awgn", 0),
      (recipe) => step(recipe, "data").op = "source.file_bits",
    ),
    "copies in one fading block": changed(
      repeated("bpsk", "flat_rayleigh", 0, 3),
      (recipe) => step(recipe, "channel").params.fading_scope = "source_item",
    ),
    "a decoder of another factor": changed(
      repeated("qpsk", "awgn", 0, 3),
      (recipe) => step(recipe, "decoder").params.factor = 5,
    ),
    "the majority beside the coded bits": changed(
      repeated("qpsk", "awgn", 0, 3),
      (recipe) => step(recipe, "ber").inputs.reference = "encoder.coded_bits",
    ),
  };
  for (const [what, recipe] of Object.entries(never)) assert.equal(of(recipe), null, what);
});
