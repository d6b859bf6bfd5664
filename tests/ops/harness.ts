/** Runs operations in tests: the harness of the conformance suite, and what only tests need. */
import assert from "node:assert/strict";
import { decodeArtifact, encodeArtifact } from "../../lib/artifact/codec.ts";
import { SvcError } from "../../lib/contract/error.ts";
import type { InputArtifact, OutputArtifact } from "../../lib/contract/operation.ts";
import "../support/networks.ts";

export {
  type GivenInput,
  materialise,
  type Model,
  outputOf,
  runOperation,
  type RunResult,
} from "../../lib/conformance/run_operation.ts";

/** An artifact as it comes out of its file. */
export function artifactOf(port: string, kind: string, output: OutputArtifact): InputArtifact {
  return decodeArtifact(kind, encodeArtifact(port, kind, output).bytes, true);
}

/** Asserts that running fails with a coded error. */
export async function refuses(code: string, run: () => unknown): Promise<void> {
  await assert.rejects(async () => await run(), (error) => {
    assert.ok(error instanceof SvcError, String(error));
    assert.equal(error.code, code, error.message);
    return true;
  });
}
