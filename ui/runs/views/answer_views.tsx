/** Questions with their answers, and queries with their ranked results. */
import { isObject, type JsonObject, type Value } from "../../../lib/contract/value.ts";
import { useState } from "../../preact.ts";
import type { Artifact } from "../documents.ts";
import { json } from "../fetch_artifact.ts";
import { useLoaded } from "../../state/fetched.ts";
import { valueText } from "../metrics.ts";
import { Pager } from "../../pager.tsx";
import { Check, type Column, Hidden, Table, Wait } from "../../parts.tsx";
import { ViewPanel } from "./parts.tsx";
import type { Report } from "./use_reports.ts";
import { Sign } from "../../sign.tsx";

/** Rows of a page, and ids of a ranking. */
const SHOWN = 25, RANKS = 5;

const itemsOf = ({ items }: JsonObject): JsonObject[] => Array.isArray(items) ? items.filter(isObject) : [];
const listOf = (value: Value | undefined): string[] => Array.isArray(value) ? value.map(String) : [];

export const isAnswers = ({ document }: Report): boolean => document.operation === "metrics.vqa";

/** Each question with its answer, the expected answer and the verdict. */
export function AnswerView({ report, questions }: { report: Report; questions: Artifact | undefined }) {
  const [wrongOnly, setWrongOnly] = useState(false);
  const { value } = useLoaded(
    async (signal) => questions === undefined ? null : itemsOf(await json<JsonObject>(questions.path, signal)),
    questions?.path ?? "",
  );
  const asked = new Map((value ?? []).map((item) => [String(item.id), item]));
  const rows = itemsOf(report.document), wrong = rows.filter(({ correct }) => correct !== true);
  return (
    <ViewPanel
      title="Questions and answers"
      controls={<Check label="Only wrong answers" checked={wrongOnly} onChange={setWrongOnly} />}
    >
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
    </ViewPanel>
  );
}

/** The first results of each query, with scores; relevant ones are marked. */
export function RankingView({ rankings, texts }: { rankings: Artifact; texts: Artifact | undefined }) {
  const { value, ...wait } = useLoaded(async (signal) => {
    const [ranked, asked] = await Promise.all([
      json<JsonObject>(rankings.path, signal),
      texts === undefined ? null : json<JsonObject>(texts.path, signal),
    ]);
    return { ranked: itemsOf(ranked), asked: asked === null ? [] : itemsOf(asked) };
  }, rankings.path);
  if (value === null) {
    return (
      <ViewPanel title="Rankings">
        <Wait of={wait} what="the rankings" />
      </ViewPanel>
    );
  }
  const textOf = new Map(value.asked.map(({ id, text }) => [String(id), String(text ?? "")]));
  const rows = value.ranked.map((item): Ranking => {
    const ids = listOf(item.ranked_ids), relevant = new Set(listOf(item.relevant_ids));
    const place = ids.findIndex((id) => relevant.has(id));
    return { id: String(item.id), ids, relevant, rank: place < 0 ? null : place + 1, scores: item.scores };
  });
  const first = rows.filter(({ rank }) => rank === 1).length;
  return (
    <ViewPanel title="Rankings">
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
    </ViewPanel>
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
