/** Questions with their answers, and queries with their ranked results. */
import { isObject, type JsonObject, type Value } from "../../../lib/contract/value.ts";
import { useState } from "../../preact.ts";
import { json } from "../fetch_artifact.ts";
import { valueText } from "../metrics.ts";
import { Pager } from "../../pager.tsx";
import { Check, type Column, Hidden, Table } from "../../parts.tsx";
import { TEXTS } from "./texts_view.tsx";
import { view } from "./view.tsx";
import { Sign } from "../../sign.tsx";

/** Rows of a page, and ids of a ranking. */
const SHOWN = 25, RANKS = 5;

const itemsOf = ({ items }: JsonObject): JsonObject[] => Array.isArray(items) ? items.filter(isObject) : [];
const listOf = (value: Value | undefined): string[] => Array.isArray(value) ? value.map(String) : [];

/** Each question with its answer, the expected answer and the verdict. */
export const ANSWERS = view({
  title: "Questions and answers",
  matches({ artifacts, reports }) {
    const report = reports.find(({ document }) => document.operation === "metrics.vqa");
    const questions = artifacts.find(({ kind }) => kind === "vqa.questions.json");
    return report === undefined ? [] : [{ report, questions }];
  },
  keyOf: ({ report }) => report.artifact.path,
  what: "the questions",
  // A file that cannot be read is shown under Artifacts; the answers have the ids of its questions.
  load: async ({ questions }, _, signal) =>
    questions === undefined ? [] : await json<JsonObject>(questions.path, signal).then(itemsOf, () => []),
  figure: (questions, { item: { report } }) => <Answers rows={itemsOf(report.document)} questions={questions} />,
});

function Answers({ rows, questions }: { rows: JsonObject[]; questions: JsonObject[] }) {
  const [wrongOnly, setWrongOnly] = useState(false);
  const asked = new Map(questions.map((item) => [String(item.id), item]));
  const wrong = rows.filter(({ correct }) => correct !== true);
  return (
    <>
      <div class="row view-controls">
        <Check label="Only wrong answers" checked={wrongOnly} onChange={setWrongOnly} />
      </div>
      <p>{rows.length - wrong.length} of {rows.length} answers are right.</p>
      <Pager items={wrongOnly ? wrong : rows} size={SHOWN} what="Answers">
        {(shown) => (
          <Table
            label="Table of answers"
            rows={shown}
            keyOf={({ id }) => String(id)}
            columns={[
              ["Image", ({ id }) => String(asked.get(String(id))?.image_id ?? id), "mono small"],
              ["Question", ({ id }) => String(asked.get(String(id))?.question ?? id)],
              ["Answer", ({ candidate }) => String(candidate)],
              ["Expected", ({ reference }) => String(reference)],
              ["Verdict", ({ correct }) =>
                correct === true
                  ? (
                    <span class="state" data-tone="ok">
                      <Sign of="✓" /> right
                    </span>
                  )
                  : (
                    <span class="state" data-tone="error">
                      <Sign of="✕" /> wrong
                    </span>
                  )],
            ]}
          />
        )}
      </Pager>
    </>
  );
}

/** The first results of each query, with scores; relevant ones are marked. */
export const RANKINGS = view({
  title: "Rankings",
  matches({ artifacts }) {
    const rankings = artifacts.find(({ kind }) => kind === "retrieval.rankings.json");
    const texts = artifacts.findLast(({ kind }) => kind === TEXTS);
    return rankings === undefined ? [] : [{ rankings, texts }];
  },
  keyOf: ({ rankings }) => rankings.path,
  what: "the rankings",
  load: ({ rankings, texts }, _, signal) =>
    Promise.all(
      [rankings, texts].map(async (one) => one === undefined ? [] : itemsOf(await json<JsonObject>(one.path, signal))),
    ),
  figure: ([ranked, asked]) => <RankingTable ranked={ranked} asked={asked} />,
});

function RankingTable({ ranked, asked }: { ranked: JsonObject[]; asked: JsonObject[] }) {
  const textOf = new Map(asked.map(({ id, text }) => [String(id), String(text ?? "")]));
  const rows = ranked.map((item): Ranking => {
    const ids = listOf(item.ranked_ids), relevant = new Set(listOf(item.relevant_ids));
    const place = ids.findIndex((id) => relevant.has(id));
    return { id: String(item.id), ids, relevant, rank: place < 0 ? null : place + 1, scores: item.scores };
  });
  const first = rows.filter(({ rank }) => rank === 1).length;
  return (
    <>
      <p>
        For {first} of {rows.length} queries the first result is relevant, marked{" "}
        <Sign of="✓" />. Numbers are similarities.
      </p>
      <Pager items={rows} size={SHOWN} what="Queries">
        {(shown) => (
          <Table
            label="Table of rankings"
            rows={shown}
            keyOf={({ id }) => id}
            columns={[
              ["Query", ({ id }) => (
                <>
                  {textOf.get(id) ?? ""} <div class="mono small muted">{id}</div>
                </>
              )],
              ["Rank", ({ rank }) => rank ?? "–", "number mono"],
              ...Array.from(
                { length: RANKS },
                (_, at): Column<Ranking> => [at + 1, (row) => <Ranked of={row} at={at} />],
              ),
            ]}
          />
        )}
      </Pager>
    </>
  );
}

interface Ranking {
  id: string;
  ids: string[];
  relevant: ReadonlySet<string>;
  /** Of the first relevant result, from 1. */
  rank: number | null;
  scores: Value | undefined;
}

/** One result of a ranking with its score. */
function Ranked({ of: { ids, relevant, scores }, at }: { of: Ranking; at: number }) {
  const id = ids[at];
  return (
    <>
      {relevant.has(id)
        ? (
          <strong>
            <Sign of="✓" />
            <Hidden>relevant:</Hidden> {id}
          </strong>
        )
        : id ?? ""}
      <div class="mono small muted">{Array.isArray(scores) && id !== undefined ? valueText(scores[at]) : ""}</div>
    </>
  );
}
