/**
 * Writes `ui/gallery/cards.json`: the shipped recipes as the gallery lists them, so that the page shows them before the server
 * has read a recipe. The server's list then adds the recipes of the project and what this machine lacks.
 *
 *     deno run -A lib/release/generate_gallery.ts [--check]
 */
import { compareCodePoints } from "../contract/json.ts";
import { open } from "../../mod.ts";
import { findMetric } from "../research/catalog.ts";
import { findTemplate, packagedCatalog } from "../template/catalog.ts";

/** The text that `cards.json` must have: a row for each recipe. */
async function cardsSource(): Promise<string> {
  const empty = await Deno.makeTempDir({ prefix: "svc-gallery-" });
  const svc = await open({ projectRoot: empty, stateDir: empty });
  try {
    const listed = (await svc.recipes.list()).toSorted((a, b) => compareCodePoints(a.path, b.path));
    const rows = await Promise.all(listed.map(async (row) => {
      const { specs } = await svc.recipes.inspect(await svc.recipes.read(row.path));
      const { path, name, recipe_sha256, description, purpose, template, facets } = row;
      const entry = template === null ? null : findTemplate(packagedCatalog(), template);
      return JSON.stringify({
        path,
        name,
        recipe_sha256,
        description,
        task: purpose,
        gives: findMetric(String(specs.metrics[0]?.id))?.name ?? null,
        facets,
        template: entry && { id: entry.id, label: entry.label, default: entry.default },
      });
    }));
    return `[\n${rows.join(",\n")}\n]\n`;
  } finally {
    svc.close();
    await Deno.remove(empty, { recursive: true });
  }
}

if (import.meta.main) {
  const path = new URL("../../ui/gallery/cards.json", import.meta.url), source = await cardsSource();
  if (!Deno.args.includes("--check")) await Deno.writeTextFile(path, source);
  else if (await Deno.readTextFile(path) !== source) {
    console.error("ui/gallery/cards.json is stale: run deno run -A lib/release/generate_gallery.ts");
    Deno.exit(1);
  }
}
