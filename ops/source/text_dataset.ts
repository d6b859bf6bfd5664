/**
 * Texts of a built-in set or of a text-dataset manifest, in the order of their ids; `repeat_count` repeats the whole list,
 * later rounds with ids ending in `#2`, `#3`, …. A manifest is pinned by its SHA-256, and pins each text.
 * svc_reports are generated sentences in splits without a common sentence: _report_sentences.ts.
 */
import { TEXTS } from "../../lib/contract/kinds.ts";
import { defineOperation, type FileAccess, type ParameterProblem, sha256Hex, SvcError, z } from "../api.ts";
import { type TextItem, textsArtifact } from "../../lib/artifact/values.ts";
import { checkIds, parseIds, repeatIds } from "./_ids.ts";
import { REPORT_SPLITS, reportSentences, type ReportSplit } from "./_report_sentences.ts";
import { SEMANTIC_TEXT_SMOKE } from "./_semantic_text_smoke.ts";

const BUILT_IN = "semantic_text_smoke", REPORTS = "svc_reports";
const KNOWN = Object.keys(SEMANTIC_TEXT_SMOKE);
const DEFAULT_IDS = KNOWN.join(",");

interface Selection {
  dataset: string;
  sample_ids: string;
  text_ids: string;
  split: string;
  manifest_path: string;
  manifest_sha256: string;
  sample_count: number;
}

export default defineOperation({
  id: "source.text_dataset",
  name: "Text batch",
  description: "Built-in sentences, or texts of one's own by a pinned manifest, optionally repeated",
  outputs: { texts: TEXTS },
  params: z.strictObject({
    dataset: z.string().min(1).meta({
      anyOf: [{ type: "string", enum: [BUILT_IN, REPORTS] }, { type: "string", minLength: 1 }],
    })
      .default(BUILT_IN).describe(
        `${BUILT_IN} and ${REPORTS} come with the program; any other id is that of the manifest`,
      ),
    sample_ids: z.string().default(DEFAULT_IDS)
      .describe("comma-separated ids of built-in sentences, in this order; empty takes all"),
    text_ids: z.string().default("").describe("comma-separated ids in the manifest, in this order; empty uses split"),
    split: z.string().default("")
      .describe(
        `split of the manifest, empty takes all texts; of ${REPORTS} ${REPORT_SPLITS.join(", ")}, empty is test`,
      ),
    sample_count: z.int().min(1).max(40000).default(200).meta({ "x-svc-used-when": { dataset: REPORTS } })
      .describe(`number of sentences of ${REPORTS}`),
    manifest_path: z.string().default("").describe("text-dataset manifest, relative to the project"),
    manifest_sha256: z.string().regex(/^([0-9a-f]{64})?$/).default("").describe("SHA-256 that the manifest must have"),
    repeat_count: z.int().positive().default(1).describe("number of repetitions of the list"),
  }),
  outputMetadataGuarantees: { texts: { keys: ["dataset", "text_ids"] } },
  estimate: ({ dataset, manifest_path, sample_ids, sample_count, repeat_count }) => ({
    texts: manifest_path !== ""
      ? null
      : 100 * repeat_count * (dataset === REPORTS ? sample_count : parseIds(sample_ids).length || KNOWN.length),
  }),
  check: (params) =>
    params.manifest_path !== ""
      ? checkPinned(params)
      : params.dataset === REPORTS
      ? checkReports(params)
      : checkBuiltIn(params),
  requires: ({ manifest_path }) => manifest_path === "" ? [] : [{ kind: "file", id: manifest_path }],
  async run({ params, files }) {
    const { version, items } = params.manifest_path === "" ? builtIn(params) : await fromManifest(params, files);
    const repeated = repeatIds(items, params.repeat_count, (item, suffix) => ({ ...item, id: item.id + suffix }));
    const metadata = { dataset: { id: params.dataset, version }, text_ids: repeated.map(({ id }) => id) };
    return { outputs: { texts: textsArtifact(repeated, metadata) } };
  },
});

function checkBuiltIn({ dataset, sample_ids, text_ids, split, manifest_sha256 }: Selection): ParameterProblem[] {
  if (dataset !== BUILT_IN || manifest_sha256 !== "") {
    return [{
      place: ["manifest_path"],
      message: `Cannot find the texts of ${dataset} without a manifest`,
      hint: `Set manifest_path and manifest_sha256, as svc data make-manifest prints them, or use ${BUILT_IN}`,
    }];
  }
  const unused = text_ids !== "" ? "text_ids" : split !== "" ? "split" : null;
  return unused === null ? checkIds(sample_ids, "sample_ids", KNOWN) : [{
    place: [unused],
    message: `Cannot use ${unused} without a manifest`,
    hint: "Choose built-in sentences with sample_ids",
  }];
}

function checkReports({ manifest_sha256, sample_ids, text_ids, split }: Selection): ParameterProblem[] {
  const unused = manifest_sha256 !== ""
    ? "manifest_sha256"
    : sample_ids !== DEFAULT_IDS
    ? "sample_ids"
    : text_ids !== ""
    ? "text_ids"
    : null;
  if (unused !== null) {
    return [{
      place: [unused],
      message: `Cannot use ${unused} with ${REPORTS}`,
      hint: "Choose its sentences with split and sample_count",
    }];
  }
  return split === "" || REPORT_SPLITS.some((known) => known === split) ? [] : [{
    place: ["split"],
    message: `Cannot find the split ${split} of ${REPORTS}`,
    hint: `Use ${REPORT_SPLITS.join(", ")}`,
  }];
}

function checkPinned({ manifest_sha256, sample_ids, text_ids, split }: Selection): ParameterProblem[] {
  if (manifest_sha256 === "") {
    return [{
      place: ["manifest_sha256"],
      message: "Cannot pin a manifest without manifest_sha256",
      hint: "svc data make-manifest prints it",
    }];
  }
  if (sample_ids !== DEFAULT_IDS) {
    return [{
      place: ["sample_ids"],
      message: "Cannot choose texts of a manifest with sample_ids",
      hint: "Use text_ids or split",
    }];
  }
  if (text_ids !== "" && split !== "") {
    return [{ place: ["split"], message: "Cannot choose texts by text_ids and by split", hint: "Leave one empty" }];
  }
  return checkIds(text_ids, "text_ids");
}

function builtIn({ dataset, sample_ids, split, sample_count }: Selection): { version: string; items: TextItem[] } {
  if (dataset === REPORTS) {
    const chosen = (split || "test") as ReportSplit;
    const items = reportSentences(chosen, sample_count).map((text, index) => ({ id: `${chosen}_${index + 1}`, text }));
    return { version: `${dataset}-v1`, items };
  }
  const wanted = parseIds(sample_ids);
  const items = (wanted.length > 0 ? wanted : KNOWN).map((id) => ({ id, text: SEMANTIC_TEXT_SMOKE[id] }));
  return { version: `${dataset}-v1`, items };
}

async function fromManifest(
  { dataset, manifest_path, manifest_sha256, text_ids, split }: Selection,
  files: FileAccess,
): Promise<{ version: string; items: TextItem[] }> {
  const { invalidTextManifest, parseTextManifest, selectTexts, textOfSample } = await import(
    "../../lib/artifact/text_manifest.ts"
  );
  const bytes = await files.read(manifest_path), actual = sha256Hex(bytes);
  if (actual !== manifest_sha256) {
    throw new SvcError("boundary_hash_mismatch", `Cannot use the manifest ${manifest_path}: it is not the pinned one`, {
      hint: `Its SHA-256 is ${actual}`,
    });
  }
  const manifest = parseTextManifest(bytes);
  if (manifest.id !== dataset) throw invalidTextManifest(`it is that of ${manifest.id}, not of ${dataset}`);
  const items: TextItem[] = [];
  for (const sample of selectTexts(manifest, { ids: parseIds(text_ids), split })) {
    items.push({ id: sample.sample_id, text: await textOfSample(sample, manifest_path, (path) => files.read(path)) });
  }
  return { version: String(manifest.version), items };
}
