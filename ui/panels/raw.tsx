/**
 * The recipe as text. What is typed is a draft of its own, kept even while it cannot be read; Apply hands it to the server and
 * adopts what the server made of it. No file is written.
 */
import { parseJson, prettyJson } from "../../lib/contract/json.ts";
import type { JsonObject } from "../../lib/contract/value.ts";
import { type Diagnostic, post, Problem } from "../api.ts";
import { jsonParts } from "../form/json_ranges.ts";
import { type ComponentChildren, lazy, Suspense, useEffect, useState } from "../preact.ts";
import { type Copy, edit, keepRaw, textOf, update } from "../state/copies.ts";
import { checkMode } from "../state/settings.ts";
import { type Change, Changes } from "./changes.tsx";

const Code = lazy(() => import("./code.tsx"));
const VIEWS = ["authored", "normalised", "effective", "difference"] as const;
const CHECK_AFTER_MS = 400;

/** What the server, or the reader before it, says of a text. */
async function judge(
  text: string,
  stop?: AbortSignal,
): Promise<{ recipe: JsonObject | null; diagnostics: Diagnostic[] }> {
  let recipe: JsonObject;
  try {
    recipe = parseJson(text) as JsonObject;
  } catch (error) {
    return {
      recipe: null,
      diagnostics: [{ code: "json_invalid", message: `Cannot read this as JSON: ${(error as Error).message}` }],
    };
  }
  try {
    const answer = await post<{ recipe: JsonObject; validation: JsonObject }>("/api/recipe/validate", {
      recipe,
      mode: checkMode.value,
    }, { signal: stop });
    return { recipe: answer.recipe, diagnostics: answer.validation.diagnostics as unknown as Diagnostic[] };
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    const { diagnostics } = error;
    return { recipe: null, diagnostics: diagnostics.length > 0 ? diagnostics : [error as Diagnostic] };
  }
}

export function Raw({ copy }: { copy: Copy }) {
  const [view, setView] = useState<typeof VIEWS[number]>("authored");
  const picker = (
    <label class="row small">
      View
      <select value={view} onChange={(event) => setView(event.currentTarget.value as typeof view)}>
        {VIEWS.map((name) => <option key={name} value={name}>{name}</option>)}
      </select>
    </label>
  );
  if (view === "authored") return <Authored key={copy.id} copy={copy} picker={picker} />;
  const shown = view === "effective" ? copy.verdict?.effective : copy.verdict?.normalized;
  return (
    <div class="raw">
      <div class="row raw-tools">
        {picker}
        <span class="small muted">{shown ? "read only" : "shown once the recipe is valid"}</span>
      </div>
      <div class="raw-body">
        {view === "difference"
          ? <Difference copy={copy} />
          : shown && (
            <Suspense fallback={<p class="muted pad">Loading the editor</p>}>
              <Code key={view} label={`${view} recipe`} readOnly text={prettyJson(shown)} />
            </Suspense>
          )}
      </div>
    </div>
  );
}

function Authored({ copy, picker }: { copy: Copy; picker: ComponentChildren }) {
  const text = copy.rawDraft ?? prettyJson(copy.recipe), draft = copy.rawDraft !== null;
  const [found, setFound] = useState<Diagnostic[]>([]), [told, setTold] = useState("");
  const { brokenAt } = jsonParts(text);
  useEffect(() => {
    const stop = new AbortController();
    const timer = setTimeout(
      () => judge(text, stop.signal).then(({ diagnostics }) => setFound(diagnostics), () => {}),
      CHECK_AFTER_MS,
    );
    return () => {
      clearTimeout(timer);
      stop.abort();
    };
  }, [text, checkMode.value]);
  const apply = async () => {
    const { recipe, diagnostics } = await judge(text);
    setFound(diagnostics);
    if (recipe === null) return setTold("Not applied: the text stays as it is until it is mended");
    edit(copy.id, recipe);
    update(copy.id, { unread: {} });
    keepRaw(copy.id, null);
    setTold("Applied; no file was written");
  };
  const format = () => {
    try {
      keepRaw(copy.id, prettyJson(parseJson(text)));
    } catch {
      setTold("Only text that is JSON can be formatted");
    }
  };
  const errors = found.filter(({ severity }) => severity !== "warning" && severity !== "info");
  return (
    <div class="raw">
      <div class="row raw-tools">
        {picker}
        <button type="button" class="primary" disabled={!draft} onClick={apply}>Apply</button>
        <button type="button" disabled={!draft} onClick={() => (keepRaw(copy.id, null), setTold("Discarded"))}>
          Discard
        </button>
        <button type="button" onClick={format}>Format</button>
        <button
          type="button"
          onClick={() =>
            navigator.clipboard.writeText(text).then(() => setTold("Copied"), () => setTold("The browser refused"))}
        >
          Copy
        </button>
        <label class="row small">
          Check
          <select
            value={checkMode.value}
            onChange={(event) => checkMode.value = event.currentTarget.value as "strict" | "compat"}
          >
            <option value="strict">strict</option>
            <option value="compat">compat</option>
          </select>
        </label>
        {draft && <span class="tag" data-tone="accent">not applied</span>}
        {errors.length > 0 && <span class="tag" data-tone="error">{errors.length} to mend</span>}
        <span class="small muted" role="status">{told}</span>
      </div>
      <div class="raw-body">
        <Suspense fallback={<p class="muted pad">Loading the editor</p>}>
          <Code
            label="Recipe as JSON"
            text={text}
            diagnostics={brokenAt === null ? found : []}
            brokenAt={brokenAt}
            onChange={(next) => {
              setTold("");
              keepRaw(copy.id, next === prettyJson(copy.recipe) ? null : next);
            }}
          />
        </Suspense>
        {errors.length > 0 && (
          <ul class="raw-problems" aria-label="Problems of the text">
            {errors.map(({ message, hint, pointer, code }) => (
              <li key={`${pointer} ${message}`}>
                {message} {hint ? <span class="muted">· {hint}</span> : null}{" "}
                <code class="small muted">{pointer ?? code}</code>
              </li>
            ))}
          </ul>
        )}
      </div>
    </div>
  );
}

/** What the defaults and the normal form add to what was written. */
function Difference({ copy }: { copy: Copy }) {
  const [changes, setChanges] = useState<Change[] | null>(null);
  const effective = copy.verdict?.effective ?? null;
  useEffect(() => {
    const stop = new AbortController();
    if (effective === null) return;
    post<{ changes: Change[] }>("/api/recipe/diff", { a: copy.recipe, b: effective }, { signal: stop.signal })
      .then(({ changes }) => setChanges(changes), () => {});
    return () => stop.abort();
  }, [textOf(copy), effective]);
  if (effective === null) return null;
  if (changes === null) return <p class="muted pad">Comparing</p>;
  return (
    <div class="pad">
      <Changes changes={changes} a="Authored" b="Effective" />
    </div>
  );
}
