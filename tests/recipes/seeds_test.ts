/** No shipped text authors the seed of a step, and replicates of a shipped recipe do not repeat each other's noise. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { PACKAGED_STARTERS } from "../../lib/template/source.ts";
import { isObject, toNumber, type Value } from "../../lib/contract/value.ts";
import { parseYaml } from "../../lib/contract/yaml.ts";
import { gaussianTail } from "../../lib/numeric/linalg/error_function.ts";
import { codeBlocks } from "../docs/blocks.ts";
import { ROOT_PATH } from "../support/paths.ts";
import { sharedSession } from "../support/session.ts";
import { temporaryFolder } from "../support/temporary.ts";

const filesIn = (folder: string): string[] =>
  [...Deno.readDirSync(join(ROOT_PATH, folder))].flatMap(({ name, isDirectory }) =>
    isDirectory ? filesIn(`${folder}/${name}`) : [`${folder}/${name}`]
  );

const stateDir = Deno.makeTempDirSync({ prefix: "svc-seeds-" });
Deno.test.afterAll(() => Deno.remove(stateDir, { recursive: true }));
const shared = sharedSession({ projectRoot: ROOT_PATH, stateDir });

/** Paths of the parameters named `seed` that a document gives a value: in `params` of a step, or in `step_params`. */
function authoredIn(value: Value, path = ""): string[] {
  if (Array.isArray(value)) return value.flatMap((one, index) => authoredIn(one, `${path}[${index}]`));
  if (!isObject(value)) return [];
  return Object.entries(value).flatMap(([key, member]) =>
    // The seed of a sample of points draws no noise.
    key === "seed" && member !== null && !/(^|\.)(metadata|properties|sample)$/.test(path)
      ? [`${path}.seed`]
      : authoredIn(member, `${path}.${key}`)
  );
}

Deno.test("no starter, template, scaffold, pack or example authors the seed of a step", async () => {
  assert.deepEqual(authoredIn({ metadata: { seed: 1 }, steps: [{ params: { seed: 3 } }] }), [".steps[0].params.seed"]);
  const files = [
    "README.md",
    "CONTRIBUTING.md",
    ...["recipes", "benchmarks", "adapters", "lib", "docs"].flatMap(filesIn),
  ];
  const read = (path: string) => Deno.readTextFile(join(ROOT_PATH, path));
  const texts: [string, string][] = [];
  for (const path of files) {
    if (/^(recipes|benchmarks|adapters|lib)\/.*\.ya?ml$/.test(path)) texts.push([path, await read(path)]);
    if (!path.endsWith(".md")) continue;
    const document = await read(path);
    for (const language of ["yaml", "json"]) {
      codeBlocks(document, language).forEach((text, index) => texts.push([`${path} ${language} ${index}`, text]));
    }
    // Recipes as objects of a program.
    for (const language of ["ts", "js", "python"]) {
      assert.ok(codeBlocks(document, language).every((text) => !/params["']?: *\{[^}]*\bseed\b/.test(text)), path);
    }
  }
  for (const [name, text] of Object.entries(PACKAGED_STARTERS)) texts.push([name, text]);
  assert.ok(texts.length > 200, `${texts.length} texts`);
  assert.deepEqual(texts.flatMap(([path, text]) => authoredIn(parseYaml(text)).map((place) => path + place)), []);
});

shared.test("a training project of a starter authors no seed", async (svc) => {
  const folder = temporaryFolder("svc-project-");
  const recipe = await Deno.readTextFile(
    join(ROOT_PATH, "recipes/recipe_starters/neural_receiver_qpsk_iq_calibration.yaml"),
  );
  await svc.training.export(recipe, { out: join(folder, "project"), samples: 8 });
  let read = 0;
  for (const { name } of Deno.readDirSync(join(folder, "project"))) {
    if (!/recipe\.yaml$/.test(name)) continue;
    read++;
    assert.deepEqual(authoredIn(parseYaml(await Deno.readTextFile(join(folder, "project", name)))), [], name);
  }
  assert.ok(read >= 2, `${read} recipes`);
});

shared.test("ten replicates of the starter at 10 dB draw ten noises, and their interval contains theory", async (svc) => {
  const folder = temporaryFolder("svc-pack-");
  const starter = join(ROOT_PATH, "recipes/recipe_starters/neural_receiver_qpsk_iq_calibration.yaml");
  await Deno.copyFile(starter, join(folder, "starter.yaml"));
  const pack = {
    schema_version: 1,
    id: "starter_at_10_db",
    version: "1",
    dataset: { id: "synthetic_random_bits", modality: "bits" },
    task: { id: "neural_receiver_demapping" },
    metrics: ["channel.ber"],
    replication: { replicates: 10, base_seed: 23 },
    recipes: [{
      id: "calibrated",
      path: "starter.yaml",
      params: {
        matrix_selection: { snr_db: 10.5 },
        // Ideal calibration leaves AWGN only.
        step_params: { demodulator: { mode: "oracle_frontend_calibrated" }, data: { bit_count: 40_960 } },
      },
    }],
  };
  const file = join(folder, "pack.json");
  await Deno.writeTextFile(file, JSON.stringify(pack).replace("10.5", "10.0"));
  const { result } = await svc.benchmarks.run(file, { retainBackingRuns: true });
  const noises = new Set<string>();
  for (const { run_dir } of result.recipes) {
    const sums = await Deno.readTextFile(join(stateDir, run_dir!, "SHA256SUMS"));
    noises.add(/^\w+(?= .*wireless_channel\/rx_symbols)/m.exec(sums)![0]);
  }
  assert.equal(noises.size, 10);
  const { ci_low, ci_high } = result.aggregates.find(({ metric }) => metric === "channel.ber")!;
  const theory = gaussianTail(Math.sqrt(10));
  assert.ok(Math.abs(theory - 7.83e-4) < 1e-6);
  assert.ok(toNumber(ci_low!) <= theory && theory <= toNumber(ci_high!), `${ci_low} … ${ci_high}`);
});
