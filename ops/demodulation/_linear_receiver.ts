/**
 * Checkpoints of linear receivers, format `svc_linear_receiver_npz_v1`: an NPZ file with
 *
 *     metadata_json    text, JSON with "format": "svc_linear_receiver_npz_v1"
 *     weight [2, 2]    from (Re y, Im y) to the two bits of a symbol
 *     bias [2]
 *
 * float32 or float64, finite, in C order, and no other members. The LLRs of a symbol are ([Re y, Im y]·weight +
 * bias)/N0, so weight = 2·sqrt(2)·identity and bias = 0 give the exact QPSK demapper. No code of the file is ever
 * executed.
 */
import { openNpz } from "../../lib/artifact/npz.ts";
import { isObject, parseJson, SvcError } from "../api.ts";

const LINEAR_RECEIVER_FORMAT = "svc_linear_receiver_npz_v1";

/** A file of this format has six numbers. */
const MAX_BYTES = 1 << 16;
const MEMBERS = ["bias", "metadata_json", "weight"];
const LEAST_NOISE_VARIANCE = 1e-12;

export interface LinearReceiver {
  /** [2, 2] in C order. */
  readonly weight: Float64Array;
  readonly bias: Float64Array;
}

/**
 * Reads a checkpoint.
 * @param name name of the file, for messages
 * @throws SvcError `artifact_limit_exceeded`, `artifact_schema_invalid`, or those of opening an NPZ file
 */
export function readLinearReceiver(bytes: Uint8Array, name: string): LinearReceiver {
  if (bytes.length > MAX_BYTES) {
    throw new SvcError("artifact_limit_exceeded", `Cannot load ${name}: ${bytes.length} bytes are above ${MAX_BYTES}`);
  }
  const invalid = (why: string) =>
    new SvcError("artifact_schema_invalid", `Cannot load ${name} as a linear receiver: ${why}`, {
      hint: `The format ${LINEAR_RECEIVER_FORMAT} has weight [2, 2], bias [2] and metadata_json`,
    });
  const file = openNpz(bytes, name, { maxEntries: 8, maxExpandedBytes: 1 << 20 });
  const missing = MEMBERS.filter((member) => !file.has(member));
  const unknown = file.names.filter((member) => !MEMBERS.includes(member));
  if (missing.length > 0) throw invalid(`it lacks ${missing.join(", ")}`);
  if (unknown.length > 0) throw invalid(`it also contains ${unknown.join(", ")}`);
  const text = parseJson(file.text("metadata_json"));
  if (!isObject(text) || text.format !== LINEAR_RECEIVER_FORMAT) {
    throw invalid("its metadata_json has another format");
  }
  const values = (member: string, shape: readonly number[]) => {
    const array = file.array(member);
    if (array.dtype !== "float32" && array.dtype !== "float64") throw invalid(`${member} is ${array.dtype}`);
    if (array.shape.join() !== shape.join()) throw invalid(`${member} is [${array.shape}] and not [${shape}]`);
    const data = Float64Array.from(array.data as Float32Array | Float64Array);
    if (!data.every(Number.isFinite)) throw invalid(`${member} has values that are not finite`);
    return data;
  };
  return { weight: values("weight", [2, 2]), bias: values("bias", [2]) };
}

/** LLRs of received symbols, interleaved complex64, two per symbol; N0 is one for all or one per symbol. */
export function linearLlr(
  symbols: Float32Array,
  noiseVariance: number | Float32Array,
  { weight: [w00, w01, w10, w11], bias: [b0, b1] }: LinearReceiver,
): Float32Array<ArrayBuffer> {
  const llr = new Float32Array(symbols.length);
  for (let i = 0; i < symbols.length; i += 2) {
    const noise = typeof noiseVariance === "number" ? noiseVariance : noiseVariance[i / 2];
    const precision = 1 / Math.max(noise, LEAST_NOISE_VARIANCE);
    llr[i] = (symbols[i] * w00 + symbols[i + 1] * w10 + b0) * precision;
    llr[i + 1] = (symbols[i] * w01 + symbols[i + 1] * w11 + b1) * precision;
  }
  return llr;
}
