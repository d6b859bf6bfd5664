/**
 * Writes what is known of the shipped recipes before one is read: `ui/gallery/cards.json`, the cards that the gallery shows
 * before the server has read a recipe, and `recipes/recipe.facts.json`, the facts of each file that the server lists without
 * compiling it. The server's list then adds the recipes of the project and what this machine lacks. `ui/gallery/proof.json`
 * has the published verdicts of the validation cards in numbers, and some of their curves.
 */
import { recipeFacts } from "../api/recipe_facts.ts";
import { sha256Json } from "../contract/hash.ts";
import { canonicalJson } from "../contract/json.ts";
import { isObject } from "../contract/value.ts";
import { open } from "../../mod.ts";
import { recipeFiles, STORED_FACTS } from "../recipe/recipe_files.ts";
import { findMetric } from "../research/catalog.ts";
import { listCards } from "../study/validation/cards.ts";
import { figureOf } from "../study/validation/report.ts";
import { judgedCards } from "../study/validation/run.ts";
import { standingOf } from "../study/validation/standing.ts";
import { templateAt } from "../template/catalog.ts";

/** Validation cards whose curves the first page shows. */
const SHOWN_CARDS = ["aff3ct_qam_rayleigh", "maunder_broadcast_channel", "libjpeg_quality"];

/** The verdicts of all validation cards as published with the program, and the curves of some. */
async function proof(projectRoot: string): Promise<string> {
  const all = await judgedCards(projectRoot, listCards(projectRoot), {});
  const count = (names: readonly string[]) =>
    Object.fromEntries(Object.entries(Object.groupBy(names, (name) => name)).map(([name, own]) => [name, own!.length]));
  const shown = all.flatMap(({ card: { id, title, reference: { citation } }, latest }) => {
    if (latest === null || !SHOWN_CARDS.includes(id)) return [];
    const { x, y, series } = figureOf(title, latest)!, { points, within, largest } = standingOf(latest);
    const named = series.map((one) => ({
      ...one,
      label: one.label.replace(/, measured$/, "").replaceAll(/[_=]/g, " "),
    }));
    return [{ id, title, citation, points, within, largest: largest.text, figure: { x, y, series: named } }];
  });
  return JSON.stringify(
    {
      cards: all.length,
      kinds: count(all.map(({ card }) => card.reference.kind)),
      verdicts: count(all.flatMap(({ latest }) => latest?.verdict ?? [])),
      shown,
    },
    (_, value) => typeof value === "number" ? Number(value.toPrecision(5)) : value,
    1,
  );
}

/** The generated files, by path from the root: a row for each recipe, and the proof. */
export async function generated(): Promise<Record<string, string>> {
  const empty = await Deno.makeTempDir({ prefix: "svc-gallery-" });
  const svc = await open({ projectRoot: empty, stateDir: empty });
  const cards: string[] = [], stored: string[] = [], proved = await proof(empty);
  try {
    for (const { path, file } of recipeFiles(empty)) {
      const source = await svc.recipes.read(file, { name: path });
      // Manifests of images are no recipes.
      if (!(isObject(source.value) && Object.hasOwn(source.value, "steps"))) continue;
      const { compilation, specs } = await svc.recipes.inspect(source);
      const facts = recipeFacts(source, compilation, await svc.registry());
      const recipe_sha256 = sha256Json(source.value), entry = templateAt(path);
      // Findings name the file, which may be another one with these bytes.
      if (facts.diagnostics.length === 0) {
        stored.push(`${JSON.stringify(source.sha256)}:${canonicalJson({ recipe_sha256, facts } as never)}`);
      }
      const { name, description, purpose: task, facets } = facts;
      cards.push(JSON.stringify({
        path,
        name,
        recipe_sha256,
        description,
        task,
        gives: findMetric(String(specs.metrics[0]?.id))?.name ?? null,
        facets,
        template: entry ? { id: entry.id, label: entry.label, default: entry.default } : null,
      }));
    }
  } finally {
    svc.close();
    await Deno.remove(empty, { recursive: true });
  }
  return {
    "ui/gallery/cards.json": `[\n${cards.join(",\n")}\n]\n`,
    "ui/gallery/proof.json": `${proved}\n`,
    [STORED_FACTS]: `{\n${stored.sort().join(",\n")}\n}\n`,
  };
}
