/** The operations of an adapter that the conformance suite can run: those with ports of their own. */
import { refusal, SvcError } from "../contract/error.ts";
import type { Operation } from "../contract/operation.ts";
import type { JsonObject } from "../contract/value.ts";
import { bindingOf } from "./binding.ts";
import { effectiveGrants, parseGrant } from "./grants.ts";
import { pythonFor } from "./python/interpreter.ts";
import { readAdapter } from "./read_manifest.ts";
import { operationOf } from "./step.ts";
import { readTrustFile } from "./trust.ts";

export interface CheckableAdapter {
  name: string;
  /** Absolute path of the folder, and its digest. */
  root: string;
  sha256: string;
  /** They run in the sandbox of the adapter. */
  operations: Operation[];
}

/**
 * The operations of a folder with `wraps: custom`; the others have the tests of their scaffolds.
 * @param options `grants` in the form of `--grant`
 * @throws SvcError `adapter_manifest_invalid` with every finding, or for a folder without such an operation
 */
export async function checkableAdapter(
  path: string,
  { projectRoot, grants, python: chosen }: { projectRoot: string; grants: readonly string[]; python?: string },
): Promise<CheckableAdapter> {
  const { adapter, diagnostics } = readAdapter(path);
  if (adapter === null) throw refusal("adapter_manifest_invalid", `Cannot check ${path}`, diagnostics);
  const { folder, manifest: { name, operations } } = adapter,
    own = operations.filter(({ wraps }) => wraps === "custom");
  if (own.length === 0) {
    throw new SvcError(
      "adapter_manifest_invalid",
      `Cannot check ${path}: its operations wrap contracts of the program`,
      {
        hint: "The suite is for operations with wraps: custom; run the test of the folder, and its recipe",
      },
    );
  }
  const given = grants.filter((grant) => grant.startsWith(`${name}:`)).map((grant) => parseGrant(grant));
  const granted = effectiveGrants(adapter, given, readTrustFile(), projectRoot, []);
  const python = adapter.manifest.python && await pythonFor(adapter, granted, chosen);
  return {
    name,
    root: folder.root,
    sha256: folder.folder_sha256,
    operations: own.map((one) => operationOf(bindingOf(adapter, one, granted, python) as unknown as JsonObject)),
  };
}
