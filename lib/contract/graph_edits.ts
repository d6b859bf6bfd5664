/**
 * Edits of a recipe's graph: replacing an operation, or both sides of a code or codec; inserting after a step; removing a
 * step; choosing the source of an input. No edge is drawn: each edit follows the kinds of the ports and the content of the
 * wires. An edit that is not possible returns its reason.
 */
import {
  type Content,
  type Edit,
  type EditContracts,
  edited,
  type EditedStep,
  GraphDraft,
  isLink,
  isReference,
  outputOf,
  refuse,
  stepOf,
} from "./graph_draft.ts";
import { matrixFacts } from "./matrix_edits.ts";
import { CODES, effectOf, type LayerKind, TRANSFORMS, WORDS } from "./transforms.ts";
import { float, type JsonObject } from "./value.ts";

/** A choice of an edit, by operation or by code family. */
export interface Choice {
  name: string;
  edit: Edit;
}

/** Encoder and decoder of a code, codec, interleaver or scrambler. */
interface Pair {
  encoder: string;
  decoder: string;
}

/** The layers that both ends of a link handle together; a modulation has parts of its own between. */
const PAIRED: readonly (LayerKind | "uncoded")[] = [
  "uncoded",
  ...CODES,
  "packets",
  "interleaved",
  "scrambled",
  "pilots",
];

const opsWith = (effect: "puts" | "takes", kind: string) =>
  [...TRANSFORMS.keys()].filter((op) => effectOf(op)?.[effect] === kind);
/** The pair of a layer; of several encoders the latest. */
const pairOf = (kind: string): Pair => ({
  encoder: opsWith("puts", kind).at(-1)!,
  decoder: opsWith("takes", kind)[0],
});

/** Codecs are named alike: `model.jpeg_encode` and `model.jpeg_decode`. */
const codecDecoder = (op: string): string => op.replace(/encode(?=r?\b|_)/, "decode");

/** The two sides of the code or codec that a step belongs to; null for another step. */
function sidesOf(
  draft: GraphDraft,
  id: string,
): { encoder: EditedStep; decoders: EditedStep[]; layer?: string } | null {
  const step = draft.step(id), effect = effectOf(step.op);
  const encoderOf = ({ op, inputs }: EditedStep): string | undefined => {
    const { takes, from } = effectOf(op) ?? {};
    const top = takes && inputs[from!] ? draft.content(inputs[from!])?.layers.at(-1) : undefined;
    return top?.kind === takes ? top?.step : undefined;
  };
  const layer = effect?.puts ?? effect?.takes;
  if (layer !== undefined) {
    if (!PAIRED.includes(layer as LayerKind)) return null;
    const encoder = effect?.puts === undefined ? encoderOf(step) : id;
    if (encoder === undefined) return null;
    const decoders = draft.steps.filter((one) => encoderOf(one) === encoder);
    return decoders.length === 0 ? null : { encoder: draft.step(encoder), decoders, layer };
  }
  const isDecoder = (op: string) => draft.steps.some((one) => one.op !== op && codecDecoder(one.op) === op);
  const encoder = isDecoder(step.op)
    ? draft.steps.findLast((one) => one.op !== step.op && codecDecoder(one.op) === step.op)!
    : step;
  const decoders = draft.steps.filter(({ op }) => op !== encoder.op && op === codecDecoder(encoder.op));
  return decoders.length === 0 ? null : { encoder, decoders };
}

function replaceSides(recipe: JsonObject, id: string, { encoder, decoder }: Pair, contracts: EditContracts): Edit {
  return edited(recipe, contracts, (draft) => {
    const sides = sidesOf(draft, id)!;
    const isEncoder = sides.encoder.id === id;
    // Parameters of one code mean something else in another; those of codecs have one meaning: quality, budget, on_error.
    const how = { whole: true, keep: sides.layer === undefined };
    draft.replace(sides.encoder, encoder, how);
    for (const step of sides.decoders) draft.replace(step, decoder, how);
    return isEncoder ? sides.encoder.id : sides.decoders[0].id;
  });
}

/**
 * The codes in place of that of a step, or around the link of a recipe without one: encoder, decoder and the wire between
 * hard decisions and soft values change together.
 *
 * @param id the selected step; null for the first code of the recipe
 * @returns the present code, and all others; null where the recipe has no coded link and no place for one
 */
export function codeChoices(
  recipe: JsonObject,
  id: string | null,
  contracts: EditContracts,
): { present: string; choices: Choice[] } | null {
  const draft = new GraphDraft(recipe, contracts);
  const steps = id === null ? draft.steps : [draft.step(id), ...draft.steps];
  const code = steps.map((step) => ({ step: step.id, layer: sidesOf(draft, step.id)?.layer }))
    .find(({ layer }) => layer === "uncoded" || CODES.includes(layer as LayerKind));
  const sender = draft.steps.find((step) => effectOf(step.op)?.puts === "symbols" || isBitLink(step.op));
  const sent = sender?.inputs[effectOf(sender.op)!.from];
  if (code === undefined && sent === undefined) return null;
  const present = code?.layer ?? "uncoded";
  const choices = ["uncoded", ...CODES].filter((kind) => kind !== present).map((kind) => ({
    name: nameOfCode(kind),
    edit: code === undefined
      ? insertPair(recipe, sent!, pairOf(kind), contracts)
      : replaceSides(recipe, code.step, pairOf(kind), contracts),
  }));
  return { present: nameOfCode(present), choices };
}

const isBitLink = (op: string) => isLink(op) && effectOf(op)?.from === "bits";
const nameOfCode = (kind: string): string => kind === "uncoded" ? "no code" : WORDS[kind as LayerKind];

/**
 * Operations in place of a step, and codecs in place of both sides of one, those that are possible.
 *
 * @param only the one operation that is asked for; all when left out
 */
export function replacements(recipe: JsonObject, id: string, contracts: EditContracts, only?: string): Choice[] {
  const draft = new GraphDraft(recipe, contracts), step = draft.step(id), sides = sidesOf(draft, id);
  const editTo = (op: string): Edit | null => {
    if (sides === null) return edited(recipe, contracts, (one) => (one.replace(one.step(id), op, { keep: true }), id));
    const decoder = codecDecoder(op);
    if (sides.layer !== undefined || decoder === op || !contracts.has(decoder)) return null;
    return replaceSides(recipe, id, { encoder: op, decoder }, contracts);
  };
  return possible(
    [...contracts.values()].filter(({ id: op, status }) =>
      op !== (sides?.encoder ?? step).op && status !== "planned" && (only === undefined || op === only)
    )
      .flatMap(({ id: name }) => {
        const edit = editTo(name);
        return edit === null ? [] : [{ name, edit }];
      }),
  );
}

/** Parameters that choose the method of an operation. */
const METHODS: readonly string[] = ["method", "detector", "policy", "mode"];

/** The other methods of the operation of a step: its parameters stay, and a swept method is left to its sweep. */
export function methodChoices(recipe: JsonObject, id: string, contracts: EditContracts): Choice[] {
  const { op, params } = new GraphDraft(recipe, contracts).step(id);
  const properties = (contracts.get(op)?.params_schema.properties ?? {}) as { [name: string]: JsonObject };
  const swept = matrixFacts(recipe).bindings.filter(({ stepId }) => stepId === id).map(({ param }) => param);
  const steps = recipe.steps as JsonObject[];
  return METHODS.filter((name) => Array.isArray(properties[name]?.enum) && !swept.includes(name)).flatMap((name) => {
    const present = params[name] ?? properties[name].default;
    return (properties[name].enum as string[]).filter((value) => value !== present).map((value) => ({
      name: `${name} ${value}`,
      edit: {
        recipe: {
          ...recipe,
          steps: steps.map((step) => step.id === id ? { ...step, params: { ...params, [name]: value } } : step),
        },
        changes: [`${id}.${name}: ${value} in place of ${present}`],
        selected: id,
      },
    }));
  });
}

const possible = (choices: readonly Choice[]): Choice[] =>
  choices.filter(({ edit }) => "recipe" in edit).sort((a, b) => a.name < b.name ? -1 : 1);

/**
 * Operations after a step. One that keeps the kind of the wire goes into it, an encoder comes with its decoder at the other
 * end, and another one reads the wire beside the present readers. Sources, which read no wire, come last.
 *
 * @param any whether operations without a source for each input are included
 */
export function insertions(recipe: JsonObject, id: string, contracts: EditContracts, any = false): Choice[] {
  return possible(
    [...contracts.values()].filter(({ status }) => status !== "planned")
      .map(({ id: op }) => ({ name: op, edit: insertStep(recipe, id, op, contracts, any) })),
  ).sort((a, b) => Number(a.name.startsWith("source.")) - Number(b.name.startsWith("source.")));
}

/** Inserts an operation after a step; see {@link insertions}. */
export function insertStep(
  recipe: JsonObject,
  id: string,
  op: string,
  contracts: EditContracts,
  any = false,
): Edit {
  const { puts, takes, from } = effectOf(op) ?? {};
  if (puts !== undefined && PAIRED.includes(puts as LayerKind)) {
    const draft = new GraphDraft(recipe, contracts);
    const sent = Object.keys(draft.kindsOf(id)).map((output) => `${id}.${output}`)
      .find((one) => draft.fits(op, from!, one));
    const edit: Edit = sent === undefined
      ? { refused: `No output of ${id} fits ${op}` }
      : insertPair(recipe, sent, { ...pairOf(puts), encoder: op }, contracts);
    if (!any || "recipe" in edit) return edit;
  } else if (takes !== undefined && PAIRED.includes(takes as LayerKind) && !any) {
    return { refused: `${op} comes with its encoder` };
  }
  return edited(recipe, contracts, (draft) => {
    const outputs = Object.keys(draft.kindsOf(id)).map((output) => `${id}.${output}`);
    const fitting = (port: string) => outputs.find((one) => draft.fits(op, port, one));
    const content = draft.contentPort(op, (port) => fitting(port) !== undefined);
    const source = content === undefined ? undefined : fitting(content);
    const required = draft.wiredPorts(op);
    if (source === undefined && !any && required.length > 0) refuse(`No output of ${id} fits ${op}`);
    const step = draft.add(op, source === undefined ? {} : { [content!]: source }, id);
    const known = source === undefined ? undefined : draft.content(source);
    if (known !== undefined) {
      for (const port of required.filter((port) => isReference(port) && port !== content)) {
        const found = sentAs(draft, { ...known, at: source! }, op, port);
        if (found !== undefined) step.inputs[port] = found;
      }
    }
    fill(draft, step, any);
    if (source !== undefined) intoWire(draft, step, source);
    return step.id;
  });
}

/** The first other output with the same content and layers: what was sent. */
const sentAs = (draft: GraphDraft, content: Content & { at: string }, op: string, port: string): string | undefined =>
  draft.contents().find(([reference, { source, layers }]) =>
    reference !== content.at && source === content.source && draft.fits(op, port, reference) &&
    layers.map(({ kind }) => kind).join() === content.layers.map(({ kind }) => kind).join()
  )?.[0];

/** Wires the required inputs of a step that have no source, to the nearest ones. */
function fill(draft: GraphDraft, { id, op, inputs }: EditedStep, any = false): void {
  for (const port of draft.wiredPorts(op).filter((port) => inputs[port] === undefined)) {
    const found = draft.nearest(op, port, id);
    if (found !== undefined) inputs[port] = found;
    else if (!any) refuse(`${op} needs the input ${port}, and no earlier step gives it`);
  }
}

/** Lets the readers of a wire read a new step, where it gives what they take. */
function intoWire(draft: GraphDraft, step: EditedStep, source: string): void {
  const effect = effectOf(step.op), kinds = draft.kindsOf(step.id);
  const outputs = (effect?.outputs ?? Object.keys(kinds)).filter((output) =>
    effect !== undefined || kinds[output] === draft.kindOf(source)
  ).map((output) => `${step.id}.${output}`);
  for (const reader of draft.readersOf((reference) => reference === source)) {
    // What was sent stays the reference, and rates are counted where they were.
    if (reader.step === step || isReference(reader.port) || /accounting|count_match/.test(reader.step.op)) continue;
    const found = outputs.find((reference) => draft.fits(reader.step.op, reader.port, reference));
    if (found !== undefined) reader.step.inputs[reader.port] = found;
  }
}

/** Inserts an encoder at a sent wire, and its decoder where that wire is received. */
function insertPair(recipe: JsonObject, sent: string, { encoder, decoder }: Pair, contracts: EditContracts): Edit {
  return edited(recipe, contracts, (draft) => {
    const { from, takes } = effectOf(decoder)!;
    const readers = draft.readersOf((reference) => reference === sent)
      .filter(({ step, port }) => effectOf(step.op)?.from === port);
    if (readers.length !== 1) refuse(`${sent} is sent over ${readers.length === 0 ? "no path" : "several paths"}`);
    const into = effectOf(encoder)!.from;
    if (!draft.fits(encoder, into, sent)) refuse(`${encoder} does not take ${draft.kindOf(sent)} of ${sent}`);
    const outer = draft.add(encoder, { [into]: sent }, stepOf(sent));
    fill(draft, outer);
    const coded = `${outer.id}.${(effectOf(encoder)!.outputs ?? Object.keys(draft.kindsOf(outer.id)))[0]}`;
    draft.give(readers[0], [coded]);
    const received = draft.contents().filter(([reference, { layers }]) =>
      layers.at(-1)?.step === outer.id && layers.at(-1)?.kind === takes && isReceived(draft, reference)
    ).map(([reference]) => reference);
    const taken = received.findLast((reference) => draft.fits(decoder, from, reference)) ??
      refuse(`No output behind the channel gives ${draft.accepted(decoder, from).join(" or ")} of ${sent}`);
    const inner = draft.add(decoder, { [from]: taken }, stepOf(taken));
    help(draft, outer, inner);
    const outputs = Object.keys(draft.kindsOf(inner.id)).filter((output) => output !== "report")
      .map((output) => `${inner.id}.${output}`);
    for (const reader of draft.readersOf((reference) => received.includes(reference))) {
      const { step, port } = reader;
      if (step === inner || Object.values(inner.inputs).some((from) => stepOf(from) === step.id)) continue;
      if (Object.keys(draft.kindsOf(step.id)).some((out) => received.includes(`${step.id}.${out}`))) {
        continue;
      }
      const others = Object.entries(step.inputs).filter(([name]) => name !== port);
      if (others.some(([, one]) => draft.content(one)?.layers.some((layer) => layer.step === outer.id))) continue;
      const fitting = outputs.find((reference) => draft.fits(step.op, port, reference));
      const [reference] = others.find(([name, one]) => one === sent && draft.fits(step.op, name, coded)) ?? [];
      // What is compared before the decoder is compared with the coded bits.
      if (fitting === undefined && reference !== undefined) step.inputs[reference] = coded;
      else draft.give(reader, outputs);
    }
    return outer.id;
  });
}

/**
 * Wires the other inputs of an inserted decoder: optional ones to its encoder, required ones to a step that makes them from
 * the same content, as an estimator does for an equaliser.
 */
function help(draft: GraphDraft, outer: EditedStep, inner: EditedStep): void {
  const contract = draft.contract(inner.op),
    sent = Object.keys(draft.kindsOf(outer.id)).map((out) => `${outer.id}.${out}`);
  for (const port of Object.keys(contract.optional_input_kinds)) {
    const found = sent.find((reference) => draft.fits(inner.op, port, reference));
    if (found !== undefined) inner.inputs[port] = found;
  }
  const content = inner.inputs[effectOf(inner.op)!.from];
  for (const port of Object.keys(contract.input_kinds).filter((port) => inner.inputs[port] === undefined)) {
    const accepted = draft.accepted(inner.op, port);
    const helper = [...draft.contracts.values()].find(({ id, input_kinds, output_kinds }) =>
      Object.values(output_kinds).some((kind) => accepted.includes(kind)) &&
      Object.keys(input_kinds).every((name) => [content, ...sent].some((one) => draft.fits(id, name, one))) &&
      Object.keys(input_kinds).some((name) => draft.fits(id, name, content))
    );
    if (helper === undefined) continue;
    const inputs = Object.keys(helper.input_kinds).map((name) =>
      [name, [content, ...sent].find((one) => draft.fits(helper.id, name, one))!] as const
    );
    const step = draft.add(helper.id, Object.fromEntries(inputs), stepOf(content));
    const output = Object.keys(helper.output_kinds).find((name) => accepted.includes(helper.output_kinds[name]))!;
    inner.inputs[port] = `${step.id}.${output}`;
  }
  fill(draft, inner);
}

/** Whether content at an output has come over a link. */
function isReceived(draft: GraphDraft, reference: string): boolean {
  for (let at: string | undefined = reference; at !== undefined;) {
    const step: EditedStep | undefined = draft.steps.find(({ id }) => id === stepOf(at!));
    if (step === undefined) return false;
    if (isLink(step.op)) return true;
    const from = effectOf(step.op)?.from;
    at = from === undefined ? undefined : step.inputs[from];
  }
  return false;
}

/** Removes a step, with the other side of its code; its readers read its source. */
export function removeStep(recipe: JsonObject, id: string, contracts: EditContracts): Edit {
  return edited(recipe, contracts, (draft) => {
    const sides = sidesOf(draft, id);
    const gone = sides?.layer === undefined ? [draft.step(id)] : [...sides.decoders, sides.encoder];
    let selected = "";
    for (const step of gone) {
      const content = effectOf(step.op)?.from ?? Object.keys(step.inputs)[0], source = step.inputs[content];
      const around = source === undefined ? [] : [...draft.around(source)].filter((one) => stepOf(one) !== step.id);
      for (const reader of draft.readersOf((reference) => stepOf(reference) === step.id)) {
        draft.give(reader, around);
        const now = reader.step.inputs[reader.port];
        if (now !== reader.reference) draft.move(reader.reference, now);
      }
      draft.drop(step.id);
      // What only helped the other side goes with it.
      for (const from of gone.length > 1 ? new Set(Object.values(step.inputs).map(stepOf)) : []) {
        const unread = draft.readersOf((reference) => stepOf(reference) === from).length === 0;
        if (unread && stepOf(source) !== from && gone.every(({ id }) => id !== from)) draft.drop(from);
      }
      selected = source === undefined ? "" : stepOf(source);
    }
    return selected;
  });
}

/** The outputs that an input can read: of an accepted kind, and not behind its own step. */
export function sourcesFor(recipe: JsonObject, id: string, port: string, contracts: EditContracts): string[] {
  const draft = new GraphDraft(recipe, contracts), step = draft.step(id), later = new Set([id]);
  for (const one of draft.steps) {
    if (Object.values(one.inputs).some((from) => later.has(stepOf(from)))) later.add(one.id);
  }
  return draft.steps.filter((one) => !later.has(one.id))
    .flatMap((one) => Object.keys(draft.kindsOf(one.id)).map((output) => `${one.id}.${output}`))
    .filter((reference) => draft.fits(step.op, port, reference));
}

/** Another source for an input; null leaves an optional input without one. */
export function rewire(
  recipe: JsonObject,
  { step: id, port, from }: { step: string; port: string; from: string | null },
  contracts: EditContracts,
): Edit {
  return edited(recipe, contracts, (draft) => {
    const step = draft.step(id);
    if (from === null) delete step.inputs[port];
    else if (draft.fits(step.op, port, from)) step.inputs[port] = from;
    else refuse(`${step.op} takes ${draft.accepted(step.op, port).join(" or ")} at ${port}, not ${outputOf(from)}`);
    return id;
  });
}

/** A link to start from: random bits, QPSK over AWGN, and the bit error rate over Es/N0. */
export const emptyLink = (): JsonObject => ({
  schema_version: 1,
  name: "my_link",
  description: "Random bits over QPSK and AWGN",
  execution_profile: { id: "custom", version: 1 },
  metadata: {
    seed: 23,
    rate_count_fixed_point: "data.bits",
    matrix: {
      dimensions: { snr_db: [0, 2, 4, 6, 8].map((value) => float(value)) },
      step_params: { channel: { snr_db: { matrix: "snr_db" } } },
    },
  },
  steps: [
    { id: "data", op: "source.random_bits", params: { bit_count: 100_000 } },
    {
      id: "modulator",
      op: "modulation.digital_modulate",
      params: { modulation: "qpsk" },
      inputs: { bits: "data.bits" },
    },
    { id: "channel", op: "wireless.channel", inputs: { symbols: "modulator.symbols" } },
    { id: "demodulator", op: "demodulation.digital_demodulate", inputs: { rx_symbols: "channel.rx_symbols" } },
    {
      id: "bit_errors",
      op: "metrics.bit_error_rate",
      inputs: { reference: "data.bits", candidate: "demodulator.bits" },
    },
  ],
});
