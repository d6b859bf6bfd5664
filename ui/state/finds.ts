/** Commands of the palette in every view: operations, templates and runs, read when it is first opened. */
import { get, type Reply } from "../api.ts";
import { onPaletteOpen, provideCommands } from "../palette.tsx";
import { signal } from "../preact.ts";
import { address, go } from "../router.ts";
import { contracts, loadContracts } from "./contracts.ts";

const templates = signal<Reply<"/api/recipe-templates">["templates"]>([]);
const runs = signal<Reply<"/api/runs">["runs"]>([]);

/** Starts providing; called once. */
export function provideFinds(): void {
  onPaletteOpen(() => {
    const none = () => {};
    loadContracts().catch(none);
    get("/api/runs", { query: { limit: 50 } }).then((found) => runs.value = found.runs, none);
    if (templates.value.length > 0) return;
    get("/api/recipe-templates").then((found) => templates.value = found.templates, none);
  });
  provideCommands(() => [
    ...[...contracts.value.values()].map(({ id, name }) => ({
      kind: "Operation",
      text: id,
      detail: name,
      run: () => go("catalog", ["operations", id]),
    })),
    ...templates.value.filter(({ available }) => available).map(({ id, label }) => ({
      kind: "Template",
      text: label,
      detail: id,
      run: () => location.hash = address("templates", [], { q: id }),
    })),
    ...runs.value.map(({ run_id, recipe_name }) => ({
      kind: "Run",
      text: run_id,
      detail: recipe_name ?? undefined,
      run: () => go("runs", [run_id]),
    })),
  ]);
}
