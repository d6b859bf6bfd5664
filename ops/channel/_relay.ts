/** Operations that pass a stream unchanged, whole or in blocks: main array, companion arrays and metadata. */
import type { InputArtifact, JsonObject, OperationStream, OutputArtifact } from "../api.ts";
import { checkExpectedCount } from "../../lib/artifact/accounting.ts";
import { bitMetadata, bitsOf, companionsOf, symbolMetadata, symbolsOf, travel } from "../../lib/artifact/values.ts";
import type { StreamInput } from "../../lib/contract/operation.ts";
import { type NdArray, ndarray } from "../../lib/numeric/array/ndarray.ts";
import { dataPlane, madeOn, portableOnly } from "../_data_plane.ts";
import { SYMBOL_COMPANIONS } from "../_noise_variance.ts";

/** Metadata that every symbol output has. */
export const SYMBOL_KEYS = ["boundary_contract", "representation", "symbol_count", "channel_use_count"];

/** The parameters that these operations choose from; `label` and `role` are facts for the step row. */
interface RelayParams {
  label?: string;
  role?: string;
  expected_bit_count?: number;
  expected_symbol_count?: number;
  power_unit?: string;
  data_plane_backend?: string;
}

interface RelayContext<From extends string, Input> {
  readonly inputs: { readonly [Port in From]: Input };
  readonly params: RelayParams;
  readonly backend: string;
}

/** How an operation passes bits from an input to an output under the given boundary contract. */
export const bitRelay = <From extends string, To extends string>(
  from: From,
  to: To,
  contract: "channel.bits" | "payload.bits" = "channel.bits",
) => relay(from, to, "uint8", (count, metadata) => bitMetadata(count, travel(metadata), contract));

/** How an operation passes symbols; it declares their power unit if it has that parameter. */
export const symbolRelay = <From extends string, To extends string>(from: From, to: To) =>
  relay(
    from,
    to,
    "complex64",
    (count, metadata, { power_unit }) =>
      symbolMetadata(count, travel(metadata, power_unit === undefined ? {} : { power_unit })),
  );

function relay<From extends string, To extends string>(
  from: From,
  to: To,
  dtype: "uint8" | "complex64",
  describe: (count: number, metadata: JsonObject, params: RelayParams) => JsonObject,
) {
  const outputsOf = <Value>(value: Value) => ({ [to]: value }) as Record<To, Value>;
  return {
    streaming: {
      allows: (params: RelayParams) => portableOnly(params),
      companions: SYMBOL_COMPANIONS,
      open({ inputs, params }: RelayContext<From, StreamInput>): OperationStream<From> | null {
        const { length, metadata, companions = {} } = inputs[from], { expected, facts } = read(params);
        if (metadata.dtype !== dtype || expected > 0 && expected !== length) return null;
        return {
          arrays: outputsOf({ dtype, length, companions, metadata: describe(length, metadata, params) }),
          next: (blocks: Readonly<Record<string, NdArray>>) => ({
            [to]: blocks[from].data,
            ...Object.fromEntries(
              Object.keys(companions).map((name) => [`${to}.${name}`, blocks[`${from}.${name}`].data]),
            ),
          }),
          end: () => ({ metadata: facts }),
        };
      },
    },
    async run({ inputs: { [from]: input }, params, backend }: RelayContext<From, InputArtifact>) {
      const kernels = dtype === "uint8" ? await dataPlane({ params, backend }) : undefined;
      const array = ndarray(dtype, kernels === undefined ? symbolsOf(input) : bitsOf(input, kernels));
      const [count] = array.shape, { expected, facts } = read(params);
      if (expected > 0) checkExpectedCount(count, expected, dtype === "uint8" ? "bits" : "symbols");
      const passed = { array, metadata: describe(count, input.metadata, params), companions: companionsOf(input) };
      return { outputs: outputsOf<OutputArtifact>(madeOn(kernels, passed)), metadata: facts };
    },
  };
}

function read({ label, role, expected_bit_count: bits = 0, expected_symbol_count: symbols = 0 }: RelayParams) {
  const facts = { ...(label === undefined ? {} : { label }), ...(role === undefined ? {} : { role }) };
  return { expected: Math.max(bits, symbols), facts };
}
