/** Parameters of the power allocators, and constraints between them. */
import { artifactParameters, LEARNED_ARTIFACT, type ParameterProblem, type Requirement, usedWhen, z } from "../api.ts";

export const CHECKPOINT_FORMAT = "svc_csi_power_deepset_npz_v1";

const POLICIES = [
  "fixed",
  "snr_sigmoid",
  "water_filling",
  "observed_csi_water_filling",
  "robust_csi_water_filling",
  "causal_ar_water_filling",
  "causal_ar_box_water_filling",
  "learned_checkpoint",
  LEARNED_ARTIFACT,
] as const;
export type Policy = typeof POLICIES[number];

/** Policies that need no channel state. */
const WITHOUT_STATE: readonly Policy[] = ["fixed", "snr_sigmoid"];
const SHA256 = /^[0-9a-f]{64}$/;

const DB = { unit: "dB" };
/** A power of its own for each part: equal Es/N0 gives equal powers, whatever the policy. */
const PARTS = ["per_symbol", "per_subcarrier", "per_stream"];
const FORMULAS = { policy: POLICIES.filter((policy) => !policy.startsWith("learned")) };
const SIGMOID = { policy: "snr_sigmoid" },
  CAUSAL = { policy: ["causal_ar_water_filling", "causal_ar_box_water_filling"], granularity: PARTS },
  BOX = { policy: "causal_ar_box_water_filling", granularity: PARTS },
  LOADING = { transport_mode: "allocation_aware_bit_loading" },
  CHECKPOINT = { policy: "learned_checkpoint" };

/** The condition of a threshold of bit loading, by the most bits of an element. */
const loads = (...bit_loading_max_bits_per_symbol: number[]) =>
  usedWhen({ ...LOADING, bit_loading_max_bits_per_symbol }, DB);
const snr = (value: number, bits: string, condition: ReturnType<typeof loads>) =>
  z.number().default(value).describe(`minimum Es/N0 in dB of an element with ${bits}`).meta(condition);

export const POWER_PARAMS = {
  target_power: z.number().positive().default(1)
    .describe("mean power of a resource element; the powers of a state sum to this times its subcarriers"),
  power_unit: z.enum(["normalized", "mW"]).default("normalized").describe("unit of the powers"),
  budget_mode: z.enum(["fixed_average", "variable_average"]).default("fixed_average")
    .describe("fixed_average meets target_power; variable_average keeps powers within min_power and max_power"),
  granularity: z.enum(["global", "per_symbol", "per_subcarrier", "per_stream"]).default("global")
    .describe("scope of one power: everything, an OFDM symbol, a resource element, or a stream"),
  stream_count: z.int().positive().default(1).describe("streams of per_stream; symbol i is of stream i mod the count")
    .meta(usedWhen({ granularity: "per_stream", policy: POLICIES.filter((policy) => policy !== "fixed") })),
  subcarrier_count: z.int().positive().default(64)
    .describe("subcarriers of a state without a wired channel state, which has its own number")
    .meta(usedWhen({ policy: [...WITHOUT_STATE], transport_mode: "fixed_modulation" })),
  min_power: z.number().nonnegative().default(0.25)
    .describe("power of snr_sigmoid at low Es/N0; lower bound of variable_average").meta(usedWhen(FORMULAS)),
  max_power: z.number().positive().default(2)
    .describe("power of snr_sigmoid at high Es/N0; upper bound of variable_average").meta(usedWhen(FORMULAS)),
  midpoint_snr_db: z.number().default(12).describe("Es/N0 in dB halfway between min_power and max_power").meta(
    usedWhen(SIGMOID, DB),
  ),
  slope_db: z.number().positive().default(4).describe("width of the sigmoid").meta(usedWhen(SIGMOID, DB)),
  snr_db: z.number().default(12).describe("Es/N0 in dB for snr_sigmoid without a channel state").meta(
    usedWhen({ ...SIGMOID, budget_mode: "variable_average" }, DB),
  ),
  allocation_contrast: z.number().min(0).max(1).default(0.6)
    .describe("resolution of snr_sigmoid: element, OFDM symbol or stream").meta(
      usedWhen({ ...SIGMOID, granularity: PARTS }),
    ),
  csi_gain_shrinkage: z.number().min(0).max(1).default(0.6)
    .describe("robust_csi: weight of the mean gain against the reported one").meta(
      usedWhen({ policy: "robust_csi_water_filling", granularity: ["per_subcarrier", "per_stream"] }),
    ),
  csi_prediction_gain_confidence: z.number().min(0).max(1).default(0.4)
    .describe("causal_ar: weight of the predicted gain against the last reported one").meta(usedWhen(CAUSAL)),
  csi_prediction_horizon_ofdm_symbols: z.int().nonnegative().default(0)
    .describe("OFDM symbols that causal_ar predicts ahead; 0 is the delay that the reports declare").meta(
      usedWhen(CAUSAL),
    ),
  allocation_lower_power_ratio: z.number().nonnegative().default(0.1)
    .describe("causal_ar_box: minimum power over the mean").meta(usedWhen(BOX)),
  allocation_upper_power_ratio: z.number().positive().default(1.9).describe(
    "causal_ar_box: maximum power over the mean",
  ).meta(usedWhen(BOX)),
  transport_mode: z.enum(["fixed_modulation", "allocation_aware_bit_loading"]).default("fixed_modulation")
    .describe("bit loading maps the wired bits itself, as many per element as its Es/N0 supports"),
  bit_loading_max_bits_per_symbol: z.literal([1, 2, 4, 6, 8]).default(6).describe("most bits of an element").meta(
    usedWhen(LOADING),
  ),
  bit_loading_bpsk_min_snr_db: snr(6, "1 bit", usedWhen(LOADING, DB)),
  bit_loading_qpsk_min_snr_db: snr(10, "2 bits", loads(2, 4, 6, 8)),
  bit_loading_qam16_min_snr_db: snr(17, "4 bits", loads(4, 6, 8)),
  bit_loading_qam64_min_snr_db: snr(23, "6 bits", loads(6, 8)),
  bit_loading_qam256_min_snr_db: z.number().optional().describe(
    "minimum Es/N0 in dB of an element with 8 bits; default 29",
  ).meta(loads(8)),
  checkpoint_path: z.string().default("").describe("NPZ file of learned_checkpoint").meta(usedWhen(CHECKPOINT)),
  checkpoint_sha256: z.string().default("").describe("lower-case SHA-256 of that file").meta(usedWhen(CHECKPOINT)),
  checkpoint_format: z.enum([CHECKPOINT_FORMAT]).default(CHECKPOINT_FORMAT).describe(
    "format of the file of learned_checkpoint",
  ).meta(usedWhen(CHECKPOINT)),
  checkpoint_max_bytes: z.int().positive().default(67108864).describe("a larger file is refused").meta(
    usedWhen(CHECKPOINT),
  ),
  checkpoint_strict: z.boolean().default(true).describe("refuse members that are not in the format").meta(
    usedWhen(CHECKPOINT),
  ),
  ...artifactParameters("power_policy", "policy"),
  model_batch_size: z.int().positive().default(1024)
    .describe("maximum number of states per call of learned_artifact; does not change the result").meta(
      usedWhen({ policy: LEARNED_ARTIFACT }),
    ),
  eps: z.number().positive().default(1e-12).describe("a mean power below this is replaced by equal power").meta(
    usedWhen({ ...SIGMOID, granularity: PARTS }),
  ),
  label: z.string().default("tx_power_allocate").describe("name of the stage in the step row"),
};
export type PowerParams = z.output<z.ZodObject<typeof POWER_PARAMS>> & { policy: Policy };

/** Conflicts between parameters. */
export function checkPower(params: PowerParams, connected: ReadonlySet<string>): ParameterProblem[] {
  const { policy } = params;
  const problems: ParameterProblem[] = [];
  const loading = params.transport_mode === "allocation_aware_bit_loading";
  if (!connected.has("channel_state") && (loading || !WITHOUT_STATE.includes(policy))) {
    problems.push({
      code: "csi_power_policy_state_missing",
      message: loading
        ? "Cannot load bits without a channel state"
        : `Cannot use the policy ${policy} without a channel state`,
      input: "channel_state",
      hint: `Wire channel_state, or ${
        loading ? "set transport_mode to fixed_modulation" : "set policy to fixed or snr_sigmoid"
      }`,
    });
  }
  if (loading && !connected.has("bits")) {
    problems.push({
      code: "input_missing",
      message: "Cannot load bits without the input bits",
      input: "bits",
      hint: "Wire bits to the input of the modulator, or set transport_mode to fixed_modulation",
    });
  }
  if (params.min_power > params.max_power) {
    problems.push({
      message: `Cannot keep powers within ${params.min_power} and ${params.max_power}`,
      place: ["min_power"],
      hint: "Set min_power to at most max_power",
    });
  }
  const { allocation_lower_power_ratio: lower, allocation_upper_power_ratio: upper } = params;
  if (policy === "causal_ar_box_water_filling" && !(lower <= 1 && upper >= 1)) {
    problems.push({
      message: `Cannot keep a mean power of 1 within ${lower} and ${upper} times it`,
      place: [lower > 1 ? "allocation_lower_power_ratio" : "allocation_upper_power_ratio"],
      hint: "Set the lower ratio to at most 1, the upper one to at least 1",
    });
  }
  if (policy === "learned_checkpoint") problems.push(...checkpointProblems(params));
  if (policy === "learned_checkpoint" || policy === LEARNED_ARTIFACT) problems.push(...learnedSharing(params));
  return problems;
}

function checkpointProblems(params: PowerParams): ParameterProblem[] {
  const problems: ParameterProblem[] = [];
  if (params.checkpoint_path.trim() === "") {
    problems.push({
      code: "learned_power_checkpoint_path_missing",
      message: "Cannot use the policy learned_checkpoint without checkpoint_path",
      place: ["checkpoint_path"],
      hint: "Set the path of the file",
    });
  }
  if (!SHA256.test(params.checkpoint_sha256)) {
    problems.push({
      code: "learned_power_checkpoint_sha_missing",
      message: "Cannot use the policy learned_checkpoint without checkpoint_sha256",
      place: ["checkpoint_sha256"],
      hint: "Set its SHA-256, 64 lower-case hexadecimal digits",
    });
  }
  return problems;
}

/** Constraints of a learned policy: a score per subcarrier, projected onto the budget of a state. */
function learnedSharing(params: PowerParams): ParameterProblem[] {
  const problems: ParameterProblem[] = [];
  if (params.granularity !== "per_subcarrier") {
    problems.push({
      code: "learned_power_granularity_invalid",
      message: `Cannot use granularity ${params.granularity} with a learned power policy`,
      place: ["granularity"],
      hint: "Set granularity to per_subcarrier",
    });
  }
  if (params.budget_mode !== "fixed_average") {
    problems.push({
      code: "learned_power_budget_invalid",
      message: `Cannot use budget_mode ${params.budget_mode} with a learned power policy`,
      place: ["budget_mode"],
      hint: "Set budget_mode to fixed_average",
    });
  }
  return problems;
}

/** The file of a learned policy. */
export const requiredFiles = ({ policy, checkpoint_path }: PowerParams): Requirement[] =>
  policy === "learned_checkpoint" && checkpoint_path !== "" ? [{ kind: "file", id: checkpoint_path }] : [];
