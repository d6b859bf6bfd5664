import assert from "node:assert/strict";
import { join } from "node:path";
import { inFolder, svc } from "../support/cli.ts";

const FILES = [
  ".gitignore",
  "README.md",
  "benchmarks/first_comparison.yaml",
  "benchmarks/pack.schema.json",
  "recipes/first_link.yaml",
  "recipes/image_codec.yaml",
  "recipes/quickstart.yaml",
  "recipes/recipe.schema.json",
];

Deno.test(
  "init makes a project whose recipes lint, are formatted and run by name, and whose pack loads",
  inFolder(async (folder) => {
    const made = await svc(["init", "study", "--json"], { cwd: folder });
    assert.equal(made.code, 0, made.stderr);
    assert.deepEqual(made.json.files, FILES);
    const cwd = join(folder, "study");
    for (const name of ["first_link", "image_codec", "quickstart"]) {
      const [lint, format] = await Promise.all([
        svc(["recipe", "lint", name], { cwd }),
        svc(["recipe", "fmt", "--check", `recipes/${name}.yaml`], { cwd }),
      ]);
      assert.equal(lint.code, 0, lint.stdout + lint.stderr);
      assert.equal(format.code, 0, format.stdout + format.stderr);
    }
    const [run, pack, list] = await Promise.all([
      svc(["recipe", "run", "first_link", "--set", "snr_db=5.0", "--set", "repetition=3", "--json"], { cwd }),
      svc(["benchmark", "validate", "first_comparison"], { cwd }),
      svc(["recipe", "list", "--task", "bit_transport", "--json"], { cwd }),
    ]);
    assert.equal(run.code, 0, run.stderr);
    assert.equal(run.json.status, "completed");
    assert.equal(pack.code, 0, pack.stderr);
    assert.doesNotMatch(pack.stdout + pack.stderr, /warning\[/);
    const places = new Map(list.json.recipes.map((row: Record<string, string>) => [row.recipe, row.place]));
    assert.deepEqual([places.get("first_link"), places.get("ber_theory")], ["project", "program"]);

    const compared = await svc(["benchmark", "run", "first_comparison", "--replicates", "2", "--json"], { cwd });
    assert.equal(compared.code, 0, compared.stderr);
    const folders = [...Deno.readDirSync(join(cwd, ".svc/benchmarks"))].map(({ name }) => name);
    const result = folders.find((name) => !name.startsWith("."))!;
    const { comparisons } = JSON.parse(await Deno.readTextFile(join(cwd, ".svc/benchmarks", result, "result.json")));
    // Both methods at each of four points.
    assert.deepEqual(comparisons.map(({ n }: { n: number }) => n), [2, 2, 2, 2]);

    const again = await svc(["init"], { cwd });
    assert.equal(again.code, 2, again.stderr);
    assert.match(again.stderr, /usage_invalid/);
  }),
);

Deno.test(
  "init leaves a README alone and adds one line to a .gitignore",
  inFolder(async (cwd) => {
    await Deno.writeTextFile(join(cwd, "README.md"), "mine\n");
    await Deno.writeTextFile(join(cwd, ".gitignore"), "build/");
    assert.equal((await svc(["init"], { cwd })).code, 0);
    assert.equal(await Deno.readTextFile(join(cwd, "README.md")), "mine\n");
    assert.match(await Deno.readTextFile(join(cwd, ".gitignore")), /^build\/\n#.*\n\.svc\/\n$/);
  }),
);

Deno.test(
  "recipes of the program run by name; fmt does not write them; a wrong name offers the nearest",
  inFolder(async (cwd) => {
    const [plan, wrong, unknown, format] = await Promise.all([
      svc(["recipe", "plan", "bit_transport_awgn"], { cwd }),
      svc(["recipe", "plan", "recipes/quikstart.yaml"], { cwd }),
      svc(["recipe", "plan", "zzzzzzzz"], { cwd }),
      svc(["recipe", "fmt", "quickstart", "--check"], { cwd }),
    ]);
    assert.equal(plan.code, 0, plan.stderr);
    assert.match(wrong.stderr, /recipe_not_found[\s\S]*Did you mean quickstart/);
    assert.match(unknown.stderr, /recipe_not_found[\s\S]*help: svc recipe list lists the recipes/);
    assert.equal(format.code, 0, format.stderr);
    assert.deepEqual([...Deno.readDirSync(cwd)], []);
  }),
);
