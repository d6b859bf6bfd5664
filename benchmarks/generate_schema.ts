/**
 * Writes `pack.schema.json`, which editors find by the first line of the packs beside it.
 *
 *     deno run -A benchmarks/generate_schema.ts [--check]
 */
import { PACK_SCHEMA } from "../lib/benchmark/pack_schema.ts";
import { prettyJson } from "../lib/contract/json.ts";

if (import.meta.main) {
  const path = new URL("./pack.schema.json", import.meta.url);
  const text = prettyJson(PACK_SCHEMA);
  if (!Deno.args.includes("--check")) await Deno.writeTextFile(path, text);
  else if (await Deno.readTextFile(path).catch(() => "") !== text) {
    console.error("benchmarks/pack.schema.json is not what its generator writes; run deno task generate");
    Deno.exit(1);
  }
}
