/**
 * Mistakes in what bits go through: decoders that do not undo their encoder, error rates between streams of different
 * length, and redundancy that is booked twice or at the wrong stage.
 */
import { toNumber } from "../../contract/value.ts";
import { describeStream, isCode, sameKinds, sameSource, type Stream, top, TRANSFORMS } from "./streams.ts";
import { type Finding, inputOf, type LintStep, type LintView, opOf, paramOf, type Rule } from "./view.ts";

const COMPARED: readonly { op: string; reference: string; candidate: string }[] = [
  { op: "metrics.bit_error_rate", reference: "reference", candidate: "candidate" },
  { op: "metrics.block_error_rate", reference: "reference", candidate: "candidate" },
  { op: "metrics.ofdm_power_allocation", reference: "reference", candidate: "candidate" },
  { op: "metrics.nr_ldpc_ofdm_delivery", reference: "reference_payload", candidate: "decoded_payload" },
];
const ACCOUNTING = ["channel.communication_resource_accounting", "channel.communication_resource_accounting.v2"];

/** Comparisons of two known streams that are not one and the same output. */
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

/** Steps that undo a layer, with the stream that they are given. */
function* decoders(recipe: LintView, op: string): Iterable<{ step: LintStep; port: string; stream: Stream }> {
  const port = TRANSFORMS.get(op)!.from;
  for (const step of recipe.ofOp(op)) {
    const stream = recipe.stream(step, port);
    if (stream) yield { step, port, stream };
  }
}

/** Operations that read a payload: whatever it wears must be off by then. */
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
        hint: `Take off first what ${top(stream)!.step.id} put on`,
        step,
      };
    }
  }
}

function* wrongDecoders(recipe: LintView): Iterable<Finding> {
  for (const op of ["channel.repetition_decoder", "channel.nr_ldpc_decoder"]) {
    const { takes } = TRANSFORMS.get(op)!;
    for (const { step, port, stream } of decoders(recipe, op)) {
      const last = top(stream);
      if (last?.kind === takes || stream.layers.some(({ kind }) => kind === takes)) continue;
      yield {
        place: inputOf(step, port),
        message: `Cannot undo a code with ${op} that ${describeStream(stream)} does not wear`,
        hint: last && isCode(last)
          ? `Use the decoder of ${last.step.op}`
          : "Use the decoder that belongs to the encoder",
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
        `Cannot leave the code of ${last.step.id} undone: channel.identity_decoder passes coded bits on as payload`,
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
        message: `Cannot undo ${takes} in ${describeStream(stream)} before what ${last.step.id} put on is off`,
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
        ? `Cannot count the code of ${describeStream(stream)} as framing: it is counted again as coding`
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
      yield wrong("framed_bits", framed, "Wire what the packetizer puts out, or the payload without one", code);
      continue;
    }
    if (!coded) continue;
    const before = framed ?? payload;
    const added = before && coded.layers.slice(before.layers.length);
    if (before && (!sameSource(coded, before) || !added!.every(isCode) || !startsWith(coded, before))) {
      yield wrong("coded_bits", coded, "Wire what the channel encoder puts out");
    } else if (
      symbols && top(symbols)?.kind === "symbols" &&
      (!sameSource(symbols, coded) || !sameKinds(symbols.layers.slice(0, -1), coded.layers))
    ) {
      const early = symbols.layers.length - 1 > coded.layers.length;
      yield early
        ? wrong(
          "coded_bits",
          coded,
          `Wire what the channel encoder puts out: the symbols carry ${describeStream(symbols)}`,
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
        `Cannot count the code of ${code.step.id} and the rate of the capacity oracle: the link reckons a code itself`,
      hint: "Use channel.identity_encoder and channel.identity_decoder around the oracle",
      step,
    };
  }
  for (const step of recipe.ofOp("channel.repetition_encoder", "channel.nr_ldpc_encoder")) {
    const code = recipe.stream(step, "bits")?.layers.find(isCode);
    if (!code) continue;
    yield {
      severity: "warning",
      place: inputOf(step, "bits"),
      message: `The rate of ${step.id} is not the rate of the link: ${code.step.id} has coded the bits before it`,
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
        message: `${step.id} counts the symbols that ${first.id} has counted: sums over the recipe hold them twice`,
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
        message: `Cannot count the pilots of ${modulator.id} beside its symbols: they are among them`,
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
          message: `Cannot score ${reference} against itself: the result is perfect whatever happens`,
          hint: `Wire ${port} to what was received`,
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
          message: `Cannot check packets in ${describeStream(stream)}: nothing cut it into packets`,
          hint: "Add a step packetizer with channel.packetize_crc32 before the channel encoder",
          step,
        };
      }
    },
  },
  { code: "channel_decoder_mismatch", find: wrongDecoders },
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
          hint: "Leave factor at 0: the bits say how often they were repeated",
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
