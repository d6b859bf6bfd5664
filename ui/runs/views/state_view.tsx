/** Semantic states, sent against received: omitted facts, and facts that the source does not state. */
import type { JsonObject } from "../../../lib/contract/value.ts";
import { useState } from "../../preact.ts";
import { type Artifact, artifactsOf } from "../documents.ts";
import { json } from "../fetch_artifact.ts";
import { Pager } from "../../pager.tsx";
import { Check } from "../../parts.tsx";
import { inputsOf, readRecipe } from "./recipe_inputs.ts";
import { countOf, type Mark, type StateDiff, stateDiffs } from "./state_diff.ts";
import { view } from "./view.tsx";

const SIGNS = { kept: "", omitted: "−", unsupported: "+" } as const;
const WORDS = { kept: "", omitted: "omitted: ", unsupported: "unsupported: " } as const;
/** Examples of a page. */
const SHOWN = 10;

export const STATES = view({
  title: "Meaning",
  matches: ({ reports }) =>
    reports.filter(({ document }) => document.operation === "metrics.semantic_state_faithfulness"),
  keyOf: ({ artifact }) => artifact.path,
  menu: { label: "Report", textOf: ({ artifact }) => artifact.step },
  what: "the states",
  async load({ artifact, document }, _, signal, summary) {
    const inputs = inputsOf(await readRecipe(summary, signal), artifact.step, artifactsOf(summary));
    const reference: Artifact | undefined = inputs.reference;
    return stateDiffs(reference === undefined ? null : await json<JsonObject>(reference.path, signal), document);
  },
  figure: (value) => <States value={value} />,
});

function States({ value }: { value: StateDiff[] }) {
  const [changed, setChanged] = useState(true);
  const differs = (diff: StateDiff) =>
    [...diff.concepts, ...diff.entities, ...diff.facts].some(({ fate }) => fate !== "kept");
  const wanted = changed ? value.filter(differs) : value;
  const facts = value.flatMap(({ facts }) => facts);
  return (
    <>
      <div class="row view-controls">
        <Check label="Only differences" checked={changed} onChange={setChanged} />
      </div>
      <p data-facts={`${countOf(facts, "omitted")} ${countOf(facts, "unsupported")}`}>
        Of the facts of {value.length} examples {countOf(facts, "kept")} were kept,{" "}
        <del>{countOf(facts, "omitted")} omitted</del> and{" "}
        <ins>{countOf(facts, "unsupported")} unsupported</ins>: stated by the receiver and not by the source.
      </p>
      {wanted.length === 0 && <p class="empty">All states equal their source.</p>}
      <Pager items={wanted} size={SHOWN} what="Examples">
        {(shown) => (
          <ul class="text-diffs">
            {shown.map((diff) => (
              <li key={diff.id}>
                <div class="row">
                  <code>{diff.id}</code>
                  <span class="muted small">
                    {countOf(diff.facts, "kept")} of {diff.facts.length - countOf(diff.facts, "unsupported")} facts kept
                  </span>
                </div>
                {diff.source !== null && <p class="muted">{diff.source}</p>}
                <Marks title="Facts" marks={diff.facts} />
                <Marks title="Entities" marks={diff.entities} />
                <Marks title="Concepts" marks={diff.concepts} />
              </li>
            ))}
          </ul>
        )}
      </Pager>
    </>
  );
}

function Marks({ title, marks }: { title: string; marks: Mark[] }) {
  if (marks.length === 0) return null;
  return (
    <div class="marks">
      <span class="muted small">{title}</span>
      <ul>
        {marks.map(({ fate, text }, index) => {
          const words = (
            <>
              <span aria-hidden="true">{SIGNS[fate]}</span>
              <span class="hidden-text">{WORDS[fate]}</span>
              {text}
            </>
          );
          return (
            <li key={index} data-fate={fate}>
              {fate === "omitted" ? <del>{words}</del> : fate === "unsupported" ? <ins>{words}</ins> : text}
            </li>
          );
        })}
      </ul>
    </div>
  );
}
