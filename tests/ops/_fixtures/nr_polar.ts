/** Conformance cases of the NR polar codes. */
import nrPolar from "../../../ops/channel/nr_polar.ts";
import type { JsonObject } from "../../../lib/contract/value.ts";
import { ndarray } from "../../../lib/numeric/array/ndarray.ts";
import { runOperation } from "../harness.ts";
import { payloadInput, someBits } from "../inputs.ts";
import { casesOf } from "./cases.ts";

const [nrPolarEncoder] = nrPolar;

const SMALL = { message_type: "uci", payload_bits: 20, coded_bits: 48 };
const payload = () => ({ bits: payloadInput(someBits(100), { source_item_counts: [60, 40] }) });

/** Log-likelihood ratios of the encoder's bits; from a bit on they are wrong. */
async function received(params: JsonObject, wrongFrom = Infinity) {
  const { coded_bits } = (await runOperation(nrPolarEncoder, { inputs: payload(), params })).outputs;
  const llr = Float32Array.from(
    coded_bits.array().data as Uint8Array,
    (bit, i) => (i < wrongFrom ? 3 - 6 * bit : (i * 7) % 5 - 2),
  );
  return { llr: { kind: "channel.llr.numpy", array: ndarray("float32", llr), metadata: coded_bits.metadata } };
}

export const NR_POLAR_FIXTURES = casesOf(import.meta.url, {
  inputs: {
    payload,
    "received DCI": () => received({ rnti: 4660 }),
    received: () => received(SMALL),
    "received with a lost block": () => received(SMALL, 190),
  },
});
