/** Edits of the graph, chosen from a list: the changes and the new graph of each are shown before it is made. */
import type { Edit } from "../../lib/contract/graph_draft.ts";
import {
  type Choice,
  codeChoices,
  insertions,
  insertStep,
  methodChoices,
  replacements,
} from "../../lib/contract/graph_edits.ts";
import { payloadChoices, transmissionChoices } from "../../lib/contract/link_edits.ts";
import { GraphPreview } from "../graph/preview.tsx";
import { ask, type Diagnostic, messageOf } from "../api.ts";
import { Check, Dialog, StateMark } from "../parts.tsx";
import { type ComponentChildren, useEffect, useMemo, useState } from "../preact.ts";
import { address, go } from "../router.ts";
import { contracts, loadContracts } from "../state/contracts.ts";
import { active, activeId, type Copy, edit, nameOf, restore, stepsOf, update } from "../state/copies.ts";
import { checkMode } from "../state/settings.ts";
import { attempt, said } from "./bar.tsx";

/** Makes an edit, as one step of the history, and says what it changed. */
export function perform(copy: Copy, made: Edit): void {
  attempt(() => {
    if ("refused" in made) throw new Error(made.refused);
    edit(copy.id, made.recipe);
    update(copy.id, { selected: made.selected === "" ? null : made.selected });
    said.value = { copyId: copy.id, text: made.changes.join(" · ") };
  });
}

interface Props {
  copy: Copy;
  onClose(): void;
}

/** The code of the link, or of a selected step: encoder and decoder change together. */
export function CodeDialog({ copy, onClose }: Props) {
  const codes = useMemo(() => codesOf(copy), [copy.recipe, copy.selected]);
  return (
    <Choices
      copy={copy}
      title="Code of the link"
      lead={codes === null
        ? "The recipe has no modulator and no link of bits."
        : `Now: ${codes.present}. A choice replaces encoder, decoder and the wire between them.`}
      choices={useChecked(copy, codes?.choices ?? [])}
      onClose={onClose}
    />
  );
}

const codesOf = ({ recipe, selected }: Copy) =>
  codeChoices(recipe, stepsOf(recipe).some(({ id }) => id === selected) ? selected : null, contracts.value);

export function ReplaceDialog({ copy, stepId, onClose }: Props & { stepId: string }) {
  const [contents, transmissions, methods, others] = useMemo(
    () =>
      [payloadChoices, transmissionChoices, methodChoices, replacements].map((find) =>
        find(copy.recipe, stepId, contracts.value)
      ),
    [copy.recipe],
  );
  const whole = [...contents, ...transmissions];
  const lead = whole.length > 0
    ? contents.length > 0
      ? "Another content comes with its coders and metric, through the same link."
      : "Another transmission comes with pilots and receiver, for the same content."
    : others.length === 0
    ? `No other operation fits.${methods.length > 0 ? " A choice changes its method." : ""}`
    : "A codec is replaced on both sides. Parameters are kept where the new operation has them.";
  return (
    <Choices
      copy={copy}
      title={`Replace ${stepId}`}
      lead={lead}
      choices={useChecked(copy, [...whole, ...methods, ...others])}
      onClose={onClose}
    />
  );
}

export function InsertDialog({ copy, stepId, onClose }: Props & { stepId: string }) {
  const [any, setAny] = useState(false);
  const choices = useMemo(() => insertions(copy.recipe, stepId, contracts.value, any), [copy.recipe, any]);
  return (
    <Choices
      copy={copy}
      title={`Insert after ${stepId}`}
      lead="An encoder comes with its decoder at the other end of the link, pilots with estimator and equaliser."
      choices={choices}
      onClose={onClose}
    >
      <Check
        label="All operations, also those whose inputs are wired later"
        look="small"
        checked={any}
        onChange={setAny}
      />
    </Choices>
  );
}

/** A choice with what the server finds in its recipe and not in the present one; undefined until it has checked it. */
type Checked = Choice & { finding?: Pick<Diagnostic, "severity" | "message"> | null };

/** Checks that run side by side. */
const AT_ONCE = 3;

/** The choices as the server checks their recipes: those with warnings behind the others, and those with errors last. */
function useChecked(copy: Copy, choices: readonly Choice[]): Checked[] {
  const [findings, setFindings] = useState<ReadonlyMap<string, Checked["finding"]>>(new Map());
  const known = new Set(copy.verdict?.diagnostics.map(({ message }) => message));
  const names = choices.map(({ name }) => name).join();
  useEffect(() => {
    const stop = new AbortController(), open = [...choices], found = new Map<string, Checked["finding"]>();
    const check = async () => {
      for (let choice = open.shift(); choice !== undefined; choice = open.shift()) {
        if ("refused" in choice.edit) continue;
        const body = { recipe: choice.edit.recipe, mode: checkMode.value };
        const finding = await ask("/api/recipe/check", body, { signal: stop.signal }).then(
          ({ diagnostics }) => worstOf(diagnostics.filter(({ message }) => !known.has(message))),
          (error) => ({ severity: "error" as const, message: messageOf(error) }),
        );
        if (stop.signal.aborted) return;
        setFindings(new Map(found.set(choice.name, finding)));
      }
    };
    setFindings(found);
    for (let at = 0; at < AT_ONCE; at++) void check();
    return () => stop.abort();
  }, [copy.recipe, names]);
  return choices.map((choice) => "refused" in choice.edit ? choice : { ...choice, finding: findings.get(choice.name) })
    .sort((a, b) => rank(a) - rank(b));
}

const worstOf = (found: readonly Diagnostic[]): Diagnostic | null =>
  found.find(({ severity }) => severity !== "warning" && severity !== "info") ??
    found.find(({ severity }) => severity === "warning") ?? null;
const isOut = ({ edit, finding }: Checked): boolean =>
  "refused" in edit || (finding != null && finding.severity !== "warning");
const rank = (choice: Checked): number => isOut(choice) ? 2 : choice.finding?.severity === "warning" ? 1 : 0;
const isOpen = (choice: Checked): boolean => "finding" in choice && choice.finding === undefined;

interface ChoicesProps extends Props {
  title: string;
  lead: string;
  choices: readonly Checked[];
  children?: ComponentChildren;
}

function Choices({ copy, title, lead, choices, onClose, children }: ChoicesProps) {
  const [filter, setFilter] = useState(""), [pointed, setPointed] = useState<string | null>(null);
  const describe = (name: string) => contracts.value.get(name)?.description ?? contracts.value.get(name)?.name ?? "";
  const shown = choices.filter(({ name }) => `${name} ${describe(name)}`.toLowerCase().includes(filter.toLowerCase()));
  const seen = shown.find(({ name }) => name === pointed) ?? shown.find((choice) => !isOut(choice));
  return (
    <Dialog title={title} onClose={onClose}>
      <p>{lead}</p>
      {seen !== undefined && <Preview copy={copy} of={seen} />}
      <label class="hidden-text" for="choice-filter">Filter the choices</label>
      <input
        id="choice-filter"
        class="wide"
        placeholder="Filter"
        value={filter}
        onInput={(event) => setFilter(event.currentTarget.value)}
      />
      {children}
      {shown.length === 0 && <p class="empty">{choices.length === 0 ? "No operation fits." : "No choice matches."}</p>}
      <ul class="choices">
        {shown.map((choice) => (
          <li key={choice.name}>
            {isOut(choice)
              ? (
                <p class="choice muted">
                  {choice.name}: not here. {"refused" in choice.edit ? choice.edit.refused : choice.finding?.message}
                </p>
              )
              : (
                <button
                  type="button"
                  class="choice"
                  disabled={isOpen(choice)}
                  onFocus={() => setPointed(choice.name)}
                  onPointerEnter={() => setPointed(choice.name)}
                  onClick={() => {
                    perform(copy, choice.edit);
                    onClose();
                  }}
                >
                  <span class="mono">{choice.name}</span>
                  {choice.finding
                    ? <StateMark state="warning" word={choice.finding.message} />
                    : <span class="muted clip">{describe(choice.name)}</span>}
                </button>
              )}
          </li>
        ))}
      </ul>
    </Dialog>
  );
}

/** The graph after an edit, with new and replaced steps marked, and the changes. */
function Preview({ copy, of: { name, edit } }: { copy: Copy; of: Choice }) {
  const { recipe, changes } = edit as Extract<Edit, { recipe: unknown }>;
  const steps = useMemo(() =>
    stepsOf(recipe).map((step) => ({
      ...step,
      name: contracts.value.get(step.op)?.name ?? step.op,
    })), [recipe]);
  const before = new Map(stepsOf(copy.recipe).map(({ id, op }) => [id, op]));
  const marked = new Set(steps.filter(({ id, op }) => before.get(id) !== op).map(({ id }) => id));
  return (
    <figure class="edit-preview" aria-label={`Graph with ${name}`}>
      <GraphPreview steps={steps} marked={marked} />
      <figcaption class="small muted">{changes.join(" · ")}</figcaption>
    </figure>
  );
}

/** An operation in the open recipe: the blocks whose place it can take, and those that it can follow. */
export const UseOperation = ({ id }: { id: string }) => (
  <Use id={id}>
    {(copy, onClose) => <Places id={id} title={`Use ${id} in ${nameOf(copy)}`} copy={copy} onClose={onClose} />}
  </Use>
);

interface UseProps {
  /** Of the operation whose recipes are listed. */
  id: string;
  /** The dialog of the open recipe. */
  children(copy: Copy, onClose: () => void): ComponentChildren;
}

/** A dialog on the open recipe, and the recipes with an operation. */
export function Use({ id, children }: UseProps) {
  const [choosing, setChoosing] = useState(false), [problem, setProblem] = useState<string | null>(null);
  const [ready, setReady] = useState(false), copy = active();
  useEffect(() => {
    Promise.all([restore(), loadContracts()]).catch((error) => setProblem(error.message)).then(() => setReady(true));
  }, []);
  return (
    <>
      {!ready && <span aria-busy="true" />}
      {problem !== null && <span class="muted">Cannot read the open recipes: {problem}</span>}
      {copy !== null && contracts.value.size > 0 && (
        <button type="button" onClick={() => setChoosing(true)}>Use in {nameOf(copy)} …</button>
      )}
      <a href={address("templates", [], { q: id })}>Recipes with it</a>
      {choosing && copy !== null && children(copy, () => setChoosing(false))}
    </>
  );
}

interface PlacesProps extends Props {
  /** Of the operation that takes a place. */
  id: string;
  title: string;
  /** Edits that need no other block, before those that do. */
  first?: Choice[];
  /** Completes an edit that brings the operation. */
  complete?(edit: Edit): Edit;
}

/** The places of an operation in a recipe: each choice is made at once, and opens the editor. */
export function Places({ id, title, copy, first = [], complete = (edit) => edit, onClose }: PlacesProps) {
  const { recipe } = copy, known = contracts.value;
  const [replaced, after] = useMemo(() => {
    const steps = stepsOf(recipe);
    return [
      steps.flatMap((step) => replacements(recipe, step.id, known, id).map(({ edit }) => ({ name: step.id, edit }))),
      steps.map((step): Choice => ({ name: step.id, edit: insertStep(recipe, step.id, id, known) })),
    ].map((choices) =>
      choices.filter(({ edit }) => "recipe" in edit).map(({ name, edit }) => ({ name, edit: complete(edit) }))
    );
  }, [recipe, id]);
  const checked = useChecked(copy, replaced), instead = checked.filter((choice) => !isOut(choice));
  const list = (heading: string, choices: Checked[]) =>
    choices.length > 0 && (
      <>
        <h3>{heading}</h3>
        <ul class="choices">
          {choices.map((choice) => (
            <li key={choice.name}>
              <button
                type="button"
                class="choice"
                disabled={isOpen(choice)}
                onClick={() => {
                  activeId.value = copy.id;
                  perform(copy, choice.edit);
                  go("editor");
                }}
              >
                <span class="mono">{choice.name}</span>
                {choice.finding
                  ? <StateMark state="warning" word={choice.finding.message} />
                  : <span class="muted clip">{"changes" in choice.edit && choice.edit.changes.join(" · ")}</span>}
              </button>
            </li>
          ))}
        </ul>
      </>
    );
  return (
    <Dialog title={title} onClose={onClose}>
      {first.length + instead.length + after.length === 0 && <p class="empty">The ports of no block fit.</p>}
      {list("Blocks that run it", first)}
      {list("Replace", instead)}
      {list("Insert after", after)}
    </Dialog>
  );
}
