/** Metrics of received images and texts, their rate in bits, and computation. */
import { family, higher, lower, MAXIMUM, neutral, PLANNED, RATE, TOTAL } from "./metric_rows.ts";

const seconds = (id: string, name: string) => lower(id, "s", name);
const bitsPerPixel = (id: string, name: string) => lower(id, "bit/pixel", name);

/** Precision, recall and F1 of one kind of assertion. */
const overlap = (kind: string, name: string) => [
  higher(`${kind}_precision`, "fraction", `${name} precision`),
  higher(`${kind}_recall`, "fraction", `${name} recall`),
  higher(`${kind}_f1`, "fraction", `${name} F1`),
];

export const CONTENT_METRICS = [
  ...family("quality", [
    higher("psnr_db", "dB", "PSNR", { description: "Mean of the PSNR over images" }),
    lower("mse", "pixel^2", "Pixel MSE"),
    lower("mae", "pixel", "Pixel MAE"),
    higher("perfect_reconstruction_fraction", "fraction", "Images restored exactly", RATE),
    higher("ssim", "ratio", "SSIM"),
    higher("ms_ssim", "ratio", "Multi-scale SSIM", { description: "Over images whose shorter side exceeds 160" }),
    neutral("ms_ssim_item_count", "images", "Images covered by multi-scale SSIM", TOTAL),
    neutral("ms_ssim_skipped_count", "images", "Images too small for multi-scale SSIM", TOTAL),
  ]),
  ...family("codec", [
    neutral("bit_count", "bits", "Bits put out", TOTAL),
    neutral("native_bit_count", "bits", "Bits of the codec's own files", TOTAL),
    neutral("bytes", "bytes", "Bytes put out", TOTAL),
    neutral("index_count", "indices", "Codebook indices put out", TOTAL),
    neutral("codebook_used_entries", "entries", "Codebook entries in use"),
    neutral("codebook_perplexity", "entries", "Two to the entropy of the indices"),
    neutral("jpeg.selected_quality_mean", "quality", "Mean JPEG quality chosen"),
    neutral("jpeg.selected_quality_min", "quality", "Lowest JPEG quality chosen", { reduction: "min" }),
    neutral("jpeg.selected_quality_max", "quality", "Highest JPEG quality chosen", MAXIMUM),
  ]),
  ...family("rate", [
    bitsPerPixel("native_codec_bpp", "Rate of the codec's own files"),
    bitsPerPixel("serialized_payload_bpp", "Rate of the serialised payload"),
    bitsPerPixel("payload_bpp", "Rate of the payload"),
    bitsPerPixel("framed_bpp", "Rate after framing"),
    bitsPerPixel("coded_bpp", "Rate after channel coding"),
    bitsPerPixel("padded_bpp", "Rate after modulation padding"),
  ]),
  ...family("memory", [lower("run.peak_rss_bytes", "bytes", "Peak memory of a run", MAXIMUM)]),
  ...family("timing", [
    lower("timing.step.wall_time_s", "s", "Time of a step", { reduction: "sum" }),
    seconds("encoder.inference", "Time of the encoder's model"),
    seconds("encoder.payload_encode", "Time of payload coding"),
    seconds("decoder.payload_decode", "Time of payload decoding"),
    seconds("decoder.inference", "Time of the decoder's model"),
  ], ""),
  ...family("semantic", [
    higher("lexical_similarity", "fraction", "Overlap of words", { description: "F1 over the tokens of both texts" }),
    higher("similarity", "ratio", "Semantic similarity", PLANNED),
    higher("bert_score", "ratio", "BERTScore", PLANNED),
    higher("kb_coverage", "fraction", "Texts with a fact in the knowledge base"),
    neutral("fact_count_reference", "facts", "Facts extracted from the source", TOTAL),
    neutral("fact_count_candidate", "facts", "Facts of the received states", TOTAL),
    neutral("fact_count_knowledge", "facts", "Received facts that knowledge added", TOTAL),
  ]),
  ...family("text", [
    higher("unigram_bleu_proxy", "fraction", "Unigram precision with brevity penalty"),
    higher("edit_similarity", "fraction", "Edit similarity"),
    higher("exact_match", "fraction", "Texts restored exactly", RATE),
    lower("remaining_mask_count", "masks", "Masks left in the texts", TOTAL),
  ]),
  ...family("faithfulness", [
    ...overlap("concept", "Concept"),
    ...overlap("entity", "Entity"),
    ...overlap("fact", "Fact"),
    lower("unsupported_assertion_rate", "fraction", "Facts missing in the reference"),
    lower("fact_omission_rate", "fraction", "Reference facts left out"),
    higher("kb_fact_precision", "fraction", "Facts in the knowledge base"),
    higher("knowledge_fact_precision", "fraction", "Facts added by knowledge that the source states"),
    higher("knowledge_fact_recall", "fraction", "Source facts that knowledge restored"),
  ]),
];
