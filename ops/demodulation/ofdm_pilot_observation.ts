/**
 * Pilots of a received OFDM link, as the problem of a channel estimator: y/p at the pilots of one port, 0 elsewhere, with pilots of
 * the value 1 and the noise variance N0/β² of pilots of the power β². An example is an OFDM symbol with pilots, in the order of
 * grids and time, or a whole grid, whose resource elements then stand on the axis of the subcarriers, an OFDM symbol after another;
 * model.ofdm_channel_estimator with method given takes the estimates back in this order.
 *
 * Shapes: rx_symbols complex64 [grid · symbol · subcarrier], or a grid complex64 [grid, symbol, subcarrier, rx] -> observation
 * complex64 [grid · pilot symbol, rx, subcarrier], companion pilots complex64 [1, subcarrier]; of whole grids [grid, rx, symbol ·
 * subcarrier] and [1, symbol · subcarrier].
 */
import { RX_SYMBOLS } from "../../lib/contract/kinds.ts";
import { defineOperation, float, SvcError, z } from "../api.ts";
import { ndarray } from "../../lib/numeric/array/ndarray.ts";
import { numpyWithTwin } from "../_backends.ts";
import { CHANNEL_OBSERVATION } from "../_channel_estimation.ts";
import { MIMO_RX_GRID, noiseOf, onePort, PILOT_CONTEXT, pilotRows, readContext, receivedGrid } from "../_ofdm_grid.ts";

export default defineOperation({
  id: "demodulation.ofdm_pilot_observation",
  name: "Received OFDM pilots",
  description: "Takes the pilots out of received grids, as the problem of a channel estimator slot",
  inputs: { rx_symbols: [RX_SYMBOLS, MIMO_RX_GRID], pilot_context: [PILOT_CONTEXT] },
  outputs: { observation: CHANNEL_OBSERVATION },
  params: z.strictObject({
    example: z.enum(["ofdm_symbol", "grid"]).default("ofdm_symbol")
      .describe("an example of the problem: an OFDM symbol with pilots, or all OFDM symbols of a grid"),
  }),
  ...numpyWithTwin("full", "Linear in the received pilots"),
  estimate: (_params, { rx_symbols: { bytes } }) => ({ observation: bytes }),
  run({ inputs, params }) {
    const context = onePort(readContext(inputs.pilot_context)), { grids, symbols, subcarriers } = context.layout;
    const received = receivedGrid(inputs.rx_symbols, context.layout), { rx } = received;
    const { rows, scale, raw } = pilotRows(context, 0, received), whole = params.example === "grid";
    const examples = whole ? grids : grids * rows.length, size = whole ? symbols * subcarriers : subcarriers;
    const first = rows[0]?.places ?? [];
    if (first.length === 0 || !whole && rows.some((row) => row.places.join() !== first.join())) {
      throw new SvcError(
        "params_conflict",
        "Cannot observe pilots that are not on the same subcarriers of each OFDM symbol",
      );
    }
    const y = new Float32Array(2 * examples * rx * size), pilots = new Float32Array(2 * size);
    rows.forEach(({ places, time }, row) => {
      const from = whole ? time * subcarriers : 0;
      for (const k of places) pilots[2 * (from + k)] = 1;
      for (let grid = 0; grid < grids; grid++) {
        const example = whole ? grid : grid * rows.length + row;
        for (let antenna = 0; antenna < rx; antenna++) {
          const values = raw(grid, row, antenna), at = (example * rx + antenna) * size + from;
          places.forEach((k, i) => y.set(values.subarray(2 * i, 2 * i + 2), 2 * (at + k)));
        }
      }
    });
    const count = pilots.reduce((sum, value) => sum + value, 0);
    return {
      outputs: {
        observation: {
          array: ndarray("complex64", y, [examples, rx, size]),
          companions: { pilots: ndarray("complex64", pilots, [1, size]) },
          metadata: {
            example_count: examples,
            rx_antennas: rx,
            tx_antennas: 1,
            subcarriers,
            ...(whole ? { ofdm_symbols: symbols } : {}),
            pilot_density: float(count / size),
            noise_variance: float(noiseOf(inputs.rx_symbols) * scale),
          },
        },
      },
    };
  },
});
