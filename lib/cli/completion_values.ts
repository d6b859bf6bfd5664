/** Candidates for the values of arguments and options: known names, files of folders, contents of a recipe. */
import { isObject, type JsonObject, type Value } from "../contract/value.ts";

export interface Candidate {
  value: string;
  description?: string;
}

/** The text before the cursor. */
export interface Typed {
  /** Names of the commands. */
  path: string[];
  positionals: string[];
  /** Values of options by their long names. */
  options: Map<string, string>;
}

type Source = (typed: Typed, current: string) => Promise<Candidate[]> | Candidate[];

/** By the name of the argument; behind a command's name where the name alone does not say it. */
const SOURCES: Record<string, Source> = {
  operation: operations,
  profile: profiles,
  run: runs,
  "runs a": runs,
  "runs b": runs,
  runs,
  step: steps,
  file: (_typed, current) => files(current, /\.(ya?ml|json)$/i),
  files: (_typed, current) => files(current, /\.(ya?ml|json)$/i),
  "recipe a": (_typed, current) => files(current, /\.(ya?ml|json)$/i),
  "recipe b": (_typed, current) => files(current, /\.(ya?ml|json)$/i),
  folder: (_typed, current) => files(current, null),
  "recipe-or-project": (_typed, current) => files(current, /\.(ya?ml|json)$/i),
  "--plan": (_typed, current) => files(current, /\.(ya?ml|json)$/i),
  "adapter kind": scaffolds,
  "--adapter": (_typed, current) => files(current, null),
  "benchmark pack": packs,
  "benchmark result": results,
  "benchmark a": results,
  "benchmark b": results,
  "--resume": results,
  "suite suite": async () =>
    (await import("../study/pack/suites.ts")).listSuites(Deno.cwd()).map(({ id }) => ({ value: id })),
  "template id": templates,
  "data id": datasets,
  "research id": research,
  "research kind": () => ["dataset", "task", "metric"].map((value) => ({ value })),
  artifact: artifacts,
  artifacts,
  package: (_typed, current) => files(current, /\.(zip|ya?ml|json)$/i),
  "--operation": operations,
  "--set": overrides,
  "--out": (_typed, current) => files(current, /(?:)/),
  "--workspace": (_typed, current) => files(current, null),
  "--project-root": (_typed, current) => files(current, null),
  "--status": () => ["completed", "failed", "canceled", "incomplete", "executing"].map((value) => ({ value })),
  "--task": async () => (await import("../research/catalog.ts")).allTasks().map(({ id }) => ({ value: id })),
};

/**
 * Candidates for an argument or an option.
 * @param name name of the argument, or the long name of the option
 */
export async function valuesFor(name: string, typed: Typed, current: string): Promise<Candidate[]> {
  const source = SOURCES[`${typed.path[0]} ${name}`] ?? SOURCES[name];
  return source === undefined ? [] : await source(typed, current);
}

/** Folders, and the files whose names fit; hidden ones only behind a dot. @param fits null for folders only */
function files(current: string, fits: RegExp | null): Candidate[] {
  const folder = current.slice(0, current.lastIndexOf("/") + 1), begun = current.slice(folder.length);
  const found: Candidate[] = [];
  for (const entry of Deno.readDirSync(folder || ".")) {
    if (entry.name.startsWith(".") && !begun.startsWith(".")) continue;
    const path = folder + entry.name;
    const isFolder = entry.isDirectory || (entry.isSymlink && Deno.statSync(path).isDirectory);
    if (isFolder) found.push({ value: `${path}/` });
    else if (fits?.test(entry.name)) found.push({ value: path });
  }
  return found.sort((a, b) => (a.value < b.value ? -1 : 1));
}

async function operations(): Promise<Candidate[]> {
  const { BUILTIN_OPERATIONS } = await import("../../ops/index.ts");
  return BUILTIN_OPERATIONS.map(({ operation }) => ({ value: operation.id, description: operation.definition.name }));
}

async function scaffolds(): Promise<Candidate[]> {
  const { SCAFFOLD_KINDS, scaffoldSummary } = await import("../adapter/scaffold.ts");
  return SCAFFOLD_KINDS.map((value) => ({ value, description: scaffoldSummary(value) }));
}

async function profiles(): Promise<Candidate[]> {
  const { profileIds } = await import("../plan/profiles.ts");
  return profileIds().map((value) => ({ value }));
}

async function templates(): Promise<Candidate[]> {
  const { packagedCatalog } = await import("../template/catalog.ts");
  return packagedCatalog().templates.map(({ id, label }) => ({ value: id, description: label }));
}

async function datasets(): Promise<Candidate[]> {
  const { BUNDLED_DATASETS } = await import("../artifact/bundled_datasets.ts");
  return Object.keys(BUNDLED_DATASETS).map((value) => ({ value }));
}

/** Digests of the managed store. */
async function artifacts({ options }: Typed): Promise<Candidate[]> {
  const { openWorkspace } = await import("../run/workspace.ts");
  const { listTrainedArtifacts } = await import("../training/store.ts");
  const workspace = openWorkspace({ projectRoot: options.get("--project-root"), stateDir: options.get("--workspace") });
  return listTrainedArtifacts(workspace).flatMap(({ id, name, package_sha256: digest }) => [
    { value: id, description: name },
    ...(digest === null ? [] : [{ value: digest.slice(0, 12), description: id }]),
  ]);
}

async function research({ positionals }: Typed): Promise<Candidate[]> {
  const { allDatasets, allMetrics, allTasks } = await import("../research/catalog.ts");
  const lists: Record<string, () => readonly { id: string }[]> = {
    dataset: allDatasets,
    task: allTasks,
    metric: allMetrics,
  };
  return (lists[positionals[0]]?.() ?? []).map(({ id }) => ({ value: id }));
}

/** Run ids, the newest first. */
async function runs({ options }: Typed): Promise<Candidate[]> {
  const { openWorkspace } = await import("../run/workspace.ts");
  const workspace = openWorkspace({ projectRoot: options.get("--project-root"), stateDir: options.get("--workspace") });
  const names = [...Deno.readDirSync(workspace.runs)].filter(({ name }) => !name.startsWith(".")).map(({ name }) =>
    name
  );
  return names.sort().reverse().map((value) => ({ value }));
}

/** Ids of stored benchmark results, the newest first. */
async function results({ options }: Typed): Promise<Candidate[]> {
  const { openWorkspace } = await import("../run/workspace.ts");
  const { benchmarkWorkspace } = await import("../study/rows/store.ts");
  const workspace = openWorkspace({ projectRoot: options.get("--project-root"), stateDir: options.get("--workspace") });
  const names = [...Deno.readDirSync(benchmarkWorkspace(workspace).runs)].filter(({ name }) => !name.startsWith("."));
  return names.map(({ name }) => name).sort().reverse().map((value) => ({ value }));
}

/** Benchmark packs by name, and files. */
async function packs({ options }: Typed, current: string): Promise<Candidate[]> {
  const { listBenchmarkPacks } = await import("../study/pack/packs.ts");
  const known = listBenchmarkPacks(options.get("--project-root") ?? Deno.cwd());
  const named = known.map(({ name, title }) => ({ value: name, ...(title === null ? {} : { description: title }) }));
  return [...named, ...files(current, /\.(ya?ml|json)$/i)];
}

/** The steps of the recipe that was named before. */
async function stepsOf(file: string | undefined): Promise<JsonObject[]> {
  if (file === undefined || file === "-") return [];
  const { readRecipeFile } = await import("../recipe/read.ts");
  const { value } = await readRecipeFile(file);
  const list: Value = isObject(value) ? value.steps : null;
  return Array.isArray(list)
    ? list.filter((step): step is JsonObject => isObject(step) && typeof step.id === "string")
    : [];
}

async function steps({ positionals }: Typed): Promise<Candidate[]> {
  return (await stepsOf(positionals[0])).map(({ id, op }) => ({ value: String(id), description: String(op ?? "") }));
}

/** `step.`, then `step.param=`, then the values that a schema lists. */
async function overrides({ path, positionals }: Typed, current: string): Promise<Candidate[]> {
  const found = path[0] === "template" ? await templateSteps(positionals[0]) : await stepsOf(positionals[0]);
  const [, stepId, name] = /^([^.=]*)(?:\.([^=]*)(?:=.*)?)?$/s.exec(current) ?? [];
  if (name === undefined) return found.map(({ id, op }) => ({ value: `${id}.`, description: String(op ?? "") }));
  const { BUILTIN_OPERATIONS } = await import("../../ops/index.ts");
  const step = found.find(({ id }) => id === stepId);
  const schema = BUILTIN_OPERATIONS.find(({ operation }) => operation.id === step?.op)?.operation.contract
    .params_schema;
  const properties = (schema?.properties ?? {}) as { [name: string]: JsonObject };
  if (!current.includes("=")) {
    return Object.entries(properties).map(([param, { description }]) => ({
      value: `${stepId}.${param}=`,
      description: typeof description === "string" ? description : undefined,
    }));
  }
  const node = Object.hasOwn(properties, name) ? properties[name] : {};
  const values = Array.isArray(node.enum) ? node.enum : node.type === "boolean" ? [true, false] : [];
  return values.map((value) => ({ value: `${stepId}.${name}=${value}` }));
}

async function templateSteps(id: string | undefined): Promise<JsonObject[]> {
  const { findTemplate, packagedCatalog } = await import("../template/catalog.ts");
  if (id === undefined) return [];
  const { default: starters } = await import("../template/starters.json", { with: { type: "json" } });
  const { readRecipeText } = await import("../recipe/read.ts");
  const { starter_resource: name } = findTemplate(packagedCatalog(), id);
  const text = (starters as Record<string, string>)[String(name)];
  if (text === undefined) return [];
  const { value } = readRecipeText(text, { file: String(name) });
  return isObject(value) && Array.isArray(value.steps) ? value.steps.filter(isObject) : [];
}
