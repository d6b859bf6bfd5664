// deno-lint-ignore-file jsx-key -- elements in tuples of columns and facts are not lists
/** Templates of recipes: a gallery by task, each with the findings of its present inspection. */
import { canonicalJson } from "../../lib/contract/json.ts";
import type { JsonObject } from "../../lib/contract/value.ts";
import { replaceWorkingCopy } from "../../lib/template/working_copy.ts";
import { ask, messageOf, type Reply } from "../api.ts";
import { commandOf, CopyCommand } from "../copy_command.tsx";
import { GraphPreview } from "../graph/preview.tsx";
import {
  Diagnostics,
  Dialog,
  Digest,
  Facts,
  Filters,
  Page,
  Section,
  Select,
  Shown,
  StateMark,
  Trouble,
  Wait,
} from "../parts.tsx";
import { useEffect, useState } from "../preact.ts";
import { go, place, refine } from "../router.ts";
import { active, activeId, copies, type Copy, edit, nameOf, openTemplate, restore, stepsOf } from "../state/copies.ts";
import { useFetched, useLoaded } from "../state/fetched.ts";

type Catalogue = Reply<"/api/recipe-templates">;
type TemplateRow = Catalogue["templates"][number];

export default function Templates() {
  const found = useFetched("/api/recipe-templates");
  // A replacement needs the open recipes.
  useEffect(() => void restore().catch(() => {}), []);
  return (
    <Page title="Templates" actions={<button type="button" onClick={found.again}>Refresh</button>}>
      {found.value === null ? <Wait of={found} what="the templates" /> : <Gallery catalogue={found.value} />}
    </Page>
  );
}

function Gallery({ catalogue: { status, templates } }: { catalogue: Catalogue }) {
  const [chosen, setChosen] = useState<TemplateRow | null>(null);
  const [problem, setProblem] = useState<string | null>(null);
  const wanted = place.value.query.get("show") ?? "", typed = place.value.query.get("q") ?? "";
  const rows = templates.filter((row) =>
    (wanted === "" || (wanted === "usable" ? row.available : row.validation.status === wanted)) &&
    `${row.id} ${row.label} ${row.recipe?.description ?? ""}`.toLowerCase().includes(typed.toLowerCase())
  );
  const usable = templates.filter(({ available }) => available).length, current = active();
  const start = async (row: TemplateRow) => {
    setProblem(null);
    try {
      await openTemplate(row.id);
      go("editor");
    } catch (error) {
      setProblem(messageOf(error));
    }
  };
  return (
    <>
      <p class="row">
        <StateMark state={status} word={`Catalogue ${status}`} />
        <span class="muted">
          {usable} of {templates.length}{" "}
          are usable. A file of the same name in recipes/ takes the place of a built-in template.
        </span>
      </p>
      <Trouble text={problem} />
      <Filters>
        <Select<string>
          label="Show"
          value={wanted}
          options={[["", "all"], "usable", "unavailable", "invalid"]}
          onChoose={(show) => refine({ show })}
        />
      </Filters>
      {rows.length === 0 && (
        <p class="empty">
          No template matches.{" "}
          <button type="button" onClick={() => refine({ q: undefined, show: undefined })}>Show all</button>
        </p>
      )}
      {[...new Set(rows.map(({ task_id }) => task_id))].map((task) => (
        <Section key={task} title={task.replaceAll("_", " ")}>
          <div class="cards">
            {rows.filter(({ task_id }) =>
              task_id === task
            ).map((row) => (
              <Card
                key={row.id}
                row={row}
                current={current}
                onStart={() => start(row)}
                onReplace={() => setChosen(row)}
              />
            ))}
          </div>
        </Section>
      ))}
      {chosen !== null && current !== null && <Replace row={chosen} copy={current} onClose={() => setChosen(null)} />}
    </>
  );
}

interface CardProps {
  row: TemplateRow;
  current: Copy | null;
  onStart(): void;
  onReplace(): void;
}

function Card({ row, current, onStart, onReplace }: CardProps) {
  const { validation, source, recipe, run_readiness: readiness, execution_profile: profile } = row;
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
      {recipe && <GraphPreview steps={recipe.steps} />}
      {recipe?.description && <p>{recipe.description}</p>}
      {validation.errors.length > 0 && <Diagnostics items={validation.errors} />}
      {readiness && !readiness.ready && (
        <StateMark
          state="unavailable"
          word={`needs ${missingOf(readiness.missing)}`}
        />
      )}
      <details class="small" open={!row.available}>
        <summary>Details</summary>
        <Facts
          of={[
            ["Template", <code>{row.id}</code>],
            ["Profile", `${profile.id} ${profile.version}`],
            recipe && ["Steps", recipe.step_count],
            source && [
              "Source",
              (
                <>
                  {source.kind === "packaged_builtin" ? "built-in" : "project"} <code>{source.reference}</code>{" "}
                  <Digest text={source.digest} />
                </>
              ),
            ],
          ]}
        />
      </details>
      {row.available && (
        <div class="row">
          <button type="button" class="primary" onClick={onStart}>Open</button>
          {current !== null && <button type="button" onClick={onReplace}>Replace {nameOf(current)} …</button>}
          <CopyCommand command={commandOf("template", "instantiate", row.id)} />
        </div>
      )}
    </article>
  );
}

const missingOf = (missing: readonly JsonObject[]) =>
  missing.map((item) => String(item.name ?? item.id ?? item.detail ?? canonicalJson(item))).join(", ");

const instanceOf = async (id: string, signal: AbortSignal): Promise<JsonObject> =>
  (await ask("/api/recipe-templates/instantiate", { template_id: id }, { signal })).recipe;

/** The fields that stay and the steps that go when a working copy gets another template, before it is done. */
function Replace({ row, copy, onClose }: { row: TemplateRow; copy: Copy; onClose(): void }) {
  const found = useLoaded(async (signal) => {
    const origin = (copy.recipe.metadata as JsonObject | undefined)?.template_provenance as JsonObject | undefined;
    const began = typeof origin?.template_id === "string"
      ? instanceOf(origin.template_id, signal).catch(() => undefined)
      : undefined;
    const [fresh, previous] = await Promise.all([instanceOf(row.id, signal), began]);
    const whole = (recipe: JsonObject) => ({ metadata: {}, steps: [], ...recipe }) as never;
    const next = replaceWorkingCopy(whole(copy.recipe), whole(fresh), previous && whole(previous)) as JsonObject;
    return { next, kept: keptFields(fresh, next) };
  }, `${copy.id} ${row.id}`);
  const replace = () => {
    edit(copy.id, found.value!.next);
    if (copies.value.some(({ id }) => id === copy.id)) activeId.value = copy.id;
    onClose();
    go("editor");
  };
  return (
    <Dialog title={`Replace ${nameOf(copy)} by ${row.label}`} onClose={onClose}>
      <Shown of={found} what="the template">
        {({ next, kept }) => (
          <>
            <p>
              {stepsOf(next).length} blocks of the template replace the {stepsOf(copy.recipe).length}{" "}
              present blocks. Undo restores the recipe.
            </p>
            <h3>Kept fields</h3>
            {kept.length === 0
              ? <p class="muted">None: every field has the value of the template</p>
              : <Facts of={kept} mono="mono" />}
          </>
        )}
      </Shown>
      <div class="row dialog-end">
        <button type="button" onClick={onClose}>Cancel</button>
        <button type="button" class="primary" disabled={found.value === null} onClick={replace}>Replace</button>
      </div>
    </Dialog>
  );
}

/** Identity and protocol of the author: fields in which the replaced copy differs from the template. */
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
