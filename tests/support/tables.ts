/** Tables of a test that lie beside it, in `name_test.yaml`. */
import { parse, type ScalarTag } from "npm:yaml@^2.9.1";
import { float } from "../../lib/contract/value.ts";

/** `!re` a regular expression, `!float` a number that is written with a point, `!big` a big integer, `!none` undefined. */
const TAGS: ScalarTag[] = [
  { tag: "!re", resolve: (text) => new RegExp(text) },
  { tag: "!float", resolve: (text) => float(Number(text)) },
  { tag: "!big", resolve: (text) => BigInt(text) },
  { tag: "!none", resolve: () => undefined },
];

/**
 * Reads the tables of a test.
 *
 * @param test URL of the module of the test
 * @returns tables by name
 */
// deno-lint-ignore no-explicit-any -- the test names the type of each table
export function tables(test: string): Record<string, any> {
  return parse(Deno.readTextFileSync(new URL(test.replace(/\.ts$/, ".yaml"))), { customTags: TAGS });
}
