/**
 * A wrong constant in a module of the program makes the quick subset of a card of the quick set differ. The program runs with the changed
 * module in place of its own, so that all others come from the cache.
 */
import assert from "node:assert/strict";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { listCards } from "../../lib/study/validation/cards.ts";
import { readPublished } from "../../lib/study/validation/published.ts";
import { quickSet } from "../../lib/study/validation/quick_set.ts";
import { ROOT_PATH } from "../support/paths.ts";
import { FULL_SIZE } from "../support/reduced_sizes.ts";

interface Fault {
  /** As in `quick_finds` of the published results. */
  id: string;
  what: string;
  file: string;
  right: string;
  wrong: string;
}

const FAULTS: Fault[] = [
  {
    id: "noise_variance",
    what: "a noise variance 0.3 dB too large",
    file: "ops/wireless/_params.ts",
    right: "dbToLinear(-snr_db)",
    wrong: "dbToLinear(0.3 - snr_db)",
  },
  {
    id: "soft_values",
    what: "soft values of twice their size",
    file: "lib/numeric/link/modulation.ts",
    right: "each ? -1 : 1 / Math.max",
    wrong: "each ? -1 : 2 / Math.max",
  },
  {
    id: "rayleigh_power",
    what: "a Rayleigh gain of mean power 1.2",
    file: "ops/wireless/_presets.ts",
    right: "fadingItems?.length ?? count, 1, settings",
    wrong: "fadingItems?.length ?? count, 1.2, settings",
  },
  {
    id: "speed",
    what: "a speed that is 6 % too high",
    file: "lib/numeric/channel/delay_profile.ts",
    right: "mobilityKmh / 3.6 *",
    wrong: "mobilityKmh / 3.4 *",
  },
  {
    id: "quantizer_bits",
    what: "a quantiser of one bit less",
    file: "ops/hardware/quantizer.ts",
    right: "quantize(x, params.bits, clip)",
    wrong: "quantize(x, params.bits - 1, clip)",
  },
  {
    id: "filler_bits",
    what: "filler bits that the decoder does not know",
    file: "lib/numeric/coding/nr_ldpc/decoder.ts",
    right: "decoderChecks(code, rows, usedBits)",
    wrong: "decoderChecks(code, rows, usedBits + fillerBits)",
  },
  {
    id: "peak",
    what: "a peak of 256 in place of 255",
    file: "ops/metrics/_compared_images.ts",
    right: "uint8: { range: 255,",
    wrong: "uint8: { range: 256,",
  },
];

/** Processor seconds from which the quick subset of a card is dear. */
const DEAR_S = 2;

const CONFIG = join(ROOT_PATH, "deno.json");

/** Imports of the configuration, and the module of the wrong constant in place of its own. */
function importMap(module: string, instead: string): string {
  const { imports } = JSON.parse(Deno.readTextFileSync(CONFIG)) as { imports: Record<string, string> };
  const own = Object.entries(imports).map(([name, path]) => [name, new URL(path, pathToFileURL(CONFIG)).href]);
  return JSON.stringify({ imports: { ...Object.fromEntries(own), [module]: instead } });
}

Deno.test("a wrong constant makes a quick card differ", async (t) => {
  const folder = await Deno.makeTempDir({ prefix: "svc-wrong-" });
  try {
    const published = readPublished(ROOT_PATH), set = quickSet(listCards(ROOT_PATH), published);
    for (const { id, what, file, right, wrong } of FAULTS) {
      await t.step(what, async () => {
        const finders = set.map(({ card }) => card.id).filter((one) => published.get(one)?.quick_finds?.includes(id));
        assert.ok(finders.length > 0, `a card of the quick set finds ${id}`);
        const cost = (one: string) => published.get(one)?.quick_cpu_s ?? Infinity;
        const card = finders.reduce((a, b) => cost(b) < cost(a) ? b : a);
        const module = pathToFileURL(join(ROOT_PATH, file)).href, text = await Deno.readTextFile(new URL(module));
        assert.equal(text.split(right).length, 2, `${file} has ${right} once`);
        // Faults that only a dear card finds are made by `deno task soak whole`.
        if (!FULL_SIZE && cost(card) > DEAR_S) return;
        const changed = text.replace(right, wrong)
          .replace(/(?<=^(?:import|export|\}) .*")\.[^"]+(?=")/gm, (path) => new URL(path, module).href);
        const instead = join(folder, `${id}.ts`), imports = join(folder, `${id}.json`);
        await Deno.writeTextFile(instead, changed);
        await Deno.writeTextFile(imports, importMap(module, pathToFileURL(instead).href));
        const program = ["--config", CONFIG, "--import-map", imports, join(ROOT_PATH, "cli.ts")];
        const { code, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
          args: ["run", "-A", "--no-check", "--frozen", ...program, "validation", "run", card, "--quick", "--json"],
          cwd: folder,
        }).output();
        assert.equal(code, 6, new TextDecoder().decode(stderr));
        assert.equal(JSON.parse(new TextDecoder().decode(stdout)).verdicts[0].verdict, "differs");
      });
    }
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});
