/**
 * Writes sentences of the dataset `svc_reports` for train.py, as JSON: split -> sentences.
 *
 *     deno run -A recipes/models/svc-tiny-text-transceiver-v1/training/export_sentences.ts <JSON: split -> count>
 */
import { reportSentences, type ReportSplit } from "../../../../ops/source/_report_sentences.ts";

const counts = Object.entries(JSON.parse(Deno.args[0])) as [ReportSplit, number][];
console.log(JSON.stringify(Object.fromEntries(counts.map(([split, count]) => [split, reportSentences(split, count)]))));
