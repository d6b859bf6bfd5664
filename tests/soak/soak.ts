/**
 * Long tests, each bounded: `deno task soak [jobs] [minutes]` measures the memory of a server under jobs, and
 * `deno task soak NAME [arguments]` runs another one:
 *
 *     coverage  how often intervals of rates hold them, over simulated links
 *     faults    commands with faults of the system below them
 *     hostile   every command on every changed document of a hostile author
 *     page      the tests of the page under named loads
 *     whole     tests that the test command runs in part: shipped recipes, packs and documents at full sizes, whole series of cases
 */
const MODULES: Record<string, string> = {
  coverage: "./coverage.ts",
  faults: "./faults.ts",
  hostile: "./hostile.ts",
  page: "./page.ts",
  whole: "./whole.ts",
};
const [first = ""] = Deno.args;
if (!/^\d*$/.test(first) && !Object.hasOwn(MODULES, first)) {
  console.error(`Cannot find the soak test ${first}: there are ${Object.keys(MODULES).join(", ")}`);
  Deno.exit(2);
}
await import(MODULES[first] ?? "./memory.ts");
