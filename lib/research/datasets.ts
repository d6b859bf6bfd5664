/** Infers the dataset of a recipe from its source operations. */
import type { JsonObject } from "../contract/value.ts";
import type { RecipeDocument, StepDocument } from "../recipe/types.ts";
import { allDatasets, findDataset } from "./catalog.ts";

interface Rule {
  dataset: string;
  source: string;
  /** And this operation. */
  with?: string;
  /** And these parameters of the source. */
  params?: { readonly [name: string]: string };
}

const TDL_STATE = "wireless.ofdm_channel_state";
const DELAYED = "wireless.ofdm_delayed_csi";

/** Rules for source operations with several datasets; the first match applies. */
const RULES: readonly Rule[] = [
  { dataset: "synthetic_random_bits_phylib_tdl_delayed_csi", source: "source.random_bits", with: DELAYED },
  { dataset: "synthetic_random_bits_phylib_tdl_delayed_csi", source: "source.bit_manifest", with: DELAYED },
  { dataset: "synthetic_random_bits_phylib_tdl", source: "source.random_bits", with: TDL_STATE },
  { dataset: "kodak_over_phylib_tdl", source: "source.image_dataset", with: TDL_STATE, params: { dataset: "kodak" } },
  { dataset: "kodak", source: "source.kodak_files" },
  {
    dataset: "phylib_3gpp_tdl_c_mimo_ofdm_pilots",
    source: "source.ai_phy_channel_realization",
    params: { scenario: "mimo_ofdm_3gpp_tdl", tdl_model: "C" },
  },
  {
    dataset: "phylib_3gpp_mixed_tdl_mimo_ofdm_pilots",
    source: "source.ai_phy_channel_realization",
    params: { scenario: "mimo_ofdm_3gpp_tdl" },
  },
];

/** Sources of arbitrary data, whose names do not identify a dataset of the catalogue. */
const ANONYMOUS = new Set(["source.bit_manifest"]);

/** Operations that provide data, besides those named `source.`. */
const isSource = ({ op }: StepDocument) => op.startsWith("source.") || op === "wireless.miso_ofdm_csi";

const MODALITIES: readonly [RegExp, string][] = [
  [/bit/, "bits"],
  [/image|kodak/, "image"],
  [/text/, "text"],
];

/**
 * The dataset of the first source, as a DatasetSpec: the one it names, the catalogue's dataset of the operation, or the
 * operation's name.
 */
export function inferDataset(recipe: RecipeDocument): JsonObject | null {
  const source = recipe.steps.find(isSource);
  if (source === undefined) return null;
  const id = datasetOf(source, new Set(recipe.steps.map((step) => step.op)));
  const entry = findDataset(id);
  const { split, manifest_path: manifest = "" } = source.params;
  // The provider of external files determines their version.
  const ours = entry !== undefined && !entry.local && entry.versions.length === 1 && manifest === "";
  return {
    schema_version: 1,
    id,
    modality: entry?.modality ?? MODALITIES.find(([pattern]) => pattern.test(source.op))?.[1] ?? "generic",
    params: {},
    ...(ours ? { version: entry.versions[0] } : {}),
    ...(typeof split === "string" && split !== "" ? { split } : {}),
    source: source.op,
  };
}

function datasetOf({ op, params }: StepDocument, present: Set<string>): string {
  const rule = RULES.find((candidate) =>
    candidate.source === op && (candidate.with === undefined || present.has(candidate.with)) &&
    Object.entries(candidate.params ?? {}).every(([name, value]) => params[name] === value)
  );
  if (rule !== undefined) return rule.dataset;
  if (typeof params.dataset === "string" && params.dataset !== "") return params.dataset;
  const entry = ANONYMOUS.has(op) ? undefined : allDatasets().find(({ source_ops }) => source_ops.includes(op));
  return entry?.id ?? op.slice(op.indexOf(".") + 1);
}
