/** The rows of all templates, read once: the server inspects each template, which takes it a second. */
import { get, type Reply } from "../api.ts";

type Rows = Reply<"/api/recipe-templates">["templates"];

let rows: Promise<Rows> | undefined;

/** The rows as they were at the first call; views that show whether a template is available read them anew. */
export function templateRows(): Promise<Rows> {
  return rows ??= get("/api/recipe-templates").then(({ templates }) => templates, (error) => {
    rows = undefined;
    throw error;
  });
}
