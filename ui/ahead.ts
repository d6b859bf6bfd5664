/**
 * Requests that a view begins with. `boot.ts` sends them while the scripts that ask are still on their way; `api.ts` takes each
 * reply once, in place of a request of its own.
 */

/** The list of runs as it is first read. */
export const FIRST_RUNS = {
  limit: 100,
  fields:
    "metrics,effective_recipe_sha256,step_count,size_bytes,task_id,mode,parallel_workers,plan_cache,artifacts,matrix_recipe,problem,changed",
};

/** The first default of the catalogue: as it is known, the editor opens it without a list of all templates. */
export const DEFAULT_TEMPLATE = "semantic_comm.image_reconstruction.default";

/** The name under which the browser keeps the recipe that was shown last. */
export const SHOWN_RECIPE = "svc.recipe";
/** The name under which a tab keeps the token of the server. */
export const TOKEN = "svc.token";

/** Replies that are on their way, by the address and the body of the request. */
type Ahead = Map<string, Promise<Response>>;

/** The replies of this page. */
export const ahead = globalThis as { svcAhead?: Ahead };

/** Whether this browser has had a recipe open. */
export const hasBefore = () => localStorage.getItem(SHOWN_RECIPE) !== null;

/** The view of an address: the first page, or the editor where a recipe was open. */
export const viewAt = (hash: string): string => /\w+/.exec(hash)?.[0] ?? (hasBefore() ? "editor" : "start");

/** The first requests at an address: their own address, and the body of those that have one. */
export function firstRequests(hash: string): [address: string, body?: string][] {
  // A list with a filter, or one run, begins with other requests.
  if (/^#\/runs\/?($|\?(?!.*\bq=))/.test(hash)) {
    return [[`/api/runs?${new URLSearchParams({ ...FIRST_RUNS, limit: String(FIRST_RUNS.limit) })}`]];
  }
  if (viewAt(hash) !== "editor") return [];
  const template: [string, string] = [
    "/api/recipe-templates/instantiate",
    JSON.stringify({ template_id: DEFAULT_TEMPLATE }),
  ];
  return hasBefore() ? [["/api/ops"]] : [["/api/ops"], template];
}
