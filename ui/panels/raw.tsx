/**
 * The recipe as text. The typed text is a draft, kept also while it cannot be read; Apply sends it to the server and adopts
 * the result. No file is written.
 */
import { parseJson, prettyJson } from "../../lib/contract/json.ts";
import { inOrder } from "../../lib/contract/recipe_order.ts";
import type { JsonObject } from "../../lib/contract/value.ts";
import { ask, type Diagnostic, findingsOf, messageOf, Problem } from "../api.ts";
import { jsonParts } from "../form/json_ranges.ts";
import { Diagnostics, Select, Shown } from "../parts.tsx";
import { type ComponentChildren, lazy, useEffect, useRef, useState } from "../preact.ts";
import { copies, type Copy, edit, keepRaw, textOf, update, type Verdict } from "../state/copies.ts";
import { useLoaded } from "../state/fetched.ts";
import { checkMode } from "../state/settings.ts";
import { Changes } from "./changes.tsx";
import { CheckMode } from "./check_mode.tsx";

const Code = lazy(() => import("./code.tsx"), "Loading the editor");
const VIEWS = ["authored", "normalised", "effective", "difference"] as const;
const CHECK_AFTER_MS = 400;

interface Judgement {
  /** Null where the text is refused. */
  recipe: JsonObject | null;
  diagnostics: Diagnostic[];
}

/** Reads a text and lets the server check it. */
async function judge(text: string, signal?: AbortSignal): Promise<Judgement> {
  let recipe: JsonObject;
  try {
    recipe = parseJson(text) as JsonObject;
  } catch (error) {
    const message = `Cannot read this as JSON: ${messageOf(error)}`;
    return { recipe: null, diagnostics: findingsOf(new Problem(0, "json_invalid", message)) };
  }
  const asked = { recipe, mode: checkMode.value, plan: false };
  const { forms, diagnostics } = await ask("/api/recipe/check", asked, { signal });
  return { recipe: forms?.recipe ?? null, diagnostics };
}

export function Raw({ copy }: { copy: Copy }) {
  const [view, setView] = useState<typeof VIEWS[number]>("authored");
  const picker = <Select label="View" look="small" value={view} options={VIEWS} onChoose={setView} />;
  if (view === "authored") return <Authored key={copy.id} copy={copy} picker={picker} />;
  const { verdict } = copy, shown = view === "effective" ? verdict?.forms?.effective : verdict?.forms?.recipe;
  const checking = verdict?.text !== textOf(copy);
  return (
    <div class="raw">
      <div class="row raw-tools">
        {picker}
        <span class="small muted">
          {checking ? "Checking the latest change" : shown ? "read only" : "shown once the recipe is valid"}
        </span>
      </div>
      <div class="raw-body">
        {view === "difference"
          ? <Difference verdict={verdict} />
          : shown && <Code key={view} label={`${view} recipe`} readOnly text={textFor(shown)} />}
      </div>
    </div>
  );
}

const textFor = (recipe: JsonObject) => prettyJson(inOrder(recipe));

function Authored({ copy, picker }: { copy: Copy; picker: ComponentChildren }) {
  const text = copy.rawDraft ?? textFor(copy.recipe), draft = copy.rawDraft !== null;
  const [found, setFound] = useState<Diagnostic[]>([]), [note, setNote] = useState("");
  const { brokenAt } = jsonParts(text);
  const latest = useRef(text);
  latest.current = text;
  useEffect(() => {
    const stop = new AbortController();
    const show = ({ diagnostics }: Judgement) => stop.signal.aborted || setFound(diagnostics);
    const timer = setTimeout(
      () =>
        judge(text, stop.signal).then(show, (error) => {
          if (!stop.signal.aborted) throw error;
        }),
      CHECK_AFTER_MS,
    );
    return () => {
      clearTimeout(timer);
      stop.abort();
    };
  }, [text, checkMode.value]);
  const apply = async () => {
    const { recipe, diagnostics } = await judge(text);
    // The marks are those of the text that is shown.
    if (latest.current === text) setFound(diagnostics);
    if (recipe === null) return setNote("Not applied: fix the problems first; the text stays");
    edit(copy.id, recipe);
    update(copy.id, { unread: {} });
    // Text that was typed meanwhile stays.
    if (copies.value.find(({ id }) => id === copy.id)?.rawDraft === copy.rawDraft) keepRaw(copy.id, null);
    setNote("Applied; no file was written");
  };
  const format = () => {
    try {
      keepRaw(copy.id, prettyJson(parseJson(text)));
    } catch {
      setNote("Cannot format text that is not JSON");
    }
  };
  const errors = found.filter(({ severity }) => severity !== "warning" && severity !== "info");
  return (
    <div class="raw">
      <div class="row raw-tools">
        {picker}
        <button type="button" class="primary" disabled={!draft} onClick={apply}>Apply</button>
        <button type="button" disabled={!draft} onClick={() => (keepRaw(copy.id, null), setNote("Discarded"))}>
          Discard
        </button>
        <button type="button" onClick={format}>Format</button>
        <button
          type="button"
          onClick={() =>
            navigator.clipboard.writeText(text).then(() => setNote("Copied"), () =>
              setNote("The browser denied access to the clipboard"))}
        >
          Copy
        </button>
        <CheckMode />
        {draft && <span class="tag" data-tone="accent">not applied</span>}
        {errors.length > 0 && <span class="tag" data-tone="error">{errors.length} to fix</span>}
        <span class="small muted" role="status">{note}</span>
      </div>
      <div class="raw-body">
        <Code
          label="Recipe as JSON"
          text={text}
          diagnostics={brokenAt === null ? found : []}
          brokenAt={brokenAt}
          onChange={(next) => {
            setNote("");
            keepRaw(copy.id, next === textFor(copy.recipe) ? null : next);
          }}
        />
        {errors.length > 0 && (
          <div class="raw-problems">
            <Diagnostics label="Problems of the text" items={errors} />
          </div>
        )}
      </div>
    </div>
  );
}

/** The additions of defaults and normal form to the authored recipe, as it was checked. */
function Difference({ verdict }: { verdict: Verdict | null }) {
  const forms = verdict?.forms ?? null, authored = verdict?.text ?? "";
  const found = useLoaded(
    (signal) => ask("/api/recipe/diff", { a: parseJson(authored) as JsonObject, b: forms!.effective }, { signal }),
    forms && `${forms.validation.mode} ${authored}`,
  );
  if (forms === null) return null;
  return (
    <div class="pad">
      <Shown of={found} what="the differences">
        {({ changes }) => <Changes changes={changes} a="Authored" b="Effective" />}
      </Shown>
    </div>
  );
}
