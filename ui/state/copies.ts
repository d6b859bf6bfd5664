/**
 * Working copies: the recipes that are open, each with its history, what the server says of it, and where it was saved. A copy
 * is the author's sparse mapping, as typed values; every edit makes a new one, so that undo is a step back in a list. Drafts
 * live in the browser's database and survive reload and crash; nothing of this page's own ever enters a recipe.
 */
import { canonicalJson, parseJson } from "../../lib/contract/json.ts";
import { isObject, type JsonObject, type Value } from "../../lib/contract/value.ts";
import { DEFAULT_TEMPLATE, SHOWN_RECIPE } from "../ahead.ts";
import { ask, type Diagnostic, get, getTagged, post, Problem, type ReplyOf } from "../api.ts";
import { batch, effect, signal } from "../preact.ts";
import { centreView } from "./centre_view.ts";
import { deleteDraft, readDrafts, writeDraft } from "./drafts.ts";
import { type History, nearSteps, record, stepBack, stepForth } from "./history.ts";
import { checkMode } from "./settings.ts";
import { templateRows } from "./template_rows.ts";

export interface Step extends JsonObject {
  id: string;
  op: string;
  inputs: { [port: string]: string };
  params: JsonObject;
}

/** A text in a field that is no value. */
export interface Unread {
  stepId: string;
  param: string;
  text: string;
  message: string;
  /** Several values: leaving the field or Enter makes a sweep of them. */
  sweep?: Value[];
}

/** The latest findings of the server on a copy. */
export interface Verdict extends Pick<ReplyOf<"post", "/api/recipe/check">, "diagnostics" | "forms" | "estimate"> {
  /** Of the text that was judged. */
  text: string;
  valid: boolean;
}

export interface Copy {
  id: string;
  recipe: JsonObject;
  past: readonly JsonObject[];
  future: readonly JsonObject[];
  /** Where it lies, relative to the project, and the tag of the file as it was read; null for a copy that was never saved. */
  file: { path: string; etag: string | null } | null;
  /** Canonical text of what the file holds. */
  savedText: string | null;
  verdict: Verdict | null;
  selected: string | null;
  /** Typed texts that cannot be read, by field; the recipe keeps the value before. */
  unread: { readonly [field: string]: Unread };
  /** A draft of the raw text that is not applied. */
  rawDraft: string | null;
  /** The job of its last run. */
  jobId: string | null;
}

export const copies = signal<readonly Copy[]>([]);
export const activeId = signal<string | null>(null);
export const active = () => copies.value.find(({ id }) => id === activeId.value) ?? copies.value[0] ?? null;

export const stepsOf = (recipe: JsonObject): Step[] =>
  (Array.isArray(recipe.steps) ? recipe.steps : []).filter(isObject).map((step, index) => ({
    ...step,
    id: String(step.id ?? `step_${index}`),
    op: String(step.op ?? ""),
    inputs: (isObject(step.inputs) ? step.inputs : {}) as Step["inputs"],
    params: (isObject(step.params) ? step.params : {}) as JsonObject,
  }));
export const nameOf = (copy: Copy): string => String(copy.recipe.name ?? "untitled");
export const textOf = ({ recipe }: Pick<Copy, "recipe">): string => {
  if (!texts.has(recipe)) texts.set(recipe, canonicalJson(recipe));
  return texts.get(recipe)!;
};
/** An edit makes a new recipe: the text of one never changes. */
const texts = new WeakMap<JsonObject, string>();
export const isUnsaved = (copy: Copy): boolean => copy.savedText !== textOf(copy);

/** Texts in fields that cannot be read, by field; several values of a sweep can be. */
export const unreadOf = ({ unread }: Copy): [field: string, Unread][] =>
  Object.entries(unread).filter(([, { sweep }]) => sweep === undefined);

/** The findings on a copy. Of seeds, the switch of the matrix tells. */
export const foundIn = ({ verdict }: Copy): Diagnostic[] =>
  (verdict?.diagnostics ?? []).filter(({ code }) => code !== "variant_seed_namespace");

/** Changes members of a copy, without a step in its history. */
export function update(id: string, change: Partial<Copy>): void {
  copies.value = copies.value.map((copy) => copy.id === id ? { ...copy, ...change } : copy);
}

/**
 * Makes an edit: one step in the history.
 *
 * @param field that is typed in: letters that follow each other soon are one step
 */
export function edit(id: string, recipe: JsonObject, field: string | null = null): void {
  const copy = find(id);
  if (copy === undefined || canonicalJson(recipe) === textOf(copy)) return;
  const now = performance.now(), key = field === null ? null : `${id} ${field}`;
  const goesOn = key !== null && key === typing.key && now - typing.at < TYPING_MS && copy.past.length > 0;
  typing = { key, at: now };
  adopt(id, goesOn ? { ...historyOf(copy), present: recipe, future: [] } : record(historyOf(copy), recipe));
}

const TYPING_MS = 1000;
let typing: { key: string | null; at: number } = { key: null, at: 0 };

export const undo = (id: string) => travel(id, stepBack);
export const redo = (id: string) => travel(id, stepForth);

const find = (id: string) => copies.value.find((copy) => copy.id === id);
const historyOf = ({ recipe, past, future }: Copy): History<JsonObject> => ({ present: recipe, past, future });

function travel(id: string, step: typeof stepBack): void {
  const copy = find(id), history = copy && step(historyOf(copy));
  typing = { key: null, at: 0 };
  // Texts that could not be read belong to the edits that are left behind.
  if (history) adopt(id, history, { unread: {} });
}

function adopt(id: string, { present, past, future }: History<JsonObject>, more: Partial<Copy> = {}): void {
  update(id, { recipe: present, past, future, ...more });
  changed(id);
}

/** Remembers a text that cannot be read, or forgets it (null). */
export function setUnread(id: string, field: string, unread: Unread | null): void {
  const copy = find(id);
  if (copy === undefined || (unread === null && copy.unread[field] === undefined)) return;
  const { [field]: _, ...others } = copy.unread;
  update(id, { unread: unread === null ? others : { ...others, [field]: unread } });
}

/** Sets a parameter of a step, or takes it out (undefined): the recipe stays sparse. */
export function setParam(copy: Copy, stepId: string, name: string, value: Value | undefined): void {
  const steps = stepsOf(copy.recipe).map((step) => {
    if (step.id !== stepId) return step;
    const { [name]: _, ...others } = step.params;
    const params = value === undefined ? others : { ...step.params, [name]: value };
    return { ...step, params };
  });
  edit(copy.id, { ...copy.recipe, steps: steps.map(sparse) }, value === undefined ? null : `${stepId}.${name}`);
}

/** A step as its author would write it: without empty mappings. */
function sparse(step: Step): JsonObject {
  const { inputs, params, ...rest } = step;
  return {
    ...rest,
    ...(Object.keys(inputs).length > 0 ? { inputs } : {}),
    ...(Object.keys(params).length > 0 ? { params } : {}),
  };
}

const FRESH = { past: [], future: [], verdict: null, selected: null, unread: {}, rawDraft: null, jobId: null };

/** Opens a recipe as a copy and shows it. */
export function openCopy(recipe: JsonObject, file: Copy["file"] = null): Copy {
  const savedText = file === null ? null : canonicalJson(recipe);
  const copy: Copy = { ...FRESH, id: crypto.randomUUID(), recipe, file, savedText };
  batch(() => {
    copies.value = [...copies.value, copy];
    activeId.value = copy.id;
    // A recipe begins with its blocks, where the one before showed its variants.
    if (centreView.value === "Matrix") centreView.value = "Graph";
  });
  changed(copy.id);
  return copy;
}

/** Opens a file of the project; one that is open already is shown. */
export async function openFile(path: string): Promise<void> {
  await restore();
  const known = copies.value.find(({ file }) => file?.path === path);
  if (known !== undefined) {
    activeId.value = known.id;
    return;
  }
  const { document, etag } = await readFile(path);
  // A recipe beside an own operation is saved into recipes/, as another file.
  openCopy(document.recipe, path.startsWith("recipes/") ? { path: document.path, etag } : undefined);
}

const fromTemplate = async (templateId: string) =>
  (await ask("/api/recipe-templates/instantiate", { template_id: templateId })).recipe;

export async function openTemplate(templateId: string): Promise<void> {
  openCopy(await fromTemplate(templateId));
}

export function duplicate(copy: Copy): void {
  openCopy({ ...structuredCopy(copy.recipe), name: `${nameOf(copy)}_copy` });
}

const recipeOf = (text: string) => parseJson(text) as JsonObject;
const structuredCopy = (recipe: JsonObject) => recipeOf(canonicalJson(recipe));

/** Closes a copy. @returns opens it again in its place, with its history */
export function closeCopy(id: string): () => void {
  const closed = find(id), at = copies.value.findIndex((copy) => copy.id === id);
  checks.get(id)?.abort();
  checks.delete(id);
  deleteDraft(id);
  copies.value = copies.value.filter((copy) => copy.id !== id);
  if (activeId.value === id) activeId.value = copies.value[0]?.id ?? null;
  return () => {
    if (closed === undefined || find(id) !== undefined) return;
    batch(() => {
      copies.value = copies.value.toSpliced(at, 0, closed);
      activeId.value = id;
    });
    changed(id);
  };
}

/** A difference between two recipes. */
export type Change = ReplyOf<"post", "/api/recipe/diff">["changes"][number];

/** Why a copy was not saved: the file has changed since it was read. */
export interface Conflict {
  copyId: string;
  path: string;
  /** The contents of the file now, and its tag. */
  recipe: JsonObject;
  etag: string | null;
  changes: Change[];
}

export const conflict = signal<Conflict | null>(null);

/**
 * Saves a copy. Where something else lies in the file, nothing is written and `conflict` is set.
 *
 * @param filename in recipes/; the copy's own file, or one named after the recipe, when left out
 * @throws Problem `recipe_invalid` with all diagnostics
 */
export async function save(copy: Copy, filename?: string): Promise<void> {
  const path = savedPath(copy, filename), own = copy.file?.path === path;
  if (!own && (await get("/api/recipes")).recipes.some((row) => row.path === path && row.place === "project")) {
    return await tellConflict(copy, path);
  }
  await saveOver(copy, path, own ? copy.file!.etag : null);
}

/** Saves a copy over a file that has a tag. @throws Problem */
export async function saveOver(copy: Copy, path: string, etag: string | null): Promise<void> {
  try {
    const saved = await post(
      "/api/recipe/save",
      { recipe: copy.recipe, filename: path.replace(/^recipes\//, "") },
      { headers: etag === null ? {} : { "if-match": etag } },
    );
    update(copy.id, { file: { path: saved.path, etag: `"${saved.file_sha256}"` }, savedText: textOf(copy) });
    keepDraft(copy.id);
    conflict.value = null;
  } catch (error) {
    if (!(error instanceof Problem) || error.code !== "stale_overwrite") throw error;
    // A file that is gone has nothing to lose.
    await (error.body.file_sha256 === null ? saveOver(copy, path, null) : tellConflict(copy, path));
  }
}

async function tellConflict(copy: Copy, path: string): Promise<void> {
  const { document, etag } = await readFile(path);
  const { changes } = await ask("/api/recipe/diff", { a: document.recipe, b: copy.recipe });
  conflict.value = { copyId: copy.id, path, recipe: document.recipe, etag, changes };
}

/** Takes what a file holds now into a copy, as one edit that can be undone. */
export async function revert(copy: Copy): Promise<void> {
  if (copy.file === null) return;
  const { document, etag } = await readFile(copy.file.path);
  edit(copy.id, document.recipe);
  update(copy.id, {
    file: { path: document.path, etag },
    savedText: canonicalJson(document.recipe),
    rawDraft: null,
    unread: {},
  });
  keepDraft(copy.id);
}

const readFile = (path: string) => getTagged("/api/recipe", { query: { path } });
/** The path of the file that a copy is saved in; arguments as of {@link save}. */
export const savedPath = (copy: Copy, filename = copy.file?.path ?? fileOf(nameOf(copy))) =>
  `recipes/${filename.replace(/^recipes\//, "")}`;

/** The file that a recipe of this name is saved in first. */
export const fileOf = (name: string) => `recipes/${name.replaceAll(/[^A-Za-z0-9._-]/g, "_").replace(/^\.+/, "")}.yaml`;

// After every change the draft is kept, and the server checks it a moment later.

/** The latest check of each copy: a later one ends it. */
const checks = new Map<string, AbortController>();
const VALIDATE_AFTER_MS = 250;

function changed(id: string): void {
  keepDraft(id);
  validate(id, VALIDATE_AFTER_MS);
}

/** Asks the server to check a copy as it is after a while. */
export async function validate(id: string, afterMs = 0): Promise<void> {
  checks.get(id)?.abort();
  const stop = new AbortController();
  checks.set(id, stop);
  await new Promise((resolve) => setTimeout(resolve, afterMs));
  const copy = find(id);
  if (stop.signal.aborted || copy === undefined) return;
  try {
    const verdict = await verdictOn(copy, stop.signal);
    if (!stop.signal.aborted) update(id, { verdict });
  } catch (error) {
    if (!stop.signal.aborted) throw error;
  }
}

async function verdictOn(copy: Copy, signal: AbortSignal): Promise<Verdict> {
  const text = textOf(copy);
  const { status, ...found } = await ask("/api/recipe/check", { recipe: copy.recipe, mode: checkMode.value }, {
    signal,
  });
  return { ...found, text, valid: status === "valid" };
}

function keepDraft(id: string): void {
  const copy = find(id);
  if (copy === undefined) return;
  const { file, savedText, rawDraft, jobId } = copy;
  const [past, future] = [copy.past, copy.future].map((steps) => steps.map((recipe) => textOf({ recipe })));
  const order = copies.value.indexOf(copy);
  writeDraft({ id, text: textOf(copy), file, savedText, rawDraft, jobId, ...nearSteps(past, future), order });
}

/** Remembers the job of a copy's last run. */
export function setJob(id: string, jobId: string): void {
  update(id, { jobId });
  keepDraft(id);
}

/** Keeps unapplied text of the raw editor. */
export function keepRaw(id: string, rawDraft: string | null): void {
  update(id, { rawDraft });
  keepDraft(id);
}

effect(() => {
  if (activeId.value !== null) localStorage.setItem(SHOWN_RECIPE, activeId.value);
});

let restored: Promise<void> | undefined;

/** Restores the open recipes. Recipes that were opened meanwhile stay, and so does the choice among all. */
export function restore(): Promise<void> {
  return restored ??= (async () => {
    const drafts = await readDrafts();
    const before = drafts.filter(({ id }) => find(id) === undefined)
      .map(({ id, text, file, savedText, rawDraft, jobId = null, past = [], future = [] }): Copy => ({
        ...FRESH,
        id,
        recipe: recipeOf(text),
        past: past.map(recipeOf),
        future: future.map(recipeOf),
        file,
        savedText,
        rawDraft,
        jobId,
      }));
    const shown = before.find(({ id }) => id === localStorage.getItem(SHOWN_RECIPE)) ?? before[0];
    batch(() => {
      copies.value = [...before, ...copies.value];
      activeId.value ??= shown?.id ?? null;
    });
    for (const { id } of before) validate(id);
  })();
}

let offered: Promise<void> | undefined;

/** A recipe from the default template; from another one where that is not available, and null where none is. */
async function defaultRecipe(): Promise<JsonObject | null> {
  try {
    return await fromTemplate(DEFAULT_TEMPLATE);
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
  }
  const rows = await templateRows();
  const first = rows.find((row) => row.default && row.available) ?? rows.find((row) => row.available);
  return first === undefined ? null : await fromTemplate(first.id);
}

/** Opens the default template where no recipe is open, once. */
export function openDefault(): Promise<void> {
  return offered ??= (async () => {
    await restore();
    if (copies.value.length > 0) return;
    const recipe = await defaultRecipe();
    if (recipe !== null && copies.value.length === 0) openCopy(recipe);
  })().catch((error) => {
    offered = undefined;
    throw error;
  });
}
