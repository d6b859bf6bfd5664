// deno-lint-ignore-file jsx-key -- elements in tuples of columns and facts are not lists
/** The gallery: templates and recipes in one list by task, with filters, search and the stored result of each. */
import { canonicalJson } from "../../lib/contract/json.ts";
import type { JsonObject } from "../../lib/contract/value.ts";
import { numberText } from "../../lib/figure/number_text.ts";
import { unitText } from "../../lib/figure/unit_text.ts";
import { replaceWorkingCopy } from "../../lib/template/working_copy.ts";
import { ask, get, messageOf } from "../api.ts";
import { MiniCurve } from "../charts/mini_curve.tsx";
import { typeset } from "../charts/typeset.tsx";
import { commandOf, CopyCommand } from "../copy_command.tsx";
import {
  type Card,
  cardsOf,
  choicesOf,
  GROUP_TITLES,
  groupOf,
  matching,
  NONE,
  type Wanted,
  wordsOf,
} from "../gallery/cards.ts";
import { Film, pictureAt } from "../gallery/film.tsx";
import { figureOf, type GalleryResult, givesOf, numbersOf, pictureNameOf, resultOf } from "../gallery/results.ts";
import { GraphPreview } from "../graph/preview.tsx";
import { Diagnostics, Dialog, Facts, Filters, Page, Section, Select, Shown, StateMark, Trouble } from "../parts.tsx";
import { useEffect, useState, whenIdle } from "../preact.ts";
import { go, place, refine } from "../router.ts";
import { contracts, loadContracts } from "../state/contracts.ts";
import {
  active,
  activeId,
  copies,
  type Copy,
  edit,
  nameOf,
  openFile,
  openTemplate,
  restore,
  stepsOf,
} from "../state/copies.ts";
import { useFetched, useLoaded } from "../state/fetched.ts";

const FILTERS = ["task", "channel", "code", "learned"] as const;

/** Cards of a task that are shown at first: the page keeps its length as recipes are added. */
const FOLDED = 20;
/** The next task comes after this time at the latest. */
const TASK_AFTER_MS = 100;

export default function Gallery() {
  const found = useFetched("/api/recipes"), cards = cardsOf(found.value?.recipes ?? null);
  const [details, setDetails] = useState<Card | null>(null), [replacing, setReplacing] = useState<Card | null>(null);
  const [problem, setProblem] = useState<string | null>(null);
  // A replacement needs the open recipes.
  useEffect(() => void restore().catch(() => {}), []);
  const { query } = place.value, chosen = (name: string) => query.get(name) ?? "";
  const wanted = { text: chosen("q"), ...Object.fromEntries(FILTERS.map((name) => [name, chosen(name)])) } as Wanted;
  const narrowed = FILTERS.some((name) => wanted[name] !== "");
  const [unfolded, setUnfolded] = useState<ReadonlySet<string>>(new Set());
  // The first painting has the cards in sight; the other tasks follow one by one.
  const [tasks, setTasks] = useState(1);
  useEffect(() => {
    if (tasks < GROUP_TITLES.length) whenIdle(() => setTasks(tasks + 1), { timeout: TASK_AFTER_MS });
  }, [tasks]);
  const shown = matching(cards, wanted), current = active();
  const open = async (card: Card) => {
    setProblem(null);
    try {
      await (opensAsTemplate(card) ? openTemplate(card.template!) : openFile(card.path));
      go("editor");
    } catch (error) {
      setProblem(messageOf(error));
    }
  };
  const list = (of: readonly Card[], shelf = false) => (
    <div class={shelf ? "gallery shelf" : "gallery"}>
      {of.map((card) => (
        <CardRow
          key={card.template ?? card.path}
          card={card}
          onOpen={() => open(card)}
          onDetails={() => setDetails(card)}
        />
      ))}
    </div>
  );
  const own = shown.filter((card) => card.own), others = shown.filter((card) => !card.own);
  const filter = (name: typeof FILTERS[number], label: string, options: (readonly [string, string])[]) => (
    <Select<string>
      label={label}
      value={wanted[name]}
      options={[["", "all"], ...options]}
      onChoose={(value) =>
        refine({ [name]: value })}
    />
  );
  const same = (values: string[]) => [...values.map((value) => [value, value] as const), [NONE, "none"] as const];
  return (
    <Page title="Gallery" actions={<button type="button" onClick={found.again}>Refresh</button>}>
      <Filters found={`${shown.length} of ${cards.length}`}>
        {filter("task", "Task", GROUP_TITLES.map((title) => [title, title]))}
        {filter("channel", "Channel", same(choicesOf(cards, "channels")))}
        {filter("code", "Code", same(choicesOf(cards, "codes")))}
        {filter("learned", "Networks", [["learned", "with a trained one"], ["plain", "without"]])}
      </Filters>
      <Trouble text={problem ?? found.problem} />
      {shown.length === 0 && (
        <p class="empty">
          No recipe matches.{" "}
          <button type="button" onClick={() => refine(Object.fromEntries(["q", ...FILTERS].map((name) => [name, ""])))}>
            Show all
          </button>
        </p>
      )}
      {wanted.text !== "" ? list(shown) : (
        <>
          <Section title="Recipes of this project" look="gallery-own">
            {own.length > 0 ? list(own, true) : (
              <p class="muted">
                {found.value === null ? "Reading recipes/" : "None. Save puts the open recipe into recipes/."}
              </p>
            )}
          </Section>
          {GROUP_TITLES.slice(0, tasks).map((title) => {
            const members = others.filter((card) => groupOf(card) === title);
            const folded = narrowed || unfolded.has(title) ? members : members.slice(0, FOLDED);
            return members.length > 0 && (
              <Section
                key={title}
                title={title}
                actions={folded.length < members.length && (
                  <button
                    type="button"
                    onClick={() => setUnfolded(new Set([...unfolded, title]))}
                  >
                    Show all {members.length}
                  </button>
                )}
              >
                {list(folded)}
              </Section>
            );
          })}
        </>
      )}
      {details !== null && (
        <Details
          card={details}
          current={current}
          onClose={() => setDetails(null)}
          onOpen={() => open(details)}
          onReplace={() => {
            setReplacing(details);
            setDetails(null);
          }}
        />
      )}
      {replacing !== null && current !== null && (
        <Replace
          card={replacing}
          copy={current}
          onClose={() => setReplacing(null)}
        />
      )}
    </Page>
  );
}

/** A broken file of the project is opened as it is, to be repaired. */
const opensAsTemplate = ({ template, row }: Card) => template !== null && row?.status !== "invalid";

const missingOf = ({ row }: Card): string =>
  (row?.run_readiness?.missing ?? []).map((item) => String(item.name ?? item.id ?? canonicalJson(item))).join(", ");

interface RowProps {
  card: Card;
  onOpen(): void;
  onDetails(): void;
}

function CardRow({ card, onOpen, onDetails }: RowProps) {
  const result = resultOf(card), missing = missingOf(card);
  const facts = [
    result?.none ?? givesOf(card, result),
    ...card.codes,
    ...card.channels,
    card.learned && "trained network",
  ].filter(Boolean).join(" · ");
  return (
    <article class="gallery-card" aria-label={card.title}>
      <Thumbnail card={card} result={result} />
      <div class="gallery-text">
        <button type="button" class="gallery-open" title={card.title} onClick={onOpen}>{typeset(card.title)}</button>
        <span class="muted clip" title={facts}>
          {card.row?.status === "invalid"
            ? <StateMark state="invalid" />
            : missing !== ""
            ? <StateMark state="unavailable" word={`needs ${missing}`} />
            : typeset(facts)}
        </span>
      </div>
      <button type="button" class="quiet" aria-label={`Details of ${card.title}`} title="Details" onClick={onDetails}>
        …
      </button>
    </article>
  );
}

function Thumbnail({ card, result }: { card: Card; result: GalleryResult | null }) {
  if (result?.film) return <Frame of={card.path} film={result.film} />;
  const figure = result && figureOf(result);
  if (figure) return <MiniCurve figure={figure} small picture={`${givesOf(card, result)}, stored`} />;
  const [, [mean = null, , , bound] = []] = result?.numbers?.[0] ?? [];
  return (
    <span class="gallery-number" aria-hidden="true">
      {result?.metric === undefined
        ? ""
        : bound === undefined
        ? numberText(mean, "unicode", 3)
        : `≤ ${numberText(bound, "unicode", 2)}`}
      {result?.metric && <span class="small muted">{unitText(result.metric[1])}</span>}
    </span>
  );
}

/** The middle one of the images that were received. */
function Frame({ of, film: [width, height, ...at] }: { of: string; film: NonNullable<GalleryResult["film"]> }) {
  const frames = Math.max(1, at.length), shown = Math.floor(frames / 2);
  return (
    <span class="gallery-film">
      <img
        src={pictureAt(pictureNameOf(of))}
        alt="An image as received, stored"
        loading="lazy"
        style={{ aspectRatio: `${width / frames / height}`, objectPosition: `${100 * shown / (frames - 1 || 1)}% 0` }}
      />
    </span>
  );
}

/** The images of a recipe as received over its swept parameter. */
function Received({ path, film: [width, height, ...at], result: { x } }: {
  path: string;
  film: NonNullable<GalleryResult["film"]>;
  result: GalleryResult;
}) {
  const values = at.map((value) => numberText(value, "unicode", 3)), unit = unitText(x?.[1] ?? "");
  return (
    <Film
      src={pictureAt(pictureNameOf(path))}
      size={[width, height]}
      alt={`An image as received${x ? ` at ${x[0]} ${values.join(", ")} ${unit}` : ""}, stored`}
      values={values.map((value) => `${value} ${unit}`.trim())}
    />
  );
}

interface DetailsProps {
  card: Card;
  current: Copy | null;
  onClose(): void;
  onOpen(): void;
  onReplace(): void;
}

function Details({ card, current, onClose, onOpen, onReplace }: DetailsProps) {
  const { row, template, path, title, description } = card, result = resultOf(card), missing = missingOf(card);
  useEffect(() => void loadContracts().catch(() => {}), []);
  const valid = row?.status !== "invalid";
  const found = useLoaded((signal) => get("/api/recipe", { query: { path }, signal }), valid ? path : null);
  const figure = result && figureOf(result);
  return (
    <Dialog title={title} onClose={onClose}>
      {description !== null && description !== title && <p>{description}</p>}
      {figure && <MiniCurve figure={figure as never} picture={`${title}: ${givesOf(card, result)}, stored`} />}
      {result?.film && <Received path={path} result={result} film={result.film} />}
      {result?.none && <p class="muted">No stored result: {result.none}</p>}
      {result?.numbers && (
        <Facts
          of={numbersOf(result).map(([label, text]) => [[result.metric![0], label].filter(Boolean).join(", "), text])}
        />
      )}
      {row && row.diagnostics.length > 0 && <Diagnostics items={row.diagnostics} />}
      {missing !== "" && <StateMark state="unavailable" word={`needs ${missing}`} />}
      {valid && (
        <div class="preview-place">
          <Shown of={found} what="the recipe">
            {({ recipe }) => (
              <GraphPreview
                steps={stepsOf(recipe).map((step) => ({
                  ...step,
                  name: contracts.value.get(step.op)?.name ?? step.op,
                }))}
              />
            )}
          </Shown>
        </div>
      )}
      <Facts
        of={[
          ["Gives", card.gives ?? "–"],
          ["Task", card.task === null ? "–" : wordsOf(card.task)],
          card.codes.length > 0 && ["Code", card.codes.join(", ")],
          card.channels.length > 0 && ["Channel", card.channels.join(", ")],
          [
            "Source",
            (
              <>
                {row === null || row.place === "program" ? "built-in" : "project"} <code>{path}</code>
                {!path.startsWith("recipes/") &&
                  ". Save makes a copy in recipes/: the digest of an adapter covers the files beside it"}
              </>
            ),
          ],
          template !== null && ["Template", <code>{template}</code>],
        ]}
      />
      <div class="row dialog-end">
        <CopyCommand
          command={template === null
            ? commandOf("recipe", "run", path)
            : commandOf("template", "instantiate", template)}
        />
        {current !== null && valid && <button type="button" onClick={onReplace}>Replace {nameOf(current)} …</button>}
        <button type="button" class="primary" onClick={onOpen}>Open</button>
      </div>
    </Dialog>
  );
}

const instanceOf = async (id: string, signal: AbortSignal): Promise<JsonObject> =>
  (await ask("/api/recipe-templates/instantiate", { template_id: id }, { signal })).recipe;

/** The fields that stay and the steps that go when a working copy gets another recipe, before it is done. */
function Replace({ card, copy, onClose }: { card: Card; copy: Copy; onClose(): void }) {
  const found = useLoaded(async (signal) => {
    const origin = (copy.recipe.metadata as JsonObject | undefined)?.template_provenance as JsonObject | undefined;
    const began = typeof origin?.template_id === "string"
      ? instanceOf(origin.template_id, signal).catch(() => undefined)
      : undefined;
    const chosen = card.template !== null
      ? instanceOf(card.template, signal)
      : get("/api/recipe", { query: { path: card.path }, signal }).then(({ recipe }) => recipe);
    const [fresh, previous] = await Promise.all([chosen, began]);
    const whole = (recipe: JsonObject) => ({ metadata: {}, steps: [], ...recipe }) as never;
    const next = replaceWorkingCopy(whole(copy.recipe), whole(fresh), previous && whole(previous)) as JsonObject;
    return { next, kept: keptFields(fresh, next) };
  }, `${copy.id} ${card.path}`);
  const replace = () => {
    edit(copy.id, found.value!.next);
    if (copies.value.some(({ id }) => id === copy.id)) activeId.value = copy.id;
    onClose();
    go("editor");
  };
  return (
    <Dialog title={`Replace ${nameOf(copy)} by ${card.title}`} onClose={onClose}>
      <Shown of={found} what="the recipe">
        {({ next, kept }) => (
          <>
            <p>
              {stepsOf(next).length} blocks of the recipe replace the {stepsOf(copy.recipe).length}{" "}
              present blocks. Undo restores the recipe.
            </p>
            <h3>Kept fields</h3>
            {kept.length === 0
              ? <p class="muted">None: every field has the value of the recipe</p>
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

/** Identity and protocol of the author: fields in which the replaced copy differs from the new one. */
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
