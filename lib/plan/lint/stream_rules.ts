/**
 * Mistakes in bit streams: decoders that do not match their encoder, error rates between streams of different length,
 * and redundancy counted twice or at the wrong stage.
 */
import { DECODERS, ENCODERS, TRANSFORMS } from "../../contract/transforms.ts";
import { toNumber } from "../../contract/value.ts";
import { describeStream, isCode, sameKinds, sameSource, type Stream, top } from "./streams.ts";
import { type Finding, inputOf, type LintStep, type LintView, opOf, paramOf, type Rule } from "./view.ts";

const COMPARED: readonly { op: string; reference: string; candidate: string }[] = [
  { op: "metrics.bit_error_rate", reference: "reference", candidate: "candidate" },
  { op: "metrics.block_error_rate", reference: "reference", candidate: "candidate" },
  { op: "metrics.ofdm_power_allocation", reference: "reference", candidate: "candidate" },
  { op: "metrics.nr_ldpc_ofdm_delivery", reference: "reference_payload", candidate: "decoded_payload" },
];
const ACCOUNTING = ["", ".v2", ".v3"].map((version) => `channel.communication_resource_accounting${version}`);

/** Comparisons of two known streams with different outputs. */
function* comparisons(
  recipe: LintView,
): Iterable<{ step: LintStep; port: string; reference: Stream; candidate: Stream }> {
  for (const row of COMPARED) {
    for (const step of recipe.ofOp(row.op)) {
      const reference = recipe.stream(step, row.reference), candidate = recipe.stream(step, row.candidate);
      if (reference && candidate) yield { step, port: row.candidate, reference, candidate };
    }
  }
}

/** Decoders of a layer, with their input stream. */
function* decoders(recipe: LintView, op: string): Iterable<{ step: LintStep; port: string; stream: Stream }> {
  const port = TRANSFORMS.get(op)!.from;
  for (const step of recipe.ofOp(op)) {
    const stream = recipe.stream(step, port);
    if (stream) yield { step, port, stream };
  }
}

/** Operations that read a payload, which must have no layers. */
const PAYLOAD_READER =
  /^(model\..*decode(_bits)?|foundation\..*|channel\.(bits_to_indices|bits_to_latents|payload_passthrough_decoder))$/;

function* stillCoded(recipe: LintView): Iterable<Finding> {
  for (const step of recipe.steps) {
    if (!PAYLOAD_READER.test(step.op)) continue;
    for (const port of Object.keys(step.inputs)) {
      const stream = recipe.stream(step, port);
      if (!stream || stream.layers.length === 0) continue;
      yield {
        place: inputOf(step, port),
        message: `Cannot decode a payload from ${describeStream(stream)}`,
        hint: `First decode the layer of ${top(stream)!.step.id}`,
        step,
      };
    }
  }
}

function* wrongDecoders(recipe: LintView): Iterable<Finding> {
  for (const op of DECODERS) {
    const { takes } = TRANSFORMS.get(op)!;
    for (const { step, port, stream } of decoders(recipe, op)) {
      const last = top(stream);
      if (last?.kind === takes || stream.layers.some(({ kind }) => kind === takes)) continue;
      yield {
        place: inputOf(step, port),
        message: `Cannot decode ${describeStream(stream)} with ${op}: it has another code or none`,
        hint: last && isCode(last) ? `Use the decoder of ${last.step.op}` : "Use the decoder of the encoder",
        step,
      };
    }
  }
  for (const { step, stream } of decoders(recipe, "channel.identity_decoder")) {
    const last = top(stream);
    if (!last || !isCode(last)) continue;
    yield {
      place: opOf(step),
      message:
        `Cannot leave the code of ${last.step.id} undecoded: channel.identity_decoder returns coded bits as payload`,
      hint: `Use the decoder of ${last.step.op}`,
      step,
    };
  }
}

function* wrongOrder(recipe: LintView): Iterable<Finding> {
  for (const [op, { takes }] of TRANSFORMS) {
    if (takes === undefined || takes === "symbols") continue;
    for (const { step, port, stream } of decoders(recipe, op)) {
      const last = top(stream);
      if (!last || last.kind === takes || !stream.layers.some(({ kind }) => kind === takes)) continue;
      yield {
        place: inputOf(step, port),
        message: `Cannot decode ${takes} in ${describeStream(stream)} before the layer of ${last.step.id}`,
        hint: "Decode in the reverse order of encoding",
        step,
      };
    }
  }
}

function* accountedStages(recipe: LintView): Iterable<Finding & { twice: boolean }> {
  for (const step of recipe.ofOp(...ACCOUNTING)) {
    const [payload, framed, coded, symbols] = ["payload_bits", "framed_bits", "coded_bits", "symbols"]
      .map((port) => recipe.stream(step, port));
    const wrong = (port: string, stream: Stream, expected: string, twice = false) => ({
      place: inputOf(step, port),
      message: twice
        ? `Cannot count the code of ${describeStream(stream)} as framing: coding counts it again`
        : `Cannot account for ${describeStream(stream)} as ${port.replace("_", " ")}`,
      hint: expected,
      step,
      twice,
    });
    if (payload && payload.layers.length > 0) {
      yield wrong("payload_bits", payload, "Wire the payload, before packets and code");
      continue;
    }
    if (framed && payload && (!sameSource(framed, payload) || framed.layers.some(({ kind }) => kind !== "packets"))) {
      const code = sameSource(framed, payload) && framed.layers.some(isCode);
      yield wrong("framed_bits", framed, "Wire the output of the packetizer, or the payload without one", code);
      continue;
    }
    if (!coded) continue;
    const before = framed ?? payload;
    const added = before && coded.layers.slice(before.layers.length);
    if (before && (!sameSource(coded, before) || !added!.every(isCode) || !startsWith(coded, before))) {
      yield wrong("coded_bits", coded, "Wire the output of the channel encoder");
    } else if (
      symbols && top(symbols)?.kind === "symbols" &&
      (!sameSource(symbols, coded) || !sameKinds(symbols.layers.slice(0, -1), coded.layers))
    ) {
      const early = symbols.layers.length - 1 > coded.layers.length;
      yield early
        ? wrong(
          "coded_bits",
          coded,
          `Wire the output of the channel encoder: the symbols carry ${describeStream(symbols)}`,
        )
        : wrong("symbols", symbols, "Wire the symbols that carry these coded bits");
    }
  }
}

const startsWith = (stream: Stream, before: Stream) =>
  sameKinds(stream.layers.slice(0, before.layers.length), before.layers);

function* countedTwice(recipe: LintView): Iterable<Finding> {
  for (const { twice, ...finding } of accountedStages(recipe)) if (twice) yield finding;
  for (const step of recipe.ofOp("channel.capacity_oracle_digital_link")) {
    const code = recipe.stream(step, "bits")?.layers.find(isCode);
    if (!code) continue;
    yield {
      place: paramOf(step, "ldpc_rate"),
      message:
        `Cannot count the code of ${code.step.id} and the rate of the capacity oracle: the link already includes an ideal code`,
      hint: "Use channel.identity_encoder and channel.identity_decoder around the oracle",
      step,
    };
  }
  for (const step of recipe.ofOp(...ENCODERS)) {
    const code = recipe.stream(step, "bits")?.layers.find(isCode);
    // An algebraic code around another one is a concatenated code.
    if (!code || code.kind === "reed_solomon" || code.kind === "bch") continue;
    yield {
      severity: "warning",
      place: inputOf(step, "bits"),
      message: `The rate of ${step.id} is not the rate of the link: ${code.step.id} already coded its bits`,
      hint: "Keep one code, or report the product of both rates",
      step,
    };
  }
  const accounted = new Map<string, LintStep>();
  for (const step of recipe.ofOp(...ACCOUNTING)) {
    const symbols = step.inputs.symbols;
    const first = symbols === undefined ? undefined : accounted.get(symbols);
    if (first) {
      yield {
        severity: "warning",
        place: ["steps", step.index],
        message: `${step.id} counts the symbols of ${first.id} again: sums over the recipe count them twice`,
        hint: `Keep one of ${first.id} and ${step.id}`,
        step,
      };
    } else if (symbols !== undefined) accounted.set(symbols, step);
    const modulator = recipe.stream(step, "symbols")?.layers.at(-1)?.step;
    if (
      modulator?.op === "modulation.qpsk_pilot_modulate" &&
      recipe.choices(step, "pilot_symbol_count").values.some((count) => count !== 0)
    ) {
      yield {
        place: paramOf(step, "pilot_symbol_count"),
        message: `Cannot add the pilots of ${modulator.id} to its symbols: its symbols include them`,
        hint: "Leave pilot_symbol_count at 0",
        step,
      };
    }
  }
}

export const STREAM_RULES: readonly Rule[] = [
  {
    code: "ber_length_mismatch",
    *find(recipe) {
      for (const { step, port, reference, candidate } of comparisons(recipe)) {
        if (!sameSource(reference, candidate) || sameKinds(reference.layers, candidate.layers)) continue;
        yield {
          place: inputOf(step, port),
          message: `Cannot compare ${describeStream(candidate)} with ${
            describeStream(reference)
          }: their lengths differ`,
          hint: "Compare both sides of the link at the same stage",
          step,
        };
      }
    },
  },
  {
    code: "ber_streams_unrelated",
    severity: "warning",
    *find(recipe) {
      for (const { step, port, reference, candidate } of comparisons(recipe)) {
        const sources = [reference, candidate].map(({ source }) => source.step);
        if (sources[0] === sources[1] || !sources.every(({ op }) => op.startsWith("source."))) continue;
        yield {
          place: inputOf(step, port),
          message: `The two streams come from different sources, ${sources[0].id} and ${
            sources[1].id
          }: half of the bits differ`,
          hint: "Wire the reference that was sent",
          step,
        };
      }
    },
  },
  {
    code: "metric_compares_itself",
    *find(recipe) {
      for (const step of recipe.steps) {
        const { reference } = step.inputs;
        if (!step.op.startsWith("metrics.") || reference === undefined) continue;
        const port = Object.keys(step.inputs).find((name) => name !== "reference" && step.inputs[name] === reference);
        if (port === undefined) continue;
        yield {
          place: inputOf(step, port),
          message: `Cannot score ${reference} against itself: the result is always perfect`,
          hint: `Wire ${port} to the received data`,
          step,
        };
      }
    },
  },
  {
    code: "crc_without_packetizer",
    replaces: ["input_metadata_missing"],
    *find(recipe) {
      for (const { step, port, stream } of decoders(recipe, "channel.crc32_check")) {
        if (stream.layers.some(({ kind }) => kind === "packets")) continue;
        yield {
          place: inputOf(step, port),
          message: `Cannot check packets in ${describeStream(stream)}: no packetizer precedes it`,
          hint: "Add a step packetizer with channel.packetize_crc32 before the channel encoder",
          step,
        };
      }
    },
  },
  { code: "channel_decoder_mismatch", replaces: ["input_metadata_missing"], find: wrongDecoders },
  { code: "decoding_order_invalid", replaces: ["input_metadata_missing"], find: wrongOrder },
  { code: "payload_still_coded", find: stillCoded },
  {
    code: "repetition_factor_mismatch",
    *find(recipe) {
      for (const { step, stream } of decoders(recipe, "channel.repetition_decoder")) {
        const last = top(stream);
        if (last?.kind !== "repetition") continue;
        const made = recipe.choices(last.step, "factor"), undone = recipe.choices(step, "factor");
        if (made.dimension !== null && made.dimension === undone.dimension) continue;
        const wrong = undone.values.find((factor) =>
          toNumber(factor as number) !== 0 && made.values.some((value) => value !== factor)
        );
        if (wrong === undefined) continue;
        yield {
          place: paramOf(step, "factor"),
          message: `Cannot vote over ${wrong} copies where ${last.step.id} makes ${made.values.join(", ")}`,
          hint: "Leave factor at 0, which reads the factor from the bits",
          step,
        };
      }
    },
  },
  {
    code: "accounting_stage_mismatch",
    *find(recipe) {
      for (const { twice, ...finding } of accountedStages(recipe)) if (!twice) yield finding;
    },
  },
  { code: "rate_counted_twice", find: countedTwice },
];
