/**
 * Whether a network is a function that the runtime computes: no random operator, no training mode, and versions that the
 * runtime knows. What cannot be read from the graph is tried ({@link ../training/try_networks.ts}).
 */
import { type Diagnostic, diagnostic, type Place } from "../contract/error.ts";
import type { OnnxGraph } from "./graph.ts";

/** Operators of the standard that draw random numbers, also with a seed: it belongs to the session, not to the call. */
const RANDOM = [
  "Bernoulli",
  "Multinomial",
  "RandomNormal",
  "RandomNormalLike",
  "RandomUniform",
  "RandomUniformLike",
];

/** The newest operator set and the newest file format that the runtime loads. Exported for tests. */
export const MAX_OPSET = 26, MAX_IR_VERSION = 13;

export const NOT_DETERMINISTIC = "artifact_not_deterministic", UNSUPPORTED = "artifact_unsupported";

/**
 * @param place where its document names the model
 * @param name name of the model, for messages
 * @returns diagnostics `artifact_not_deterministic`, `artifact_unsupported`
 */
export function functionProblems(graph: OnnxGraph, place: Place, name: string): Diagnostic[] {
  const problems: Diagnostic[] = [];
  const random = RANDOM.filter((operator) => graph.operators[operator] !== undefined);
  const words = [
    ...(random.length > 0 ? [`it draws random numbers (${random.join(", ")})`] : []),
    ...(graph.trainingOperators.length > 0 ? [`${graph.trainingOperators.join(" and ")} is in training mode`] : []),
  ];
  if (words.length > 0) {
    const hint = random.length > 0
      ? "Give the random numbers as an input, or add the noise by an operation of the recipe"
      : "Export it after model.eval()";
    problems.push(diagnostic(NOT_DETERMINISTIC, place, `Cannot use ${name}: ${words.join(", and ")}`, { hint }));
  }
  const unsupported = (why: string, hint: string) =>
    problems.push(diagnostic(UNSUPPORTED, place, `Cannot use ${name}: ${why}`, { hint }));
  const { irVersion, opsets } = graph, opset = opsets[""];
  if (irVersion > MAX_IR_VERSION) {
    unsupported(`its IR version is ${irVersion}`, `Export it with IR version ${MAX_IR_VERSION} or older`);
  }
  if (opset !== undefined && opset > MAX_OPSET) {
    unsupported(`it uses operator set ${opset}`, `Export it with operator set ${MAX_OPSET} or older`);
  }
  return problems;
}
