/** Scenarios to start from: a gallery by task, each with what was found when it was read just now. */
import { replaceWorkingCopy } from "../../lib/template/working_copy.ts";
import { canonicalJson } from "../../lib/contract/json.ts";
import type { JsonObject } from "../../lib/contract/value.ts";
import { type Diagnostic, post } from "../api.ts";
import { commandOf, CopyCommand } from "../copy_command.tsx";
import { Page } from "../frame.tsx";
import { Diagnostics, Digest, Pending } from "../panels/notices.tsx";
import { StateMark } from "../panels/state_mark.tsx";
import { useEffect, useRef, useState } from "../preact.ts";
import { go, place, refine } from "../router.ts";
import { active, activeId, copies, type Copy, edit, nameOf, openTemplate, restore, stepsOf } from "../state/copies.ts";
import { useFetched } from "../state/fetched.ts";

export interface TemplateRow {
  id: string;
  label: string;
  task_id: string;
  status: string;
  default: boolean;
  available: boolean;
  execution_profile: { id: string; version: number };
  recipe_path: string;
  validation: { status: string; errors: Diagnostic[] };
  source?: { kind: string; reference: string; digest: string };
  recipe?: { name: string; description: string | null; step_count: number };
  run_readiness?: { ready: boolean; missing: JsonObject[] };
}

interface Catalog {
  status: string;
  templates: TemplateRow[];
}

export default function Templates() {
  const found = useFetched<Catalog>("/api/recipe-templates");
  const [chosen, setChosen] = useState<TemplateRow | null>(null);
  const [problem, setProblem] = useState<string | null>(null);
  // Replacing needs to know what is open.
  useEffect(() => void restore().catch(() => {}), []);
  if (found.data === null) {
    return (
      <Page title="Templates">
        <Pending of={found} what="the templates" />
      </Page>
    );
  }
  const wanted = place.value.query.get("show") ?? "", typed = place.value.query.get("q") ?? "";
  const fits = (row: TemplateRow) =>
    (wanted === "" || (wanted === "usable" ? row.available : row.validation.status === wanted)) &&
    `${row.id} ${row.label} ${row.recipe?.description ?? ""}`.toLowerCase().includes(typed.toLowerCase());
  const rows = found.data.templates.filter(fits);
  const tasks = [...new Set(rows.map(({ task_id }) => task_id))];
  const usable = found.data.templates.filter(({ available }) => available).length;
  const start = (row: TemplateRow) => async () => {
    setProblem(null);
    try {
      await openTemplate(row.id);
      go("editor");
    } catch (error) {
      setProblem((error as Error).message);
    }
  };
  const current = active();
  return (
    <Page
      title="Templates"
      actions={<button type="button" onClick={found.again}>Read again</button>}
    >
      <p class="row">
        <StateMark state={found.data.status} word={`Catalogue ${found.data.status}`} />
        <span class="muted">
          {usable} of {found.data.templates.length}{" "}
          can be used here. A file of the same name in recipes/ takes the place of a built-in one.
        </span>
      </p>
      {problem !== null && <p class="notice" data-tone="error" role="alert">{problem}</p>}
      <div class="row filters">
        <label class="row">
          Find
          <input type="search" value={typed} onInput={(event) => refine({ q: event.currentTarget.value })} />
        </label>
        <label class="row">
          Show
          <select value={wanted} onChange={(event) => refine({ show: event.currentTarget.value })}>
            <option value="">all</option>
            <option value="usable">usable</option>
            <option value="unavailable">unavailable</option>
            <option value="invalid">invalid</option>
          </select>
        </label>
      </div>
      {rows.length === 0 && (
        <p class="empty">
          No template fits.{" "}
          <button type="button" onClick={() => refine({ q: undefined, show: undefined })}>Show all</button>
        </p>
      )}
      {tasks.map((task) => (
        <section key={task} aria-labelledby={`task-${task}`}>
          <h2 id={`task-${task}`}>{task.replaceAll("_", " ")}</h2>
          <div class="cards">
            {rows.filter(({ task_id }) => task_id === task).map((row) => (
              <Card
                key={row.id}
                row={row}
                current={current}
                onStart={start(row)}
                onReplace={() => setChosen(row)}
              />
            ))}
          </div>
        </section>
      ))}
      {chosen !== null && current !== null && <Replace row={chosen} copy={current} onEnd={() => setChosen(null)} />}
    </Page>
  );
}

interface CardProps {
  row: TemplateRow;
  current: Copy | null;
  onStart(): void;
  onReplace(): void;
}

function Card({ row, current, onStart, onReplace }: CardProps) {
  const { validation, source, recipe, run_readiness } = row;
  return (
    <article class="panel card" aria-label={row.label}>
      <div class="row spread">
        <h3 class="plain">{row.label}</h3>
        <span class="row">
          {row.default && <span class="tag" data-tone="accent">default</span>}
          {row.status !== "supported" && <span class="tag">{row.status}</span>}
          <StateMark state={validation.status} />
        </span>
      </div>
      <code class="small muted">{row.id}</code>
      {recipe?.description && <p>{recipe.description}</p>}
      {validation.errors.length > 0 && <Diagnostics items={validation.errors} />}
      <dl class="facts small">
        <dt>Profile</dt>
        <dd>{row.execution_profile.id} {row.execution_profile.version}</dd>
        {recipe && (
          <>
            <dt>Steps</dt>
            <dd>{recipe.step_count}</dd>
          </>
        )}
        {source && (
          <>
            <dt>Source</dt>
            <dd>
              {source.kind === "packaged_builtin" ? "built-in" : "project"} <code>{source.reference}</code>{" "}
              <Digest text={source.digest} />
            </dd>
          </>
        )}
        {run_readiness && (
          <>
            <dt>To run</dt>
            <dd>
              {run_readiness.ready
                ? <StateMark state="ready" word="everything is here" />
                : <StateMark state="unavailable" word={`missing ${missingOf(run_readiness.missing)}`} />}
            </dd>
          </>
        )}
      </dl>
      {row.available && (
        <div class="row">
          <button type="button" class="primary" onClick={onStart}>Start from it</button>
          {current !== null && <button type="button" onClick={onReplace}>Replace {nameOf(current)} …</button>}
          <CopyCommand command={commandOf("template", "instantiate", row.id)} />
        </div>
      )}
    </article>
  );
}

const missingOf = (missing: readonly JsonObject[]) =>
  missing.map((item) => String(item.name ?? item.id ?? item.detail ?? canonicalJson(item))).join(", ");

/** What stays and what goes when a working copy gets another template, before it is done. */
function Replace({ row, copy, onEnd }: { row: TemplateRow; copy: Copy; onEnd: () => void }) {
  const dialog = useRef<HTMLDialogElement>(null);
  const [found, setFound] = useState<{ next: JsonObject; fresh: JsonObject } | null>(null);
  const [problem, setProblem] = useState<string | null>(null);
  useEffect(() => {
    dialog.current!.showModal();
    let wanted = true;
    const instance = (id: string) =>
      post<{ recipe: JsonObject }>("/api/recipe-templates/instantiate", { template_id: id }).then(({ recipe }) =>
        recipe
      );
    const origin = (copy.recipe.metadata as JsonObject | undefined)?.template_provenance as JsonObject | undefined;
    const began = typeof origin?.template_id === "string"
      ? instance(origin.template_id).catch(() => undefined)
      : undefined;
    Promise.all([instance(row.id), began]).then(([fresh, previous]) => {
      const whole = (recipe: JsonObject) => ({ metadata: {}, steps: [], ...recipe });
      const replaced = replaceWorkingCopy(
        whole(copy.recipe) as never,
        whole(fresh) as never,
        previous && whole(previous) as never,
      );
      if (wanted) setFound({ next: replaced as JsonObject, fresh });
    }, (error) => wanted && setProblem(error.message));
    return () => wanted = false;
  }, []);
  const next = found?.next ?? null, kept = found === null ? [] : keptFields(found.fresh, found.next);
  return (
    <dialog ref={dialog} aria-labelledby="replace-title" onClose={onEnd}>
      <h2 id="replace-title">Replace {nameOf(copy)} by {row.label}</h2>
      {problem !== null
        ? <p class="notice" data-tone="error" role="alert">{problem}</p>
        : next === null
        ? <p class="muted">Reading the template</p>
        : (
          <>
            <p>
              All {stepsOf(copy.recipe).length} blocks go, {stepsOf(next).length}{" "}
              of the template come. Undo brings back what was there.
            </p>
            <h3>What stays</h3>
            {kept.length === 0
              ? <p class="muted">Nothing of its own: every field was the template's</p>
              : (
                <dl class="facts">
                  {kept.map(([name, value]) => (
                    <>
                      <dt>{name}</dt>
                      <dd class="mono">{value}</dd>
                    </>
                  ))}
                </dl>
              )}
          </>
        )}
      <div class="row dialog-end">
        <button type="button" onClick={() => dialog.current!.close()}>Keep it</button>
        <button
          type="button"
          class="primary"
          disabled={next === null}
          onClick={() => {
            edit(copy.id, next!);
            if (copies.value.some(({ id }) => id === copy.id)) activeId.value = copy.id;
            dialog.current!.close();
            go("editor");
          }}
        >
          Replace
        </button>
      </div>
    </dialog>
  );
}

/** Identity and protocol of the author: where the replaced copy differs from the template as it comes. */
function keptFields(fresh: JsonObject, replaced: JsonObject): [name: string, value: string][] {
  const told = (value: unknown) => typeof value === "string" ? value : canonicalJson(value as JsonObject);
  const own = (of: JsonObject, plain: JsonObject, keys: string[], prefix: string): [string, string][] =>
    keys.filter((key) => of[key] !== undefined && (plain[key] === undefined || told(of[key]) !== told(plain[key])))
      .map((key) => [prefix + key, told(of[key])]);
  const [is, plain] = [replaced.metadata, fresh.metadata].map((value) => (value ?? {}) as JsonObject);
  return [
    ...own(replaced, fresh, ["name", "description", "suite"], ""),
    ...own(is, plain, Object.keys(is), "metadata."),
  ];
}
