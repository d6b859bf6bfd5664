/** What the palette finds wherever one is: operations, templates and runs, read when it is first opened. */
import type { JsonObject } from "../../lib/contract/value.ts";
import { get } from "../api.ts";
import { onPaletteOpen, provideCommands } from "../palette.tsx";
import { signal } from "../preact.ts";
import { address, go } from "../router.ts";
import { contracts, loadContracts } from "./contracts.ts";

interface Template extends JsonObject {
  id: string;
  label: string;
  available: boolean;
}

interface Run extends JsonObject {
  run_id: string;
  recipe_name: string;
}

const templates = signal<readonly Template[]>([]);
const runs = signal<readonly Run[]>([]);

/** Starts providing; called once. */
export function provideFinds(): void {
  onPaletteOpen(() => {
    const none = () => {};
    loadContracts().catch(none);
    get<{ runs: Run[] }>("/api/runs?limit=50").then((found) => runs.value = found.runs, none);
    if (templates.value.length > 0) return;
    get<{ templates: Template[] }>("/api/recipe-templates").then((found) => templates.value = found.templates, none);
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
      detail: recipe_name,
      run: () => go("runs", [run_id]),
    })),
  ]);
}
