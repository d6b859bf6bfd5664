/** Commands of the palette in every view: operations, templates and runs, read when it is first opened. */
import { get, problemText, type Reply } from "../api.ts";
import { onPaletteOpen, provideCommands } from "../palette.tsx";
import { signal } from "../preact.ts";
import { address, go } from "../router.ts";
import { toast } from "../toast.tsx";
import { contracts, loadContracts } from "./contracts.ts";

const recipes = signal<Reply<"/api/recipes">["recipes"]>([]);
const templates = signal<Reply<"/api/recipe-templates">["templates"]>([]);
const runs = signal<Reply<"/api/runs">["runs"]>([]);

/** Starts providing; called once. */
export function provideFinds(): void {
  onPaletteOpen(() => {
    const none = () => {};
    loadContracts().catch(none);
    get("/api/runs", { query: { limit: 50 } }).then((found) => runs.value = found.runs, none);
    get("/api/recipes").then((found) => recipes.value = found.recipes, none);
    if (templates.value.length > 0) return;
    get("/api/recipe-templates").then((found) => templates.value = found.templates, none);
  });
  provideCommands(() => [
    ...[...contracts.value.values()].map(({ id, name, own }) => ({
      kind: own ? "Own operation" : "Operation",
      text: id,
      detail: name,
      ...(own && { tone: "own" as const }),
      run: () => go("catalog", ["operations", id]),
    })),
    ...templates.value.filter(({ available }) => available).map(({ id, label }) => ({
      kind: "Template",
      text: label,
      detail: id,
      run: () => location.hash = address("templates", [], { q: id }),
    })),
    ...recipes.value.filter(({ template }) => template === null).map(({ path, name, description }) => ({
      kind: "Recipe",
      text: name ?? path,
      detail: [path, description ?? []].flat().join(" · "),
      run: async () => {
        try {
          await (await import("../panels/files.tsx")).openFile(path);
          go("editor");
        } catch (error) {
          toast(problemText(error));
        }
      },
    })),
    ...runs.value.map(({ run_id, recipe_name }) => ({
      kind: "Run",
      text: run_id,
      detail: recipe_name ?? undefined,
      run: () => go("runs", [run_id]),
    })),
  ]);
}
