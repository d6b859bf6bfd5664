/** What a reader refused. */
import { fail } from "node:assert/strict";
import { type Diagnostic, SvcError } from "../../../lib/contract/error.ts";

/** The diagnostics of the coded error that a call throws. */
export function problemsOf(call: () => unknown): Diagnostic[] {
  try {
    call();
  } catch (error) {
    if (!(error instanceof SvcError)) throw error;
    if (error.diagnostics.length === 0 || error.diagnostics[0].code !== error.code) {
      fail("an error without diagnostics");
    }
    return error.diagnostics;
  }
  return fail("nothing was refused");
}

/** The same as `code line:column`. */
export function sites(call: () => unknown): string[] {
  return problemsOf(call).map(({ code, location }) => `${code} ${location!.line}:${location!.column}`);
}
