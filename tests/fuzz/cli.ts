/** The command line: argument lists that follow its own completions, with hostile words between. */
import { join } from "node:path";
import { main } from "../../lib/cli/main.ts";
import { BITS_YAML, LINK, packOf } from "../lib/http/support.ts";
import { checkSize, type Fuzzer, pick, type Random, TEXTS } from "./inputs.ts";

const WORDS = [
  // Arguments of a process have no NUL, and are text.
  ...TEXTS.filter((text) => text.isWellFormed() && !text.includes("\0")),
  "bits.yaml",
  "broken.yaml",
  "missing.yaml",
  "../bits.yaml",
  "p.yaml",
  ".",
  "-x",
  "--",
  "--json",
  "-v",
  "--set=data.bit_count=3",
  "data.bit_count=1e3",
  "data.seed=-1",
  "nothing.x=1",
  "=",
  "-1",
  "33",
  "1.5",
  "18446744073709551616",
  "@file",
  "wireless.channel",
];
/** Words of commands that do not end, that only the network answers, or that compute for long by their nature. */
const LEFT_OUT = ["serve", "fetch", "template"];

export async function open(folder: string): Promise<Fuzzer> {
  const put = (name: string, text: string) => Deno.writeTextFile(join(folder, name), text);
  await put("bits.yaml", BITS_YAML);
  await put("broken.yaml", "name: [\n");
  await put("link.yaml", JSON.stringify(LINK));
  await put("p.yaml", JSON.stringify(packOf("p", ["link.yaml"])).replaceAll("../recipes/", ""));
  await put("manifest.json", '{"kind": "svc.image_dataset_manifest"}');
  Deno.chdir(folder);
  Deno.env.set("NO_COLOR", "1");
  let printed = "";
  const decoder = new TextDecoder();
  const capture = (bytes: Uint8Array) => {
    printed += decoder.decode(bytes);
    return bytes.length;
  };
  Deno.stdout.writeSync = capture;
  Deno.stderr.writeSync = capture;

  const call = async (args: string[]): Promise<string> => {
    printed = "";
    const code = await main(args);
    const what = `svc ${JSON.stringify(args).slice(0, 1000)} ended with ${code}`;
    checkSize(what, printed);
    if (![0, 1, 2, 3, 4, 5, 6].includes(code) || /internal_error|This is a defect/.test(printed)) {
      throw new Error(`${what}\n${printed.slice(0, 3000)}`);
    }
    // Behind an option that takes a value, the last word may be that value.
    if (args.at(-1) === "--json" && !args.at(-2)?.startsWith("-") && code !== 0 && printed.trim() !== "") {
      JSON.parse(printed);
    }
    return printed;
  };
  const completions = async (words: string[]): Promise<string[]> =>
    (await call(["__complete", "--", ...words])).split("\n").filter(Boolean).map((line) => line.split("\t")[0]);

  const random = async (random: Random): Promise<string[]> => {
    const args: string[] = [];
    for (let count = 2 + random(6); count > 0; count--) {
      const typed = random(3) === 0 ? "-" : "";
      const offered = random(5) === 0 ? [] : await completions([...args, typed]);
      args.push(pick(random, offered.length > 0 ? offered : WORDS));
    }
    if (random(2)) args.push("--json");
    return args;
  };
  const lists: Record<string, string[]> = {
    "a name of 70,000 characters": ["recipe", "run", "x".repeat(70_000)],
    "an id of 300 characters": ["artifact", "show", "a".repeat(300)],
    "a prototype's member": ["ops", "show", "constructor"],
    "an override of a prototype's member": ["recipe", "plan", "bits.yaml", "--set", "__proto__.x=1"],
    "10^26 bits": ["recipe", "run", "bits.yaml", "--set", `data.bit_count=1${"0".repeat(26)}`],
    "more bits than memory": ["recipe", "run", "bits.yaml", "--set", "data.bit_count=9007199254740991"],
  };
  return {
    corpus: Object.fromEntries(Object.entries(lists).map(([name, args]) => [name, async () => void await call(args)])),
    async perform(seed) {
      const args = await random(seed);
      if (!args.some((word) => LEFT_OUT.includes(word))) await call(args);
    },
  };
}
