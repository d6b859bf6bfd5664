/**
 * Pilots of a received OFDM link, as the problem of a channel estimator: y/p at the pilots of one port, 0 elsewhere, with pilots of
 * the value 1 and the noise variance N0/β² of pilots of the power β². An example is an OFDM symbol with pilots, in the order of
 * grids and time; model.ofdm_channel_estimator with method given takes the estimates back in this order.
 *
 * Shapes: rx_symbols complex64 [grid · symbol · subcarrier], or a grid complex64 [grid, symbol, subcarrier, rx] -> observation
 * complex64 [grid · pilot symbol, rx, subcarrier], companion pilots complex64 [1, subcarrier].
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
  params: z.strictObject({}),
  ...numpyWithTwin("full", "Linear in the received pilots"),
  estimate: (_params, { rx_symbols: { bytes } }) => ({ observation: bytes }),
  run({ inputs }) {
    const context = onePort(readContext(inputs.pilot_context)), { grids, subcarriers } = context.layout;
    const received = receivedGrid(inputs.rx_symbols, context.layout), { rx } = received;
    const { rows, scale, raw } = pilotRows(context, 0, received), places = rows[0]?.places ?? [];
    if (places.length === 0 || rows.some((row) => row.places.join() !== places.join())) {
      throw new SvcError(
        "params_conflict",
        "Cannot observe pilots that are not on the same subcarriers of each OFDM symbol",
      );
    }
    const y = new Float32Array(2 * grids * rows.length * rx * subcarriers), pilots = new Float32Array(2 * subcarriers);
    for (const k of places) pilots[2 * k] = 1;
    for (let line = 0; line < grids * rows.length * rx; line++) {
      const example = Math.floor(line / rx), row = example % rows.length;
      const values = raw(Math.floor(example / rows.length), row, line % rx);
      places.forEach((k, i) => y.set(values.subarray(2 * i, 2 * i + 2), 2 * (line * subcarriers + k)));
    }
    return {
      outputs: {
        observation: {
          array: ndarray("complex64", y, [grids * rows.length, rx, subcarriers]),
          companions: { pilots: ndarray("complex64", pilots, [1, subcarriers]) },
          metadata: {
            example_count: grids * rows.length,
            rx_antennas: rx,
            tx_antennas: 1,
            subcarriers,
            pilot_density: float(places.length / subcarriers),
            noise_variance: float(noiseOf(inputs.rx_symbols) * scale),
          },
        },
      },
    };
  },
});
