/** Runs every benchmark, each in a process of its own, one after the other: `deno task bench [name …]`. */
const folder = new URL("./", import.meta.url);
const names = [...Deno.readDirSync(folder)].map(({ name }) => /^(\w+)_bench\.ts$/.exec(name)?.[1] ?? [])
  .flat().sort();
const wanted = Deno.args.length > 0 ? Deno.args : names;
let failed = 0;
for (const name of wanted) {
  if (!names.includes(name)) {
    console.log(`Cannot run the benchmark ${name}: the names are ${names.join(", ")}`);
    Deno.exit(2);
  }
  console.log(`\n== ${name}`);
  const args = ["run", "-A", "--frozen", new URL(`${name}_bench.ts`, folder).href];
  const { code } = await new Deno.Command(Deno.execPath(), { args }).spawn().status;
  if (code !== 0) failed++;
}
Deno.exit(failed === 0 ? 0 : 1);
