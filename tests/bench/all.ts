/** Runs every benchmark, each in a process of its own, one after the other: `deno task bench [name …]`. */
const names = [
  "overhead",
  "plan",
  "chain",
  "channel",
  "random",
  "linear",
  "plain",
  "jpeg",
  "matrix",
  "benchmark",
  "lint",
  "plot",
  "ldpc",
  "native",
  "onnx",
  "entropy",
  "bandwidth",
  "adapter",
  "http",
  "page",
];
const wanted = Deno.args.length > 0 ? Deno.args : names;
let failed = 0;
for (const name of wanted) {
  const file = new URL(`./${name}_bench.ts`, import.meta.url);
  try {
    await Deno.stat(file);
  } catch {
    console.log(`\n${name}: there is no such benchmark`);
    if (Deno.args.length > 0) failed++;
    continue;
  }
  console.log(`\n== ${name}`);
  const { code } = await new Deno.Command(Deno.execPath(), { args: ["run", "-A", "--frozen", file.href] }).spawn()
    .status;
  if (code !== 0) failed++;
}
Deno.exit(failed === 0 ? 0 : 1);
