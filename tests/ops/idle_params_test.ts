/**
 * Parameters without effect under a value of a selector carry a condition, so that a form folds them away.
 *
 * A selector is a parameter with a list of values. Each conformance case runs with each value of each selector, and there
 * with other values of every parameter that a form shows. A parameter is idle under a value when it changes nothing there in
 * any case, but does in a case that differs in the selector alone. Arrays, metrics, JSON and metadata count; metadata that
 * repeat the parameter do not. A parameter that is folded away changes no array and no metric.
 */
import assert from "node:assert/strict";
import type { ConformanceCase } from "../../lib/conformance/case.ts";
import type { RunResult } from "../../lib/conformance/run_operation.ts";
import { sha256Hex } from "../../lib/contract/hash.ts";
import { canonicalJson } from "../../lib/contract/json.ts";
import { defineOperation, z } from "../../ops/api.ts";
import type { Operation } from "../../lib/contract/operation.ts";
import { isShown } from "../../lib/contract/schema.ts";
import { float, isNumber, isObject, type JsonObject, toNumber, type Value } from "../../lib/contract/value.ts";
import { bitsArtifact } from "../../lib/artifact/values.ts";
import { BITS } from "../../lib/contract/kinds.ts";
import { BUILTIN_OPERATIONS } from "../../ops/index.ts";
import { FULL_SIZE } from "../support/reduced_sizes.ts";
import { FIXTURES } from "./_fixtures/index.ts";
import { materialise, runOperation } from "./harness.ts";

/** Selectors of the execution, which change no output. */
const EXECUTION = new Set(["data_plane_backend", "checkpoint_strict"]);

/** Operations that take too long for this. */
const COSTLY: Record<string, string> = {
  ...Object.fromEntries(
    BUILTIN_OPERATIONS.flatMap(({ operation: { id } }) =>
      id.startsWith("model.codeclib_") ? [[id, "runs a network of compression for each value"]] : []
    ),
  ),
  "channel.jpeg_capacity_oracle": "encodes all qualities for each value",
  "foundation.importance_map": "runs a network for each value",
  "metrics.nr_adapted_throughput": "simulates the adaptation over all slots for each value",
  "model.avif_encode": "takes seconds for an image; has the parameters of model.webp_encode",
  "model.avif_decode": "takes tenths of a second for an image",
  "model.causal_csi_power_allocator": "has the parameters of model.symbol_power_allocator",
};

/** Operations that take long for this; `deno task soak whole` runs them. */
const LONG = new Set([
  "channel.ldpc_encoder",
  "demodulation.mimo_detect",
  "model.jpeg_encode",
  "model.nr_codebook_csi",
  "model.nr_mcs_selector",
  "model.symbol_power_allocator",
  "model.webp_encode",
  "wireless.channel",
  "wireless.mimo_ofdm_channel",
  "wireless.multipath_waveform",
]);

/** What is idle, but is shown: by operation, `parameter: selector=value,…` and the reason. */
const EXCEPTIONS: Record<string, Record<string, string>> = {
  "channel.nr_ldpc_encoder": {
    "channel_type: codeword_index=0": "the scrambling of codeword 0 is that of both channels",
  },
  "channel.nr_ldpc_decoder": Object.fromEntries(
    ["a lost block", "an estimate"].map((name) => [
      `min_sum_offset: used in ${name}`,
      "check_rule has no default in the schema: without it the rule is offset_min_sum",
    ]),
  ),
  "channel.nr_polar_decoder": {
    "check_node: on_crc_failure=zero_fill": "zeros stand for the only block of the case, which fails",
    "list_size: on_crc_failure=zero_fill": "zeros stand for the only block of the case, which fails",
  },
  "demodulation.digital_demodulate": {
    "llr_method: modulation=auto": "the symbols of the case are of QPSK, where the nearest points are all points",
  },
  "metrics.bert_score": {
    "baseline: weighting=idf": "the tokens of the case stand in every reference: their weights are 0",
  },
  "source.ai_phy_channel_realization": Object.fromEntries(
    [
      "carrier_frequency_ghz",
      "delay_spread_ns",
      "mobility_kmh",
      "normalize_channel",
      "subcarrier_spacing_khz",
      "tdl_model",
    ].map((name) => [`${name}: wireless_backend=numpy`, "mimo_ofdm_3gpp_tdl uses it on numpy"]),
  ),
  "source.flickr8k_retrieval": { "limit: split=test": "the split of the case has one item" },
  "wireless.channel": {
    "receiver_processing: channel=awgn,interference_awgn": "chooses an implementation; without a gain both are equal",
    "wireless_backend: channel=interference_awgn,ofdm_tdl,ofdm_cdl,urban_micro":
      "phylib is refused there, and auto is numpy",
  },
  "wireless.ofdm_recording_observation": {
    "symbols_per_grid: ptrs_time_density=1": "all OFDM symbols have pilots; the receiver takes their values by grid",
  },
  "wireless.digital_link": {
    "receiver_processing: channel=awgn,interference_awgn": "chooses an implementation; without a gain both are equal",
  },
};

type Properties = Record<string, JsonObject>;
const propertiesOf = ({ contract }: Operation) => (contract.params_schema.properties ?? {}) as Properties;

function choicesOf(node: JsonObject): Value[] {
  return Array.isArray(node.enum) ? node.enum : node.type === "boolean" ? [false, true] : [];
}

/** Other values of a parameter: its choices, numbers near and far within its limits, and values of other cases. */
function otherValues(node: JsonObject, value: Value | undefined, ofCases: Value[]): Value[] {
  const types = [node.type, ...((node.anyOf ?? []) as JsonObject[]).map(({ type }) => type)].flat();
  const whole = types.includes("integer"), numbers: Value[] = [];
  if (choicesOf(node).length === 0 && (whole || types.includes("number"))) {
    const bound = (key: string, without: number) => isNumber(node[key]) ? toNumber(node[key] as number) : without;
    const least = Math.max(bound("minimum", -1e6), bound("exclusiveMinimum", -1e6) + (whole ? 1 : 1e-3));
    const most = Math.min(bound("maximum", 1e6), bound("exclusiveMaximum", 1e6) - (whole ? 1 : 1e-3));
    const now = isNumber(value) ? toNumber(value as number) : 1;
    const near = whole ? [now + 1, now >> 2, 2 * now, least] : [1.5 * now + 0.25, 0.5 * now, now - 0.5, 4 * now + 10];
    numbers.push(...near.filter((item) => item >= least && item <= most).map((item) => whole ? item : float(item)));
  }
  const all = [...choicesOf(node), ...numbers, ...ofCases].map((item) => [canonicalJson(item), item] as const);
  const now = value === undefined ? "" : canonicalJson(value);
  return [...new Map(all).entries()].filter(([text]) => text !== now).map(([, item]) => item);
}

/** Where metadata and documents stand among the facts of a result. */
const METADATA = "metadata of ";

/** A text of every fact of a result, of arrays and documents their digests. */
function factsOf({ outputs, bytes, metrics }: RunResult): Map<string, string> {
  const facts = new Map(Object.entries(metrics).map(([id, value]) => [id, String(value)]));
  for (const [port, output] of Object.entries(outputs)) {
    if (output.arrayNames.length === 0) facts.set(`${METADATA}${port}`, sha256Hex(bytes[port]));
    for (const name of output.arrayNames) {
      const { data, shape } = output.array(name);
      facts.set(
        `${port} ${name}`,
        `${shape} ${sha256Hex(new Uint8Array(data.buffer, data.byteOffset, data.byteLength))}`,
      );
    }
    addLeaves(facts, `${METADATA}${port}`, output.metadata);
  }
  return facts;
}

function addLeaves(facts: Map<string, string>, path: string, value: Value): void {
  if (!isObject(value)) facts.set(path, canonicalJson(value));
  else for (const [key, inner] of Object.entries(value)) addLeaves(facts, `${path}.${key}`, inner);
}

/** Facts in which results differ, without metadata that repeat a value. */
function differences(before: Map<string, string>, after: Map<string, string>, value: Value): string[] {
  const repeated = canonicalJson(value);
  return [...new Set([...before.keys(), ...after.keys()])].filter((key) =>
    before.get(key) !== after.get(key) && !(key.startsWith(METADATA) && after.get(key) === repeated)
  );
}

/**
 * Parameters that are shown though idle: `parameter: selector=value,…`; and those that are folded away though they change
 * something: `parameter: used in <case>`.
 */
async function idleParameters(operation: Operation, cases: readonly ConformanceCase[]): Promise<string[]> {
  const properties = propertiesOf(operation), schema = operation.contract.params_schema;
  const selectors = Object.keys(properties).filter((name) =>
    !EXECUTION.has(name) && choicesOf(properties[name]).length > 1
  );
  const ofCases = (name: string) => cases.flatMap(({ params }) => params?.[name] ?? []);
  /** Facts of runs by the parts of their cases and by parameters. */
  const runs: { parts: unknown[]; facts: Map<string, Promise<Map<string, string> | null>> }[] = [];
  /** Whether a parameter has an effect, by case, selector, value and parameter; and where it has one in any case. */
  const effects = new Map<string, boolean>(), somewhere = new Set<string>(), folded = new Set<string>();
  /** Whether a parameter has an effect under every value of every selector, so that further cases show nothing. */
  const isSettled = (name: string) =>
    selectors.every((selector) =>
      selector === name ||
      choicesOf(properties[selector]).every((choice) => somewhere.has(`${selector} ${choice} ${name}`))
    );
  for (const [index, { params, inputs, files, model, models }] of cases.entries()) {
    const given = Object.fromEntries(
      Object.entries(params ?? {}).filter(([, item]) => item !== undefined),
    ) as JsonObject;
    const options = { inputs: await inputs?.(), files: await files?.(), model, models };
    // The same parameters come again: with the other of two changed selectors as the base, and in cases of equal inputs.
    const same = runs.find(({ parts }) => parts.every((part, at) => part === [inputs, files, model, models][at]));
    const known = (same ?? runs[runs.push({ parts: [inputs, files, model, models], facts: new Map() }) - 1]).facts;
    const factsWith = (changed: JsonObject) =>
      known.getOrInsertComputed(
        canonicalJson(materialise(schema, changed)),
        // Other values may contradict the inputs.
        () => runOperation(operation, { ...options, params: changed }).then(factsOf, () => null),
      );
    const measured = new Map<string, Map<string, boolean>>();
    const effectsWith = async (base: JsonObject) => {
      const key = canonicalJson(withDefaults(properties, base));
      const known = measured.get(key);
      if (known !== undefined) return known;
      const found = new Map<string, boolean>(), before = await factsWith(base);
      measured.set(key, found);
      if (before === null) return found;
      for (const [name, node] of Object.entries(properties)) {
        const shown = isShown(schema, name, base), now = base[name] ?? node.default;
        if (EXECUTION.has(name) || (shown && isSettled(name))) continue;
        let effect: boolean | undefined;
        for (const value of otherValues(node, now, ofCases(name)).slice(0, shown ? undefined : 1)) {
          const after = await factsWith({ ...base, [name]: value });
          if (after === null) continue;
          // Metadata and documents also record what a folded parameter was.
          effect = differences(before, after, value).some((fact) => shown || !fact.startsWith(METADATA));
          if (effect) break;
        }
        if (effect && !shown) folded.add(`${name}: used in ${cases[index].name ?? index}`);
        if (effect === undefined || !shown) continue;
        found.set(name, effect);
        for (const selector of effect ? selectors : []) {
          somewhere.add(`${selector} ${base[selector] ?? properties[selector].default} ${name}`);
        }
      }
      return found;
    };
    for (const selector of selectors.filter((name) => isShown(schema, name, given))) {
      for (const choice of choicesOf(properties[selector])) {
        for (const [name, effect] of await effectsWith({ ...given, [selector]: choice })) {
          effects.set(`${index} ${selector} ${choice} ${name}`, effect);
        }
      }
    }
  }
  const idle = selectors.flatMap((selector) =>
    Object.keys(properties).filter((name) => name !== selector).flatMap((name) => {
      const choices = choicesOf(properties[selector]), numbers = [...cases.keys()];
      const effect = (index: number, choice: Value) => effects.get(`${index} ${selector} ${choice} ${name}`);
      const idle = choices.filter((choice) =>
        !somewhere.has(`${selector} ${choice} ${name}`) &&
        numbers.some((index) => effect(index, choice) === false && choices.some((other) => effect(index, other)))
      );
      return idle.length === 0 ? [] : [`${name}: ${selector}=${idle}`];
    })
  );
  return [...idle, ...folded].sort();
}

const withDefaults = (properties: Properties, params: JsonObject) =>
  Object.fromEntries(
    Object.entries(properties).map(([name, node]) => [name, params[name] ?? node.default ?? null]),
  ) as JsonObject;

for (const { operation } of BUILTIN_OPERATIONS) {
  const { id } = operation, cases = FIXTURES[id];
  if ("skip" in cases || Object.keys(propertiesOf(operation)).length < 2 || id in COSTLY) continue;
  if (!FULL_SIZE && LONG.has(id)) continue;
  if (!Object.values(propertiesOf(operation)).some((node) => choicesOf(node).length > 1)) continue;
  // Sessions of models stay for the next test.
  const options = { sanitizeOps: false, sanitizeResources: false };
  Deno.test(`${id}: parameters without effect are folded away`, options, async () => {
    const found = await idleParameters(operation, cases), excepted = EXCEPTIONS[id] ?? {};
    assert.deepEqual(found, Object.keys(excepted).sort());
  });
}

Deno.test("a parameter without condition that one of two modes ignores is found, and a wrong condition too", async () => {
  const gain = z.number().default(1).meta({ "x-svc-ui": { used_when: { mode: "off" } } });
  const operation = defineOperation({
    id: "noise.made_up",
    name: "Made up",
    description: "Draws or does not",
    outputs: { bits: BITS },
    params: z.strictObject({
      mode: z.enum(["off", "on"]).default("on"),
      level: z.int().min(0).max(1).default(0),
      gain,
    }),
    run: ({ params: { mode, level, gain } }) => ({
      outputs: { bits: bitsArtifact(Uint8Array.of(mode === "on" ? level : 0, gain > 1 ? 1 : 0), {}, "payload.bits") },
    }),
  });
  assert.deepEqual(await idleParameters(operation, [{}]), ["gain: used in 0", "level: mode=off"]);
});
