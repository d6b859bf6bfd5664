/** Documents with one field changed, and what a forger derives again from the rest. */
import { sha256Hex, sha256Json } from "../../lib/contract/hash.ts";
import { prettyJson } from "../../lib/contract/json.ts";
import { cloneValue, Float, float, isObject, type JsonObject, type Value } from "../../lib/contract/value.ts";
import {
  AUTHORED_FILE,
  MANIFEST_FILE,
  manifestDocument,
  PLAN_FILE,
  RECIPE_FILE,
  SUMMARY_FILE,
  SUMS_FILE,
} from "../../lib/run/documents.ts";
import { formatSha256Sums } from "../../lib/run/files.ts";
import { recordsOf, type Unchecked as Documents } from "../../lib/run/verify_documents.ts";

export type Place = (string | number)[];

/** The places of all values without members, empty lists and objects included. */
export function* leaves(value: Value, place: Place = []): Generator<Place> {
  const members: [string | number, Value][] = Array.isArray(value)
    ? value.map((item, index) => [index, item])
    : isObject(value)
    ? Object.entries(value)
    : [];
  if (members.length === 0) yield place;
  for (const [key, member] of members) yield* leaves(member, [...place, key]);
}

/** Another value of the same kind. */
function other(value: Value): Value {
  if (value instanceof Float) return float(value.value === 0 ? 0.25 : value.value * 1.5 + 0.125);
  if (typeof value === "number") return Number.isInteger(value) ? value + 1 : value * 1.5;
  if (typeof value === "bigint") return value + 1n;
  if (typeof value === "boolean") return !value;
  if (value === null) return 1;
  if (Array.isArray(value)) return ["x"];
  if (isObject(value)) return { x: 1 };
  if (/^[0-9a-f]{64}$/.test(value)) return (value[0] === "0" ? "1" : "0") + value.slice(1);
  if (/^\d{4}-\d\d-\d\dT/.test(value)) return `2001${value.slice(4)}`;
  return `${value}x`;
}

/** A copy with the value at a place changed. */
export function changed<T extends Value>(document: T, place: Place): T {
  if (place.length === 0) return other(document) as T;
  const copy = cloneValue(document);
  const parent = place.slice(0, -1).reduce<Value>((value, key) => (value as JsonObject)[key], copy) as JsonObject;
  const key = place.at(-1)!;
  parent[key] = other(parent[key]);
  return copy;
}

/** Whether a place of a document is on a list of patterns, with `.` between its parts. */
export const isListed = (list: Readonly<Record<string, string>>, file: string, place: Place): string | undefined =>
  Object.keys(list).find((pattern) => new RegExp(`^${pattern}$`).test([file, ...place].join(".")));

/** The documents of a run and its reports by path. */
export interface Bundle {
  documents: Documents;
  reports: { [path: string]: Value };
}

const put = (object: Value | undefined, key: string, value: Value) => {
  if (isObject(object) && Object.hasOwn(object, key)) object[key] = value;
};

/**
 * Derives all digests, links and the manifest again.
 * @param hashes of the other files
 * @param last field that is changed after that; of the summary, the manifest is derived once more
 * @returns texts of documents and reports, with the list of digests
 */
export function forged(
  { documents, reports }: Bundle,
  runId: string,
  hashes: ReadonlyMap<string, string>,
  textOf: (report: Value) => string,
  last?: { file: keyof Documents; place: Place },
): { texts: Record<string, string>; reports: Record<string, string>; sums: Map<string, string> } {
  const plan = documents[PLAN_FILE], summary = documents[SUMMARY_FILE], recipe = documents[RECIPE_FILE];
  const sums = new Map(hashes);
  const reportTexts = Object.fromEntries(Object.entries(reports).map(([path, value]) => [path, textOf(value)]));
  for (const [path, text] of Object.entries(reportTexts)) sums.set(path, sha256Hex(text));
  const contracts = plan.operation_contracts as JsonObject, operations = contracts.operations as JsonObject;
  put(contracts, "sha256", sha256Json(operations));
  for (const step of plan.steps as JsonObject[]) {
    const contract = operations[String(step.operation_id)];
    if (contract !== undefined) put(step, "operation_contract_sha256", sha256Json(contract));
    const { binding_sha256: _, ...row } = step;
    put(step, "binding_sha256", sha256Json(row));
  }
  put(plan.recipe as JsonObject, "sha256", sha256Json(recipe));
  const { sha256: _, ...rest } = plan;
  put(plan, "sha256", sha256Json(rest));
  for (const name of ["recipe_sha256", "effective_recipe_sha256"]) put(summary, name, sha256Json(recipe));
  put(summary, "authored_recipe_sha256", sha256Json(documents[AUTHORED_FILE]));
  const evidence = summary.execution_plan as JsonObject, { cache } = evidence;
  put(evidence, "sha256", plan.sha256);
  put(cache, "plan_sha256", plan.sha256);
  put(cache, "effective_recipe_sha256", sha256Json(recipe));
  put(cache, "authored_recipe_sha256", sha256Json(documents[AUTHORED_FILE]));
  for (const [index, step] of (summary.steps as JsonObject[]).entries()) {
    const binding = (plan.steps as JsonObject[])[index];
    if (binding !== undefined) put(step, "execution_binding", cloneValue(binding));
    for (const output of Object.values(step.outputs as JsonObject)) {
      if (isObject(output) && sums.has(String(output.path))) put(output, "sha256", sums.get(String(output.path))!);
    }
  }
  if (last !== undefined && last.file !== MANIFEST_FILE) {
    documents[last.file] = changed(documents[last.file], last.place);
  }
  const { record, state } = recordsOf(documents, runId);
  const derived = manifestDocument(record, state, prettyJson(documents[SUMMARY_FILE])) as object as JsonObject;
  const manifest = last?.file === MANIFEST_FILE ? changed(derived, last.place) : derived;
  const texts: Record<string, string> = {};
  for (const [name, document] of Object.entries({ ...documents, [MANIFEST_FILE]: manifest })) {
    texts[name] = prettyJson(document);
    sums.set(name, sha256Hex(texts[name]));
  }
  sums.delete(SUMS_FILE);
  texts[SUMS_FILE] = formatSha256Sums(sums);
  return { texts, reports: reportTexts, sums };
}
