/**
 * Checkpoints of learned power policies, format `svc_csi_power_deepset_npz_v1`: an NPZ file with
 *
 *     metadata_json                     text, JSON with "format": "svc_csi_power_deepset_npz_v1"
 *     phi_0_weight [H, a], phi_0_bias [a], phi_1_weight [a, b], …      layers of phi
 *     rho_0_weight [2z, c], rho_0_bias [c], …, the last with one output       layers of rho, z the outputs of phi
 *
 * float32 or float64, finite, in C order. The network (lib/numeric/linalg/deep_set.ts) processes the subcarriers of a state as
 * a set; the features of subcarrier k are ln(1 + P·|h_t,k|²/N0) of its last H reports, the oldest first, with the mean
 * power budget P. A missing earlier report is replaced by the oldest one. The scores, times P, are projected onto the
 * powers that sum to P·F (`svc_exact_simplex_projection_v1`).
 *
 * A strict checkpoint has no other members; otherwise further members are ignored and the text may be missing. No code
 * of the file is ever executed.
 */
import { type NpzFile, openNpz } from "../../lib/artifact/npz.ts";
import { isObject, parseJson, sha256Hex, SvcError } from "../api.ts";
import { type DeepSet, deepSetProblem, type DenseLayer } from "../../lib/numeric/linalg/deep_set.ts";
import { CHECKPOINT_FORMAT } from "./_power_params.ts";

const LIMITS = { maxEntries: 32, maxExpandedBytes: 2 ** 28 };
const TEXT = "metadata_json";

/**
 * Reads a checkpoint.
 * @param name name of the file, for messages
 * @throws SvcError `artifact_limit_exceeded`, `artifact_hash_mismatch`, `artifact_schema_invalid`, or those of {@link openNpz}
 */
export function readPowerCheckpoint(
  bytes: Uint8Array,
  name: string,
  { sha256, maxBytes, strict }: { sha256: string; maxBytes: number; strict: boolean },
): DeepSet {
  if (bytes.length > maxBytes) {
    throw new SvcError("artifact_limit_exceeded", `Cannot load ${name}: ${bytes.length} bytes are above ${maxBytes}`, {
      hint: "Raise checkpoint_max_bytes if you trust the file",
    });
  }
  const actual = sha256Hex(bytes);
  if (actual !== sha256) {
    throw new SvcError("artifact_hash_mismatch", `Cannot load ${name}: its SHA-256 is ${actual}, not ${sha256}`);
  }
  const invalid = (why: string) => new SvcError("artifact_schema_invalid", `Cannot load ${name}: ${why}`);
  const file = openNpz(bytes, name, LIMITS);
  const used = new Set<string>();
  if (strict || file.has(TEXT)) {
    used.add(TEXT);
    const text = parseJson(file.text(TEXT));
    if (!isObject(text) || text.format !== CHECKPOINT_FORMAT) throw invalid(`its format is not ${CHECKPOINT_FORMAT}`);
  }
  const network = { phi: layers(file, "phi", used, invalid), rho: layers(file, "rho", used, invalid) };
  const problem = deepSetProblem(network);
  if (problem !== null) throw invalid(problem);
  const unknown = file.names.find((member) => !used.has(member));
  if (strict && unknown !== undefined) throw invalid(`it also contains ${unknown}`);
  return network;
}

function layers(file: NpzFile, part: string, used: Set<string>, invalid: (why: string) => SvcError): DenseLayer[] {
  const found: DenseLayer[] = [];
  for (let depth = 0; file.has(`${part}_${depth}_weight`); depth++) {
    const [weight, bias] = ["weight", "bias"].map((role) => {
      const member = `${part}_${depth}_${role}`;
      const { dtype, shape, data } = file.array(member);
      used.add(member);
      if (dtype !== "float32" && dtype !== "float64") throw invalid(`${member} is ${dtype}`);
      const values = Float64Array.from(data as Float32Array | Float64Array);
      if (!values.every(Number.isFinite)) throw invalid(`${member} has values that are not finite`);
      return { member, shape, values };
    });
    const [inputs, outputs] = weight.shape;
    if (weight.shape.length !== 2 || inputs === 0 || outputs === 0) {
      throw invalid(`${weight.member} is not [inputs, outputs]`);
    }
    if (bias.shape.length !== 1 || bias.shape[0] !== outputs) throw invalid(`${bias.member} is not [${outputs}]`);
    found.push({ inputs, outputs, weight: weight.values, bias: bias.values });
  }
  return found;
}
