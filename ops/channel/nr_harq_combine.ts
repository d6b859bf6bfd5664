/**
 * Soft combining of retransmissions of NR LDPC transport blocks: undoes scrambling and interleaving of each input and adds its
 * log-likelihood ratios at their positions of the circular buffer (TS 38.212 section 5.4.2), in binary64. Positions that nothing
 * reached are 0, filler bits are +infinity until a decoder replaces them. The order of the inputs does not change the sums.
 *
 *     incremental_redundancy   inputs of any redundancy version
 *     chase                    inputs of one redundancy version
 *
 * Shapes: llr float32 [blocks · G] each -> buffer float32 [block, code block, N_cb].
 */
import { LLR } from "../../lib/contract/kinds.ts";
import { defineOperation, SvcError, z } from "../api.ts";
import { travel } from "../../lib/artifact/values.ts";
import { ndarray } from "../../lib/numeric/array/ndarray.ts";
import { accumulate, circularBuffer } from "../../lib/numeric/coding/nr_ldpc/rate_matching.ts";
import { goldSequence } from "../../lib/numeric/coding/nr_ldpc/scrambling.ts";
import { notExported } from "../_backends.ts";
import { type CodedStream, NR_LDPC_KEY, readStream, seedOf, SOFT_BUFFER, softValues, valuesOf } from "./_nr_ldpc.ts";

const PORTS = ["llr", "llr_2", "llr_3", "llr_4"] as const;

export default defineOperation({
  id: "channel.nr_harq_combine",
  name: "NR HARQ soft combining",
  description: "Adds the soft values of retransmissions in the circular buffer of the LDPC code",
  inputs: { llr: [LLR] },
  optionalInputs: { llr_2: [LLR], llr_3: [LLR], llr_4: [LLR], buffer: [SOFT_BUFFER] },
  outputs: { buffer: SOFT_BUFFER },
  params: z.strictObject({
    mode: z.enum(["incremental_redundancy", "chase"]).default("incremental_redundancy")
      .describe("chase combines equal redundancy versions only"),
  }),
  differentiability: notExported("torch", "full", "A sum of inputs"),
  backends: { benchmark_run: ["numpy"], dataset_capture: ["numpy"] },
  equivalence: { type: "numerical", tolerance: { atol: 1e-6, rtol: 1e-5 } },
  formats: { artifact: "npz", tensor: "none" },
  inputMetadataRequirements: { llr: { all_of: [NR_LDPC_KEY] } },
  outputMetadataGuarantees: { buffer: { from: "llr", keys: [NR_LDPC_KEY] } },
  // The buffer of a code of rate 1/3 or 1/5 has at most four values for each one of a first transmission.
  estimate: (_params, { llr: { bytes }, buffer }) => ({
    buffer: buffer?.shape === undefined ? 4 * bytes : [["float32", ...buffer.shape]],
  }),
  run({ inputs, params }) {
    const streams = PORTS.flatMap((port) => {
      const input = inputs[port];
      return input === undefined ? [] : [{ port, input, stream: readStream(input.metadata) }];
    });
    const [first, ...others] = streams, { stream } = first, { parameters, blockCount } = stream;
    for (const other of others) checkSame(first, other);
    if (inputs.buffer) checkSame(first, { port: "buffer", stream: readStream(inputs.buffer.metadata) });
    if (params.mode === "chase") {
      const odd = others.find((other) => other.stream.redundancyVersion !== stream.redundancyVersion);
      if (odd) {
        throw new SvcError(
          "params_conflict",
          `Cannot add ${odd.port} to llr by chase: their redundancy versions differ`,
          { hint: "Set mode to incremental_redundancy, or send one redundancy version" },
        );
      }
    }
    const buffer = circularBuffer(parameters, stream.limitBits), size = parameters.codeBlockCount * buffer.length;
    const sums = new Float64Array(blockCount * size);
    if (inputs.buffer) sums.set(softValues(inputs.buffer, blockCount * size));
    const versions = inputs.buffer ? recorded(inputs.buffer.metadata.rv_sequence) : [];
    for (const { input, stream: own } of streams) {
      const { codedBits } = own.parameters, llr = valuesOf(input, blockCount * codedBits);
      const scrambling = goldSequence(seedOf(own), blockCount === 0 ? 0 : codedBits);
      const { redundancyVersion } = own;
      for (let block = 0; block < blockCount; block++) {
        accumulate(
          llr.subarray(block * codedBits, (block + 1) * codedBits),
          own.parameters,
          { buffer, redundancyVersion, scrambling },
          sums.subarray(block * size, (block + 1) * size),
        );
      }
      versions.push(redundancyVersion);
    }
    const [from, to] = buffer.fillers;
    for (let start = 0; start < sums.length; start += buffer.length) {
      sums.fill(Infinity, start + Math.min(from, buffer.length), start + Math.min(to, buffer.length));
    }
    const shape = [blockCount, parameters.codeBlockCount, buffer.length];
    return {
      outputs: {
        buffer: {
          array: ndarray("float32", Float32Array.from(sums), shape),
          metadata: travel(first.input.metadata, { rv_sequence: versions }),
        },
      },
    };
  },
});

const recorded = (value: unknown): number[] => Array.isArray(value) ? value.map(Number) : [];

/** @throws SvcError `params_conflict` for transmissions of other blocks or codes */
function checkSame(first: { port: string; stream: CodedStream }, other: { port: string; stream: CodedStream }): void {
  const facts = ({ parameters: p, blockCount, payloadBits, limitBits }: CodedStream) =>
    [blockCount, payloadBits, p.blockBits, p.baseGraph, p.codeBlockCount, p.liftingSize, limitBits].join();
  if (facts(first.stream) === facts(other.stream)) return;
  throw new SvcError(
    "params_conflict",
    `Cannot combine ${other.port} with ${first.port}: their blocks or codes differ`,
    {
      hint:
        "Send the same payload with equal code parameters; only redundancy_version and coded_bits_per_block may differ",
    },
  );
}
