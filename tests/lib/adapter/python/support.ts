/** Python adapters for tests: each function of a module is an operation. */
import { type AdapterBinding, bindingOf } from "../../../../lib/adapter/binding.ts";
import { effectiveGrants, parseGrant } from "../../../../lib/adapter/grants.ts";
import { pythonFor } from "../../../../lib/adapter/python/interpreter.ts";
import { readAdapter } from "../../../../lib/adapter/read_manifest.ts";
import { operationOf } from "../../../../lib/adapter/step.ts";
import { readTrustFile } from "../../../../lib/adapter/trust.ts";
import type { Operation } from "../../../../lib/contract/operation.ts";

/** A manifest whose every named function of code.py is an operation `probe.<function>`. */
export function pythonManifest(
  functions: readonly string[],
  { wraps = "source.external_texts", style = "none", extra = "" } = {},
): string {
  const operations = functions.map((name) => `
  - id: probe.${name.toLowerCase()}
    name: ${name}
    wraps: ${wraps}
    adapter: { path: code.py, callable: ${name}, call_style: ${style} }
    params_schema:
      type: object
      properties: { level: { type: number, default: 1 }, count: { type: integer, default: 2 }, seed: { type: integer } }`);
  return `schema_version: 1\nname: probe\nversion: "1"\nruntime: python\n${extra}\noperations:${operations.join("")}\n`;
}

export interface PythonOptions {
  python: string;
  grants?: readonly string[];
}

/** The bindings of a folder's operations by id. */
export async function pythonBindings(
  folder: string,
  { python, grants = [] }: PythonOptions,
): Promise<Map<string, AdapterBinding>> {
  const { adapter, diagnostics } = readAdapter(folder);
  if (adapter === null) throw new Error(JSON.stringify(diagnostics, null, 1));
  const name = adapter.manifest.name;
  const effective = effectiveGrants(adapter, grants.map((text) => parseGrant(text, name)), readTrustFile(null), folder);
  const runtime = await pythonFor(adapter, effective, python), { operations } = adapter.manifest;
  return new Map(operations.map((operation) => [operation.id, bindingOf(adapter, operation, effective, runtime)]));
}

/** The operations of a folder as a worker has them, by id. */
export async function pythonOperations(folder: string, options: PythonOptions): Promise<Map<string, Operation>> {
  const bindings = await pythonBindings(folder, options);
  return new Map([...bindings].map(([id, binding]) => [id, operationOf(JSON.parse(JSON.stringify(binding)))]));
}
