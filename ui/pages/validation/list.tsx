/** All validation cards, filtered by words, operation, verdict or kind of reference, and the operations without a card. */
import type { Reply } from "../../api.ts";
import { MiniCurve } from "../../charts/mini_curve.tsx";
import { typeset } from "../../charts/typeset.tsx";
import { commandOf, CopyCommand } from "../../copy_command.tsx";
import { type Column, Filters, Page, searchWords, Select, Shown, StateMark, Table, Trouble } from "../../parts.tsx";
import { Fragment, useEffect, useState } from "../../preact.ts";
import { address, place, refine } from "../../router.ts";
import { contracts, loadContracts } from "../../state/contracts.ts";
import { useFetched } from "../../state/fetched.ts";

export type CardRow = Reply<"/api/validation/cards">["cards"][number];

const NO_RESULT = "no result";
const verdictOf = ({ latest, needs }: Pick<CardRow, "latest" | "needs">): string =>
  latest?.verdict ?? (needs === undefined ? NO_RESULT : "needs data");

const CHOICES: readonly [name: string, label: string, valuesOf: (card: CardRow) => string[]][] = [
  ["verdict", "Verdict", (card) => [verdictOf(card)]],
  ["reference", "Reference", ({ reference }) => [reference.kind]],
  ["operation", "Operation", ({ operations }) => operations],
];

const text = (word: string) => word.replaceAll("_", " ");

/** The columns of a table of cards. */
export const CARD_COLUMNS: readonly Column<CardRow>[] = [
  ["Card", ({ id, title }) => (
    <>
      <a href={address("validation", [id])}>{typeset(title)}</a>
      <div class="mono small muted">{id}</div>
    </>
  )],
  ["Reference", ({ reference }) => (
    <>
      {text(reference.kind)}
      <div class="small muted">{reference.citation}</div>
    </>
  )],
  [
    "Points within",
    ({ latest }) => latest === null ? "–" : `${latest.within} of ${latest.points}${latest.quick ? " (quick)" : ""}`,
    "number",
  ],
  ["Largest deviation", ({ latest }) => latest?.largest.text ?? "–", "number"],
  ["Verdict", (card) => <StateMark state={verdictOf(card)} />],
];

const CURVE: Column<CardRow> = [
  "Curve",
  ({ title, figure }) =>
    figure == null ? <span class="muted">–</span> : <MiniCurve small figure={figure} picture={`Curve: ${title}`} />,
  "curve",
];

export function CardList() {
  const { query } = place.value, words = searchWords(), chosen = (name: string) => query.get(name) ?? "";
  const found = useFetched("/api/validation/cards", { query: { figures: "true" } });
  const [problem, setProblem] = useState<string | null>(null);
  useEffect(() => void loadContracts().catch((error) => setProblem(error.message)), []);
  return (
    <Page title="Validation" actions={<CopyCommand command={commandOf("validation", "run")} />}>
      <p class="muted">
        Each card has one published curve, table or closed form, and the recipe that measures it. A card is partly
        reproduced when each point outside its tolerance has a cause that was switched.
      </p>
      <Trouble text={problem} />
      <Shown of={found} what="the cards">
        {({ cards }) => {
          const rows = cards.filter((card) =>
            CHOICES.every(([name, , valuesOf]) => chosen(name) === "" || valuesOf(card).includes(chosen(name))) &&
            words.every((word) => `${card.id} ${card.title} ${card.reference.citation}`.toLowerCase().includes(word))
          );
          return (
            <>
              <Filters found={`${rows.length} of ${cards.length}`}>
                {CHOICES.map(([name, label, valuesOf]) => (
                  <Select<string>
                    key={name}
                    label={label}
                    look="narrow"
                    value={chosen(name)}
                    options={[
                      ["", "all"],
                      ...[...new Set(cards.flatMap(valuesOf))].sort().map((one) => [one, text(one)] as const),
                    ]}
                    onChoose={(value) => refine({ [name]: value })}
                  />
                ))}
              </Filters>
              {rows.length === 0 ? <p class="empty">No card matches</p> : (
                <Table
                  label="Validation cards"
                  rows={rows}
                  keyOf={({ id }) => id}
                  attributes={({ id }) => ({ "data-card": id })}
                  columns={[...CARD_COLUMNS.slice(0, 2), CURVE, ...CARD_COLUMNS.slice(2)]}
                />
              )}
              <Unproved cards={cards} />
            </>
          );
        }}
      </Shown>
    </Page>
  );
}

/** Links to operations in one line of text. */
export const OperationLinks = ({ ids }: { ids: readonly string[] }) => (
  <>
    {ids.map((id, at) => (
      <Fragment key={id}>
        {at > 0 && ", "}
        <a class="mono small" href={address("catalog", ["operations", id])}>{id}</a>
      </Fragment>
    ))}
  </>
);

function Unproved({ cards }: { cards: readonly CardRow[] }) {
  const proved = new Set(cards.flatMap(({ operations }) => operations));
  const ids = [...contracts.value.keys()].filter((id) => !proved.has(id));
  if (ids.length === 0) return null;
  return (
    <details>
      <summary>{ids.length} of {contracts.value.size} operations have no card</summary>
      <p>
        <OperationLinks ids={ids} />
      </p>
    </details>
  );
}
