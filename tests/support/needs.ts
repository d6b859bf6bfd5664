/**
 * Declares that a test needs a program or a setting that may be missing. The test is skipped without it, and the closing
 * table of `deno task test` names the reason:
 *
 *     Deno.test({ name: "the library in Node", ...needs("Node.js", node), fn });
 */
export function needs(needed: string, found: unknown): { ignore: boolean } {
  const ignore = found === null || found === undefined || found === false;
  // tests/support/test_output.ts reads this line.
  if (ignore) console.log(`SKIPPED: ${needed}`);
  return { ignore };
}
