/**
 * Writes all generated files but the kernels: `deno task generate`; with `--check` it only compares, names those that are stale,
 * and exits with 1.
 */
import { PROGRAM_ROOT } from "../artifact/program.ts";

/** In this order, each loaded after those before it have written: it imports or reads their files. */
const GENERATORS = [
  () => import("../../ops/generate_index.ts"),
  () => import("../template/generate_starters.ts"),
  () => import("../../recipes/generate_schema.ts"),
  () => import("./generate_gallery.ts"),
  () => import("./generate_reference.ts"),
  () => import("./generate_program_files.ts"),
  () => import("./generate_source_hashes.ts"),
];

const onlyCompares = Deno.args.includes("--check");
const stale: string[] = [];
for (const load of GENERATORS) {
  const { generated } = await load();
  for (const [path, text] of Object.entries(await generated())) {
    const file = new URL(path, PROGRAM_ROOT);
    if (await Deno.readTextFile(file).catch(() => null) === text) continue;
    stale.push(path);
    if (onlyCompares) continue;
    if (text === null) await Deno.remove(file);
    else {
      await Deno.mkdir(new URL("./", file), { recursive: true });
      await Deno.writeTextFile(file, text);
    }
  }
}
if (stale.length > 0) {
  console.log(`${onlyCompares ? "stale, run deno task generate" : "written"}: ${stale.join(", ")}`);
  if (onlyCompares) Deno.exit(1);
}
