/**
 * Edits of a link as a whole: what it carries, with source, coders and metric, through the same channel; and how it carries it,
 * with pilots, estimator and equaliser or detector. Like all edits they are named choices, and no edge is drawn.
 */
import {
  type Edit,
  type EditContracts,
  edited,
  type EditedStep,
  GraphDraft,
  isLink,
  isReference,
  refuse,
  stepOf,
} from "./graph_draft.ts";
import { type Choice, insertStep } from "./graph_edits.ts";
import { effectOf } from "./transforms.ts";
import { float, isObject, type JsonObject } from "./value.ts";

/** An operation with its parameters. */
type Part = readonly [op: string, params?: JsonObject];

/** What a link carries. The ports of its parts are found by their kinds. */
interface Payload {
  name: string;
  source: Part;
  send: readonly Part[];
  receive: readonly Part[];
  metric: Part;
  /** Its last part gives symbols: there are no bits. */
  joint?: true;
}

const PHOTOGRAPHS: Part = [
  "source.image_dataset",
  { dataset: "svc_sample_images", image_ids: "coffee,chelsea,camera,rocket", crop_size: 256 },
];
const RECONSTRUCTION: Part = ["metrics.image_reconstruction", { preview_count: 4 }];

const PAYLOADS: readonly Payload[] = [
  {
    name: "random bits",
    source: ["source.random_bits", { bit_count: 100_000 }],
    send: [],
    receive: [],
    metric: ["metrics.bit_error_rate"],
  },
  ...(["jpeg", "webp", "avif"] as const).map((codec): Payload => ({
    name: `images as ${codec === "webp" ? "WebP" : codec.toUpperCase()}`,
    source: PHOTOGRAPHS,
    send: [[`model.${codec}_encode`, { wire_format: "compact_binary_v1" }]],
    receive: [[`model.${codec}_decode`, { on_error: "gray_image" }]],
    metric: RECONSTRUCTION,
  })),
  {
    name: "images as tokens",
    source: PHOTOGRAPHS,
    send: [["model.toy_vqvae_encode", { codebook_size: 256, patch_size: 8 }], ["channel.indices_to_bits"]],
    receive: [["channel.bits_to_indices"], ["model.toy_vqvae_decode"]],
    metric: RECONSTRUCTION,
  },
  {
    name: "texts, entropy coded",
    source: ["source.text_dataset"],
    send: [["model.text_entropy_encode"]],
    receive: [["model.text_entropy_decode"]],
    metric: ["metrics.text_semantic_similarity"],
  },
  {
    name: "images, source and channel coded jointly",
    source: PHOTOGRAPHS,
    send: [
      ["model.linear_analog_encode", { channel_uses_per_pixel: float(0.5), block_size: 32 }],
      ["channel.symbol_power_normalize", { target_power: float(1), normalization_scope: "source_item" }],
    ],
    receive: [["model.linear_analog_decode"]],
    metric: RECONSTRUCTION,
    joint: true,
  },
];

/** The way of the content into the first link: its source, and the steps from there, the link last. */
interface Way {
  source: string;
  steps: EditedStep[];
}

function wayOf(draft: GraphDraft): Way | null {
  for (const link of draft.steps.filter(({ op }) => isLink(op) && effectOf(op) !== undefined)) {
    const steps = [link];
    for (let at: string | undefined = link.inputs[effectOf(link.op)!.from]; at !== undefined;) {
      const step: EditedStep | undefined = draft.steps.find(({ id }) => id === stepOf(at!)),
        effect = step && effectOf(step.op);
      // A circle of wires has no source.
      if (step === undefined || steps.includes(step)) break;
      if (effect === undefined) return { source: at, steps };
      steps.unshift(step);
      at = step.inputs[effect.from];
    }
  }
  return null;
}

/** The input of an operation that takes an output as its content. */
const portFor = (draft: GraphDraft, op: string, reference: string): string | undefined => {
  const port = draft.contentPort(op, (name) => draft.fits(op, name, reference));
  return port !== undefined && draft.fits(op, port, reference) ? port : undefined;
};

const outputsOf = (draft: GraphDraft, id: string): string[] =>
  Object.keys(draft.kindsOf(id)).map((output) => `${id}.${output}`);

/** Adds operations one behind the other, the first one behind an output or none. @returns their steps */
function addChain(draft: GraphDraft, parts: readonly Part[], from: string | null): EditedStep[] {
  let outputs = from === null ? [] : [from];
  return parts.map(([op, params = {}]) => {
    const source = outputs.find((one) => portFor(draft, op, one) !== undefined);
    if (source === undefined && outputs.length > 0) {
      refuse(`${op} does not take ${draft.kindOf(outputs[0])} of ${outputs[0]}`);
    }
    const step = draft.add(
      op,
      source === undefined ? {} : { [portFor(draft, op, source)!]: source },
      stepOf(source ?? ""),
    );
    outputs = outputsOf(draft, step.id);
    return Object.assign(step, { params: { ...params } });
  });
}

/** Removes steps and all that reads them. */
function dropBehind(draft: GraphDraft, first: readonly EditedStep[]): void {
  const gone = new Set(first.map(({ id }) => id));
  for (const id of gone) {
    for (const { step } of draft.readersOf((reference) => stepOf(reference) === id)) gone.add(step.id);
  }
  for (const id of gone) draft.drop(id);
}

/** Removes a step and those before it, where nothing else than a measurement reads them any more. */
function dropBefore(draft: GraphDraft, id: string): void {
  const step = draft.steps.find((one) => one.id === id);
  if (step === undefined) return;
  for (const { step: reader } of draft.readersOf((reference) => stepOf(reference) === id)) {
    if (!draft.isMeasurement(reader)) refuse(`${reader.id} reads what ${id} gives of the present content`);
    if (draft.steps.includes(reader)) draft.drop(reader.id);
  }
  draft.drop(id);
  for (const from of new Set(Object.values(step.inputs).map(stepOf))) {
    const others = draft.readersOf((reference) => stepOf(reference) === from);
    if (others.every(({ step: reader }) => draft.isMeasurement(reader))) dropBefore(draft, from);
  }
}

/** Gives a link other content: everything before and behind it changes, and what carries it stays. */
function carry(given: JsonObject, payload: Payload, contracts: EditContracts): Edit {
  // What was declared of the task is about the present content.
  const { research, ...metadata } = isObject(given.metadata) ? given.metadata : {};
  const recipe = research === undefined ? given : { ...given, metadata };
  const edit = edited(recipe, contracts, (draft) => {
    const way = wayOf(draft) ?? refuse("The recipe has no link with a source");
    const modulator = way.steps.find(({ op }) => effectOf(op)?.puts === "symbols");
    const wasDigital = modulator !== undefined || draft.fits("modulation.digital_modulate", "bits", way.source);
    // Where one of both has no bits, the modulation comes or goes too.
    const whole = payload.joint === true || !wasDigital;
    const cut = whole && modulator !== undefined ? outputsOf(draft, modulator.id)[0] : way.source;
    const content = JSON.stringify(draft.content(cut)), link = way.steps.at(-1)!;
    const received = draft.contents().filter(([reference, one]) =>
      JSON.stringify(one) === content && draft.isBehind(reference, link.id)
    ).map(([reference]) => reference);
    const bare = whole && payload.joint !== true, inner = payload.receive.length > 0;
    const modulation: Part[] = bare
      ? [...(inner ? [["channel.identity_encoder"] as Part] : []), ["modulation.digital_modulate"]]
      : [];
    const demodulation: Part[] = bare
      ? [["demodulation.digital_demodulate"], ...(inner ? [["channel.identity_decoder"] as Part] : [])]
      : [];

    const [source, ...send] = addChain(draft, [payload.source, ...payload.send, ...modulation], null);
    const sent = outputsOf(draft, (send.at(-1) ?? source).id);
    const carriers = new Set(received.map(stepOf));
    const readers = received.flatMap((reference) => draft.readersOf((one) => one === reference)).map(({ step }) =>
      step
    );
    dropBehind(draft, readers.filter((step) => !carriers.has(step.id) && !draft.isMeasurement(step)));
    for (const { step, port } of draft.readersOf((reference) => reference === cut)) {
      const found = sent.find((one) => draft.fits(step.op, port, one));
      if (found !== undefined) step.inputs[port] = found;
      else if (!draft.isMeasurement(step)) {
        refuse(`${step.id} does not take ${draft.kindOf(sent[0])} of ${payload.name}`);
      }
    }
    dropBefore(draft, stepOf(cut));
    draft.move(way.source, sent[0]);

    const back = [...demodulation, ...payload.receive], metric = payload.metric[0];
    const taken = received.findLast((one) => portFor(draft, (back[0] ?? payload.metric)[0], one) !== undefined) ??
      refuse(`${(back[0] ?? payload.metric)[0]} takes nothing of what ${link.id} gives`);
    const last = addChain(draft, back, taken).at(-1);
    const candidates = last === undefined ? [taken] : outputsOf(draft, last.id);
    const inputs = Object.fromEntries(
      Object.keys(draft.contract(metric).input_kinds).map((port) => {
        const from = isReference(port) ? outputsOf(draft, source.id) : candidates;
        return [
          port,
          from.find((one) => draft.fits(metric, port, one)) ?? refuse(`${metric} finds nothing for ${port}`),
        ];
      }),
    );
    const same = draft.steps.some((step) =>
      step.op === metric && Object.entries(inputs).every(([port, from]) => step.inputs[port] === from)
    );
    if (!same) Object.assign(draft.add(metric, inputs, stepOf(candidates[0])), { params: payload.metric[1] ?? {} });
    return source.id;
  });
  if (research === undefined || "refused" in edit) return edit;
  return { ...edit, changes: [...edit.changes, "The declared task is removed"] };
}

/** The same; a link without a code gets the pair that stands for none, whose output is the content and no hard decision. */
function carryCoded(recipe: JsonObject, way: Way, payload: Payload, contracts: EditContracts): Edit {
  const plain = carry(recipe, payload, contracts);
  if ("recipe" in plain) return plain;
  const coded = insertStep(recipe, stepOf(way.source), "channel.identity_encoder", contracts);
  if ("refused" in coded) return plain;
  const edit = carry(coded.recipe, payload, contracts);
  return "refused" in edit ? plain : { ...edit, changes: [...coded.changes, ...edit.changes] };
}

/** The contents that the link of a recipe can have in place of the present one; none for a step that is no part of that. */
export function payloadChoices(recipe: JsonObject, id: string, contracts: EditContracts): Choice[] {
  const draft = new GraphDraft(recipe, contracts), way = wayOf(draft);
  if (way === null) return [];
  const origin = new Set([stepOf(way.source)]);
  for (const one of origin) for (const from of Object.values(draft.step(one).inputs)) origin.add(stepOf(from));
  if (!origin.has(id)) return [];
  const ops = draft.steps.filter(({ id: one }) => origin.has(one)).map(({ op }) => op);
  return PAYLOADS.filter(({ source, send }) => !ops.includes((send[0] ?? source)[0]))
    .map((payload) => ({ name: payload.name, edit: carryCoded(recipe, way, payload, contracts) }));
}

const PILOTS = { subcarriers: 72, num_ofdm_symbols: 14, dmrs_symbols: [2, 11] };

/** Pilots, a channel of several paths, its estimator and an equaliser in place of a channel. */
function overOfdm(recipe: JsonObject, id: string, contracts: EditContracts): Edit {
  const before = new GraphDraft(recipe, contracts).step(id);
  const edit = insertStep(recipe, stepOf(before.inputs.symbols ?? ""), "modulation.ofdm_pilot_insert", contracts);
  if ("refused" in edit) return edit;
  const spacing = { subcarrier_spacing_khz: float(30), delay_spread_ns: float(300) };
  const set: { [op: string]: JsonObject } = {
    "modulation.ofdm_pilot_insert": PILOTS,
    "model.ofdm_channel_estimator": { method: "lmmse", ...spacing },
    "wireless.channel": {
      ...before.params,
      ...spacing,
      channel: "ofdm_tdl",
      receiver_processing: "none",
      tdl_model: "C",
      ofdm_fft_size: PILOTS.subcarriers,
      num_ofdm_symbols: PILOTS.num_ofdm_symbols,
    },
  };
  const steps = (edit.recipe.steps as JsonObject[]).map((step) => {
    const params = step.op === "wireless.channel" && step.id !== id ? undefined : set[String(step.op)];
    return params === undefined ? step : { ...step, params };
  });
  return {
    recipe: { ...edit.recipe, steps },
    changes: [`${id}: TDL-C in place of ${before.params.channel ?? "awgn"}`, ...edit.changes],
    selected: id,
  };
}

/** Pilots of each antenna, a channel between antennas, its estimator and a detector in place of a channel. */
function overAntennas(recipe: JsonObject, id: string, contracts: EditContracts): Edit {
  return edited(recipe, contracts, (draft) => {
    const channel = draft.step(id), received = `${id}.rx_symbols`, sent = channel.inputs.symbols;
    const { snr_db } = channel.params;
    const pilots = draft.add("modulation.ofdm_pilot_insert", { symbols: sent }, stepOf(sent));
    pilots.params = { subcarriers: 24, num_ofdm_symbols: 14, dmrs_symbols: [2], port_count: 2 };
    Object.assign(channel, {
      op: "wireless.mimo_ofdm_channel",
      inputs: { symbols: `${pilots.id}.symbols` },
      params: {
        tdl_model: "C",
        delay_spread_ns: float(100),
        ofdm_fft_size: 24,
        num_ofdm_symbols: 14,
        tx_antennas: 2,
        rx_antennas: 2,
        ...(snr_db === undefined ? {} : { snr_db }),
      },
    });
    const context = `${pilots.id}.pilot_context`, grid = `${id}.rx_grid`;
    const estimator = draft.add("model.ofdm_channel_estimator", { rx_symbols: grid, pilot_context: context }, id);
    estimator.params = { method: "lmmse", delay_spread_ns: float(100) };
    const wires = { rx_grid: grid, channel: `${estimator.id}.estimate`, pilot_context: context };
    const detector = draft.add("demodulation.mimo_detect", wires, estimator.id);
    detector.params = { detector: "mmse" };
    for (const { step, port } of draft.readersOf((reference) => reference === received)) {
      step.inputs[port] = `${detector.id}.symbols`;
    }
    return id;
  });
}

/** The ways of transmission in place of a channel, each with what its receiver needs; none for another step. */
export function transmissionChoices(recipe: JsonObject, id: string, contracts: EditContracts): Choice[] {
  const draft = new GraphDraft(recipe, contracts);
  if (draft.step(id).op !== "wireless.channel" || draft.steps.some(({ op }) => effectOf(op)?.puts === "pilots")) {
    return [];
  }
  return [
    { name: "OFDM with pilots, estimator and equaliser", edit: overOfdm(recipe, id, contracts) },
    { name: "2x2 MIMO-OFDM with pilots, estimator and detector", edit: overAntennas(recipe, id, contracts) },
  ];
}
