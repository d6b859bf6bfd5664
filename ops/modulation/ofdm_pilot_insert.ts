/**
 * Puts pilots between data symbols on OFDM grids of F subcarriers and S OFDM symbols, subcarrier first. Data fill the
 * elements that no pilot and no empty comb has; the last grid is padded with zeros.
 *
 *     nr_dmrs_type1   DM-RS of TS 38.211 configuration type 1 on dmrs_symbols, ports in two CDM groups; the slot number
 *                     rises by one with every grid (lib/numeric/channel/pilot_grid.ts). With 2 groups without data the free comb of
 *                     these symbols stays empty
 *     comb            QPSK on subcarriers k with k mod pilot_spacing = pilot_offset of dmrs_symbols
 *     block           QPSK on all subcarriers of dmrs_symbols
 *
 * The amplitude of pilots is 10^(pilot_power_db / 20). With several ports the stream is layer-first: the symbols of all ports
 * of an element follow each other, and each port sends its own pilots; wireless.mimo_ofdm_channel takes such a stream.
 *
 * With ptrs_time_density the layers of the DM-RS ports ptrs_ports have phase-tracking pilots (PT-RS) too, each at the subcarriers of its port;
 * the other layers are silent there. ptrs_power_db is 0 for one layer, and 3 for two layers of which one has them (TS 38.214, 4.1 and
 * 6.2.3.1). demodulation.ofdm_equalize and demodulation.mimo_detect compensate the common phase with them.
 *
 * Shapes: symbols complex64 [n] -> symbols complex64 [grids · S · F · ports]; pilot_context: _ofdm_grid.ts. Draws (comb,
 * block): integers(0, 4, grids · pilots) of default_rng(pilot_seed); label 2·b0 + b1 is the QPSK point of these bits.
 */
import { SYMBOLS } from "../../lib/contract/kinds.ts";
import { defineOperation, type ParameterProblem, shownIn, z } from "../api.ts";
import { symbolMetadata, symbolsArtifact, symbolsOf, travel } from "../../lib/artifact/values.ts";
import { modulate } from "../../lib/numeric/link/modulation.ts";
import { resultArray } from "../../lib/numeric/array/shared_array.ts";
import { ndarray } from "../../lib/numeric/array/ndarray.ts";
import {
  combOf,
  dmrsSubcarriers,
  dmrsValues,
  ptrsSubcarriers,
  ptrsSymbols,
} from "../../lib/numeric/channel/pilot_grid.ts";
import { Generator } from "../../lib/numeric/random/random.ts";
import { numpyWithTwin } from "../_backends.ts";
import { describeGrid, GRID_KEY, isComplex, PILOT_CONTEXT } from "../_ofdm_grid.ts";

const OF_DMRS = { "x-svc-used-when": { pattern: "nr_dmrs_type1" } };
const OF_PTRS = { "x-svc-used-when": { ptrs_time_density: [1, 2, 4] } };
const OF_COMB = { "x-svc-used-when": { pattern: "comb" } };

const PARAMS = z.strictObject({
  pattern: z.enum(["nr_dmrs_type1", "comb", "block"]).default("nr_dmrs_type1").describe("places of the pilots"),
  subcarriers: z.int().min(1).max(4096).default(72).describe("subcarriers of a grid; a multiple of 12 for DM-RS"),
  num_ofdm_symbols: z.int().min(1).max(1024).default(14).describe("OFDM symbols of a grid"),
  dmrs_symbols: z.array(z.int().min(0).max(1023)).min(1).default([2]).describe("OFDM symbols with pilots"),
  port_count: z.int().min(1).max(4).default(1).describe("DM-RS ports; each is a layer of the stream"),
  cdm_groups_without_data: z.literal([1, 2]).default(2).meta(OF_DMRS)
    .describe("combs of DM-RS symbols that carry no data"),
  n_id: z.int().min(0).max(65535).default(0).meta(OF_DMRS).describe("scrambling identity of DM-RS"),
  n_scid: z.literal([0, 1]).default(0).meta(OF_DMRS).describe("scrambling choice of DM-RS"),
  slot: z.int().min(0).max(1_000_000).default(0).meta(OF_DMRS).describe("slot number of the first grid"),
  first_rb: z.int().min(0).max(274).default(0).meta(OF_DMRS).describe("resource block of the first subcarrier"),
  ptrs_time_density: z.literal([1, 2, 4]).optional().meta(OF_DMRS)
    .describe("OFDM symbols from PT-RS to PT-RS (L_PT-RS); default no PT-RS"),
  ptrs_frequency_density: z.literal([2, 4]).optional().meta(OF_PTRS)
    .describe("resource blocks from PT-RS to PT-RS (K_PT-RS); default 2"),
  ptrs_element_offset: z.enum(["00", "01", "10", "11"]).optional().meta(OF_PTRS)
    .describe("resourceElementOffset of PT-RS; default 00"),
  ptrs_rnti: z.int().min(0).max(65535).optional().meta(OF_PTRS)
    .describe("n_RNTI, which selects the resource blocks with PT-RS; default 0"),
  ptrs_ports: z.array(z.int().min(0).max(3)).min(1).max(2).optional().meta(OF_PTRS)
    .describe("DM-RS ports whose layers have PT-RS, where the other layers are silent; default 0"),
  ptrs_power_db: z.number().min(-100).max(100).optional().meta({ ...OF_PTRS, ...shownIn("dB") })
    .describe("power of PT-RS over that of data of a layer in dB; default 0"),
  pilot_spacing: z.int().min(1).max(4096).default(4).meta(OF_COMB).describe("subcarriers from pilot to pilot"),
  pilot_offset: z.int().min(0).max(4095).default(0).meta(OF_COMB).describe("first subcarrier with a pilot"),
  pilot_power_db: z.number().min(-100).max(100).default(0).describe("power of pilots over that of data in dB")
    .meta(shownIn("dB")),
  pilot_seed: z.int().nonnegative().default(0).meta({ "x-svc-used-when": { pattern: ["comb", "block"] } })
    .describe("seed of the pilots"),
});
type Params = z.output<typeof PARAMS>;

export default defineOperation({
  id: "modulation.ofdm_pilot_insert",
  name: "OFDM pilot insertion",
  description: "Places data and pilots (5G NR DM-RS, comb or block) on OFDM grids",
  inputs: { symbols: [SYMBOLS] },
  outputs: { symbols: SYMBOLS, pilot_context: PILOT_CONTEXT },
  params: PARAMS,
  ...numpyWithTwin("full", "Data symbols pass unchanged"),
  outputMetadataGuarantees: {
    symbols: { from: "symbols", keys: ["boundary_contract", "symbol_count", GRID_KEY] },
    pilot_context: { keys: [GRID_KEY] },
  },
  estimate(params, { symbols: { bytes, shape } }) {
    const { perGrid, pilots, phase, data } = sizes(params), count = shape?.[0] ?? bytes / 8;
    const grids = Math.ceil(count / (data.length * params.port_count));
    return {
      symbols: [["complex64", grids * perGrid * params.port_count]],
      pilot_context: [
        ["int32", params.port_count, pilots[0].length],
        ["complex64", grids, params.port_count, pilots[0].length],
        ["int32", data.length],
        ...(phase.length === 0 ? [] : [["int32", phase.length], ["complex64", grids, phase.length]] as const),
        ...(phase.length === 0 || params.port_count === 1 ? [] : [["int32", phase.length]] as const),
      ],
    };
  },
  check: problems,
  streaming: {
    open({ inputs: { symbols }, params }) {
      if (!isComplex(symbols)) return null;
      const { metadata, length: count } = symbols;
      const { room, grids, gridSize, pilotContext, record, metrics, place } = placement(params, count);
      const length = grids * gridSize / 2;
      let grid = 0;
      return {
        arrays: {
          symbols: {
            dtype: "complex64",
            length,
            metadata: symbolMetadata(length, travel(metadata, record, ["source_item_counts"])),
          },
        },
        whole: { pilot_context: pilotContext },
        unit: { symbols: room },
        next({ symbols: { data } }) {
          const given = data as Float32Array, first = grid;
          grid += Math.ceil(given.length / 2 / room);
          return { symbols: place(given, first, new Float32Array(gridSize * (grid - first))) };
        },
        end: () => ({ metrics }),
      };
    },
  },
  run({ inputs, params }) {
    const given = symbolsOf(inputs.symbols);
    const { grids, gridSize, pilotContext, record, metrics, place } = placement(params, given.length / 2);
    const symbols = place(given, 0, resultArray<Float32Array>(Float32Array, grids * gridSize));
    return {
      outputs: {
        // Items of the data do not fill whole parts of the grids.
        symbols: symbolsArtifact(symbols, travel(inputs.symbols.metadata, record, ["source_item_counts"])),
        pilot_context: pilotContext,
      },
      metrics,
    };
  },
});

/** Elements that follow each other: those of data in a grid, and their place among the data. */
interface Stretch {
  from: number;
  to: number;
  length: number;
}

/** Where data and pilots of `count` symbols lie: data symbols of a grid, numbers of all grids, outputs, and what fills grids. */
function placement(params: Params, count: number) {
  const { port_count: ports, subcarriers, num_ofdm_symbols: rows } = params;
  const { perGrid, pilots, phase, data } = sizes(params), room = data.length * ports;
  const grids = Math.ceil(count / room), length = pilots[0].length;
  const values = pilotValues(params, grids, pilots), phaseValues = ptrsValues(params, grids, phase);
  const places = pilots.map((own) => Int32Array.from(own)), stretches: Stretch[] = [];
  data.forEach((to, from) => {
    const last = stretches.at(-1);
    if (last !== undefined && last.to + last.length === to) last.length++;
    else stretches.push({ from, to, length: 1 });
  });
  /** Fills grids from the one with number `first`; `out` holds zeros. */
  function place<T extends Float32Array>(given: Float32Array, first: number, out: T): T {
    for (let grid = 0, width = 2 * ports; width * grid * perGrid < out.length; grid++) {
      const start = grid * perGrid, base = grid * data.length, number = first + grid;
      for (const { from, to, length } of stretches) {
        out.set(given.subarray(width * (base + from), width * (base + from + length)), width * (start + to));
      }
      places.forEach((own, port) => {
        for (let p = 0; p < length; p++) {
          const at = 2 * ((number * ports + port) * length + p), to = 2 * ((start + own[p]) * ports + port);
          out[to] = values[at];
          out[to + 1] = values[at + 1];
        }
      });
      phase.forEach(({ place, port }, p) => {
        const at = 2 * (number * phase.length + p);
        out.set(phaseValues.subarray(at, at + 2), 2 * ((start + place) * ports + port));
      });
    }
    return out;
  }
  const layout = { subcarriers, symbols: rows, grids, ports, dataCount: count };
  const record = { [GRID_KEY]: describeGrid(layout, grids * room - count) };
  const pilotContext = {
    array: ndarray("int32", Int32Array.from(pilots.flat()), [ports, length]),
    companions: {
      values: ndarray("complex64", values, [grids, ports, length]),
      data_positions: ndarray("int32", Int32Array.from(data)),
      ...(phase.length === 0 ? {} : {
        phase_positions: ndarray("int32", Int32Array.from(phase, ({ place }) => place)),
        ...(ports === 1 ? {} : { phase_ports: ndarray("int32", Int32Array.from(phase, ({ port }) => port)) }),
        phase_values: ndarray("complex64", phaseValues, [grids, phase.length]),
      }),
    },
    metadata: record,
  };
  const metrics = { "pilot.density": 1 - data.length / perGrid };
  return { room, gridSize: 2 * perGrid * ports, grids, pilotContext, record, metrics, place };
}

/** Elements of a grid, pilots of each port, phase-tracking pilots and data elements, each in order. */
function sizes(params: Params) {
  const { subcarriers, num_ofdm_symbols: rows } = params, perGrid = subcarriers * rows;
  const times = [...params.dmrs_symbols].sort((a, b) => a - b);
  const carriers = Array.from({ length: params.port_count }, (_, port) => pilotSubcarriers(params, port));
  const taken = new Set(carriers.flat());
  if (params.pattern === "nr_dmrs_type1") {
    for (let k = 0; k < subcarriers; k++) if (k % 2 < params.cdm_groups_without_data) taken.add(k);
  }
  const data: number[] = [], phase = phasePlaces(params), tracked = new Set(phase.map(({ place }) => place));
  for (let at = 0; at < perGrid; at++) {
    const free = !times.includes(Math.floor(at / subcarriers)) || !taken.has(at % subcarriers);
    if (free && !tracked.has(at)) data.push(at);
  }
  return {
    perGrid,
    data,
    phase,
    pilots: carriers.map((own) => times.flatMap((time) => own.map((k) => time * subcarriers + k))),
  };
}

interface PhasePilot {
  place: number;
  port: number;
}

/** Elements of PT-RS, ascending for each port; none without ptrs_time_density. */
function phasePlaces(params: Params): PhasePilot[] {
  if (params.pattern !== "nr_dmrs_type1" || params.ptrs_time_density === undefined) return [];
  const { subcarriers, num_ofdm_symbols: rows, ptrs_frequency_density: step = 2, ptrs_rnti: rnti = 0 } = params;
  const offset = parseInt(params.ptrs_element_offset ?? "00", 2);
  const times = ptrsSymbols(rows, params.dmrs_symbols, params.ptrs_time_density);
  return (params.ptrs_ports ?? [0]).flatMap((port) => {
    const carriers = ptrsSubcarriers(subcarriers, { step, offset, rnti, port });
    return times.flatMap((time) => carriers.map((k) => ({ place: time * subcarriers + k, port })));
  });
}

/** Values of PT-RS, complex64 [grid, pilot]: those of the first DM-RS symbol of each slot, without the cover of its port. */
function ptrsValues(params: Params, grids: number, pilots: PhasePilot[]): Float32Array<ArrayBuffer> {
  const values = new Float32Array(2 * grids * pilots.length), first = Math.min(...params.dmrs_symbols);
  const amplitude = 10 ** ((params.ptrs_power_db ?? 0) / 20);
  for (let grid = 0; grid < grids && pilots.length > 0; grid++) {
    const row = dmrsValues(0, params.slot + grid, first, dmrsSettings(params)).map((part) => amplitude * part);
    pilots.forEach(({ place }, p) => {
      const pair = place % params.subcarriers & ~1;
      values.set(row.subarray(pair, pair + 2), 2 * (grid * pilots.length + p));
    });
  }
  return values;
}

const dmrsSettings = (params: Params) => ({
  subcarriers: params.subcarriers,
  firstRb: params.first_rb,
  nId: params.n_id,
  nScid: params.n_scid,
});

function pilotSubcarriers({ pattern, subcarriers, pilot_spacing: step, pilot_offset: offset }: Params, port: number) {
  if (pattern === "nr_dmrs_type1") return dmrsSubcarriers(port, subcarriers);
  const all = Array.from({ length: subcarriers }, (_, k) => k);
  return pattern === "block" ? all : all.filter((k) => k % step === offset);
}

/** Values of the pilots, complex64 [grid, port, pilot]. */
function pilotValues(params: Params, grids: number, pilots: number[][]): Float32Array<ArrayBuffer> {
  const amplitude = 10 ** (params.pilot_power_db / 20), length = pilots[0].length;
  if (params.pattern !== "nr_dmrs_type1") {
    const labels = Generator.seeded(BigInt(params.pilot_seed)).integers(0, 4, grids * length, "int64");
    const bits = Uint8Array.from({ length: 2 * labels.length }, (_, i) => Number(labels[i >> 1]) >> (1 - (i & 1)) & 1);
    return modulate(bits, "qpsk").map((part) => amplitude * part);
  }
  const values = new Float32Array(2 * grids * pilots.length * length);
  const times = [...params.dmrs_symbols].sort((a, b) => a - b);
  const settings = dmrsSettings(params);
  let at = 0;
  for (let grid = 0; grid < grids; grid++) {
    pilots.forEach((_, port) => {
      for (const time of times) {
        const row = dmrsValues(port, params.slot + grid, time, settings);
        for (let i = 0; i < row.length; i++) values[at + i] = amplitude * row[i];
        at += row.length;
      }
    });
  }
  return values;
}

function problems(params: Params): ParameterProblem[] {
  const found: ParameterProblem[] = [];
  const { pattern, subcarriers, num_ofdm_symbols: rows, dmrs_symbols: times, port_count: ports } = params;
  const dmrs = pattern === "nr_dmrs_type1";
  if (times.some((time) => time >= rows) || new Set(times).size < times.length) {
    const message = `Cannot put pilots on the OFDM symbols ${times.join(", ")} of ${rows}`;
    found.push({ place: ["dmrs_symbols"], message, hint: `Use each of 0 to ${rows - 1} at most once` });
  }
  if (dmrs && subcarriers % 12 !== 0) {
    const message = `Cannot cut ${subcarriers} subcarriers into resource blocks of 12`;
    found.push({ place: ["subcarriers"], message, hint: "DM-RS needs a multiple of 12" });
  }
  if (!dmrs && ports > 1) {
    const message = `Cannot separate ${ports} ports by the pattern ${pattern}`;
    found.push({ place: ["port_count"], message, hint: "Use nr_dmrs_type1, or one port" });
  }
  if (dmrs && combOf(ports - 1) >= params.cdm_groups_without_data) {
    found.push({
      place: ["cdm_groups_without_data"],
      message: `Cannot send data on the comb of port ${ports - 1}`,
      hint: "Set cdm_groups_without_data to 2",
    });
  }
  const { ptrs_ports: tracked = [] } = params;
  if (tracked.some((port, i) => port >= ports || tracked.indexOf(port) < i)) {
    const message = `Cannot put PT-RS on the ports ${tracked.join(", ")} of ${ports}`;
    found.push({ place: ["ptrs_ports"], message, hint: `Use each of 0 to ${ports - 1} at most once` });
  }
  if (pattern === "comb" && params.pilot_offset >= params.pilot_spacing) {
    const message = `Cannot start a comb of spacing ${params.pilot_spacing} at subcarrier ${params.pilot_offset}`;
    found.push({ place: ["pilot_offset"], message, hint: "Use an offset below the spacing" });
  }
  if (found.length === 0 && sizes(params).pilots[0].length === 0) {
    found.push({ place: ["pilot_offset"], message: "Cannot estimate a channel without a pilot" });
  }
  if (found.length === 0 && params.ptrs_time_density !== undefined && sizes(params).phase.length === 0) {
    const message = "Cannot put PT-RS on a grid without an element for it";
    found.push({ place: ["ptrs_time_density"], message, hint: "Add resource blocks, or lower the densities" });
  }
  if (found.length === 0 && sizes(params).data.length === 0) {
    found.push({ place: ["dmrs_symbols"], message: "Cannot send data on grids that are all pilots" });
  }
  return found;
}
