/** Refuses models that reference other files, or operators outside the standard. */
import { type Diagnostic, diagnostic, type Place } from "../contract/error.ts";
import type { OnnxGraph } from "./graph.ts";

/** Operator domains of the ONNX standard; the empty text is `ai.onnx`. */
const STANDARD_DOMAINS = new Set(["", "ai.onnx.ml"]);

/**
 * All reasons against running a model.
 * @param place where its document names the model
 * @param name name of the model, for messages
 * @returns diagnostics `artifact_onnx_unsafe`
 */
export function onnxProblems(graph: OnnxGraph, place: Place, name: string): Diagnostic[] {
  const problems: Diagnostic[] = [];
  const refuse = (why: string, hint: string) =>
    problems.push(diagnostic("artifact_onnx_unsafe", place, `Cannot use ${name}: ${why}`, { hint }));
  if (graph.externalTensors.length > 0) {
    const [first] = graph.externalTensors, more = graph.externalTensors.length - 1;
    refuse(
      `the data of ${first || "a tensor"}${more > 0 ? ` and ${more} more` : ""} is in another file`,
      "Export the model with its weights inside",
    );
  }
  const custom = graph.domains.filter((domain) => !STANDARD_DOMAINS.has(domain));
  if (custom.length > 0) {
    refuse(
      `it uses operators of ${custom.map((domain) => JSON.stringify(domain)).join(", ")}`,
      "Export it with the standard operators of ONNX only",
    );
  }
  if (graph.functionCount > 0 && custom.length === 0) {
    refuse("it defines its own functions", "Export it with its functions inlined");
  }
  return problems;
}
