/** Calls the command line with many generated argument lists; prints one JSON line with what happened. */
import { main } from "../../lib/cli/main.ts";
import { Generator } from "../../lib/numeric/random.ts";

const random = Generator.seeded(20260101);
const pick = <T>(items: readonly T[]): T => items[Math.floor(random.random() * items.length)];

const COMMANDS = [
  ["ops", "list"],
  ["ops", "show"],
  ["recipe", "validate"],
  ["recipe", "graph"],
  ["recipe", "specs"],
  ["recipe", "plan"],
  ["recipe", "run", "--dry-run"],
  ["runs", "list"],
  ["runs", "show"],
  ["runs", "verify"],
  ["runs", "diff"],
  ["runs", "remove", "--yes"],
  ["data", "make-manifest"],
  ["recipe"],
  ["runs"],
  ["help"],
  [],
];
const WORDS = [
  "bits.yaml",
  "broken.yaml",
  "missing.yaml",
  "../bits.yaml",
  "/",
  ".",
  "",
  " ",
  "-x",
  "--",
  "--json",
  "--quiet",
  "-v",
  "--verbose",
  "--set",
  "--set=data.bit_count=3",
  "data.bit_count=1e3",
  "data.seed=-1",
  "nothing.x=1",
  "=",
  "a.b",
  "--format",
  "json",
  "mermaid",
  "--parallel-workers",
  "33",
  "1.5",
  "2",
  "0x10",
  "--no-plan-cache",
  "--backend",
  "cpp",
  "torch",
  "--limit",
  "-1",
  "wireless.channel",
  "wireless.chanel",
  "__proto__",
  "constructor",
  "\u0000",
  "é𝄞",
  "%s%n",
  "a".repeat(5000),
  "--workspace",
  "state",
  "--project-root",
  "--color",
  "never",
  "sometimes",
  "--version",
  "--help",
  "help",
  "exit-codes",
];

// Standard output and error go to the parent, who looks at them; here only the codes are kept.
const codes: Record<string, number> = {};
for (let round = 0; round < 400; round++) {
  const args = [...pick(COMMANDS), ...Array.from({ length: Math.floor(random.random() * 4) }, () => pick(WORDS))];
  if (random.random() < 0.5) args.push("--json");
  const code = await main(args);
  codes[code] = (codes[code] ?? 0) + 1;
  if (![0, 1, 2, 3, 4, 5, 6].includes(code)) console.error(`UNEXPECTED ${code} ${JSON.stringify(args)}`);
}
console.error(`CODES ${JSON.stringify(codes)}`);
Deno.exit(0);
