/**
 * Texts of a built-in set or of a text-dataset manifest, in the order of their ids; `repeat_count` repeats the whole list,
 * later rounds with ids ending in `#2`, `#3`, …. A manifest is pinned by its SHA-256, and pins each text. A manifest of lines pins
 * one file of any size, which is read as a stream: memory holds the chosen texts and a block of the file.
 *
 * `draw_count` texts are drawn without repetition, each set equally likely, and keep the order of the manifest. The draw depends
 * on `draw_seed` and the size of the selection alone: two files of translations give translations.
 * svc_reports are generated sentences in splits without a common sentence: _report_sentences.ts.
 */
import { TEXTS } from "../../lib/contract/kinds.ts";
import {
  type Cancellation,
  defineOperation,
  type FileAccess,
  type ParameterProblem,
  type Progress,
  sha256Hex,
  SvcError,
  z,
} from "../api.ts";
import { Generator } from "../../lib/numeric/random/random.ts";
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
  draw_count?: number;
  draw_seed?: number;
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
    draw_count: z.int().min(1).max(100000).optional()
      .describe("number of texts drawn at random from the chosen ones of the manifest; all without it"),
    draw_seed: z.int().min(0).optional()
      .describe("seed of the draw, default 0: sources with one seed draw the same of selections of equal size"),
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
  async run({ params, files, progress, cancellation }) {
    const { version, items } = params.manifest_path === ""
      ? builtIn(params)
      : await fromManifest(params, { files, progress, cancellation });
    const repeated = repeatIds(items, params.repeat_count, (item, suffix) => ({ ...item, id: item.id + suffix }));
    const metadata = { dataset: { id: params.dataset, version }, text_ids: repeated.map(({ id }) => id) };
    return { outputs: { texts: textsArtifact(repeated, metadata) } };
  },
});

/** The parameter of a draw that has a value without a manifest. */
const drawnWithout = ({ draw_count, draw_seed }: Selection) =>
  draw_count !== undefined ? "draw_count" : draw_seed !== undefined ? "draw_seed" : null;

function checkBuiltIn(params: Selection): ParameterProblem[] {
  const { dataset, sample_ids, text_ids, split, manifest_sha256 } = params;
  if (dataset !== BUILT_IN || manifest_sha256 !== "") {
    return [{
      place: ["manifest_path"],
      message: `Cannot find the texts of ${dataset} without a manifest`,
      hint: `Set manifest_path and manifest_sha256, as svc data make-manifest prints them, or use ${BUILT_IN}`,
    }];
  }
  const unused = text_ids !== "" ? "text_ids" : split !== "" ? "split" : drawnWithout(params);
  return unused === null ? checkIds(sample_ids, "sample_ids", KNOWN) : [{
    place: [unused],
    message: `Cannot use ${unused} without a manifest`,
    hint: "Choose built-in sentences with sample_ids",
  }];
}

function checkReports(params: Selection): ParameterProblem[] {
  const { manifest_sha256, sample_ids, text_ids, split } = params;
  const unused = manifest_sha256 !== ""
    ? "manifest_sha256"
    : sample_ids !== DEFAULT_IDS
    ? "sample_ids"
    : text_ids !== ""
    ? "text_ids"
    : drawnWithout(params);
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

function checkPinned(params: Selection): ParameterProblem[] {
  const { manifest_sha256, sample_ids, text_ids, split, draw_count, draw_seed } = params;
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
  if (draw_seed !== undefined && draw_count === undefined) {
    return [{
      place: ["draw_seed"],
      message: "Cannot seed a draw without draw_count",
      hint: "Set draw_count to a number of texts, or leave draw_seed out",
    }];
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
  { dataset, manifest_path, manifest_sha256, text_ids, split, draw_count, draw_seed = 0 }: Selection,
  { files, progress, cancellation }: {
    files: FileAccess;
    progress: Progress;
    cancellation: Cancellation;
  },
): Promise<{ version: string; items: TextItem[] }> {
  const [
    { besideManifest, invalidTextManifest, selectTexts, textOfSample },
    { chosenLines, isLines, parseTexts, readLines },
  ] = await Promise.all([import("../../lib/artifact/text_manifest.ts"), import("../../lib/artifact/text_lines.ts")]);
  const bytes = await files.read(manifest_path), actual = sha256Hex(bytes);
  if (actual !== manifest_sha256) {
    throw new SvcError("boundary_hash_mismatch", `Cannot use the manifest ${manifest_path}: it is not the pinned one`, {
      hint: `Its SHA-256 is ${actual}`,
    });
  }
  const manifest = parseTexts(bytes), ids = parseIds(text_ids), version = String(manifest.version);
  if (manifest.id !== dataset) throw invalidTextManifest(`it is that of ${manifest.id}, not of ${dataset}`);
  const draw = draw_count === undefined ? null : (n: number) => {
    if (draw_count <= n) return Generator.seeded(draw_seed).choice(n, draw_count, { replace: false }).sort();
    throw new SvcError("params_conflict", `Cannot draw ${draw_count} texts: ${n} are chosen`, {
      hint: "Lower draw_count, or choose a larger split",
    });
  };
  if (isLines(manifest)) {
    const lines = chosenLines(manifest, { ids, split, draw });
    const path = besideManifest(manifest_path, manifest.path),
      watched = async function* () {
        let done = 0;
        for await (const block of files.blocks(path)) {
          cancellation.throwIfCancelled();
          yield block;
          progress(Math.min(done += block.length, manifest.size_bytes), manifest.size_bytes, {
            phase: "reading",
            unit: "bytes",
          });
        }
      };
    const texts = await readLines(manifest, lines, watched());
    return { version, items: lines.map((line) => ({ id: `line_${line}`, text: texts.get(line)! })) };
  }
  const samples = selectTexts(manifest, { ids, split }), items: TextItem[] = [];
  const chosen = draw === null ? samples : [...draw(samples.length)].map((at) => samples[at]);
  for (const sample of chosen) {
    items.push({ id: sample.sample_id, text: await textOfSample(sample, manifest_path, (path) => files.read(path)) });
  }
  return { version, items };
}
