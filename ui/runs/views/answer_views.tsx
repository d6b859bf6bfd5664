/** Questions with what was answered, and queries with what was found for them. */
import { isObject, type JsonObject, type Value } from "../../../lib/contract/value.ts";
import { useState } from "../../preact.ts";
import type { Artifact } from "../documents.ts";
import { json, useLoaded } from "../fetch_artifact.ts";
import { valueText } from "../metrics.ts";
import { ViewPanel, ViewWait } from "./parts.tsx";
import type { Report } from "./report_views.tsx";

/** Rows that are shown at once, and ids of a ranking. */
const SHOWN = 100, RANKS = 5;

const itemsOf = ({ items }: JsonObject): JsonObject[] => Array.isArray(items) ? items.filter(isObject) : [];
const listOf = (value: Value | undefined): string[] => Array.isArray(value) ? value.map(String) : [];

export const isAnswers = ({ document }: Report): boolean => document.operation === "metrics.vqa";

/** Each question with its answer, what was expected, and whether that is the same. */
export function AnswerView({ report, questions }: { report: Report; questions: Artifact | undefined }) {
  const [wrongOnly, setWrongOnly] = useState(false), [all, setAll] = useState(false);
  const { value } = useLoaded(
    async (signal) => questions === undefined ? null : itemsOf(await json<JsonObject>(questions.path, signal)),
    questions?.path ?? "",
  );
  const asked = new Map((value ?? []).map((item) => [String(item.id), item]));
  const rows = itemsOf(report.document), wrong = rows.filter(({ correct }) => correct !== true);
  const wanted = wrongOnly ? wrong : rows, shown = all ? wanted : wanted.slice(0, SHOWN);
  return (
    <ViewPanel
      title="Questions and answers"
      controls={
        <label class="row">
          <input type="checkbox" checked={wrongOnly} onChange={(event) => setWrongOnly(event.currentTarget.checked)} />
          Only wrong answers
        </label>
      }
    >
      <p>{rows.length - wrong.length} of {rows.length} answers are right.</p>
      <div class="scroll-x tall" tabIndex={0} role="region" aria-label="Table of answers">
        <table>
          <thead>
            <tr>
              <th>Picture</th>
              <th>Question</th>
              <th>Answer</th>
              <th>Expected</th>
              <th>Verdict</th>
            </tr>
          </thead>
          <tbody>
            {shown.map((row) => {
              const question = asked.get(String(row.id));
              return (
                <tr key={String(row.id)}>
                  <td class="mono small">{String(question?.image_id ?? row.id)}</td>
                  <td>{String(question?.question ?? row.id)}</td>
                  <td>{String(row.candidate)}</td>
                  <td>{String(row.reference)}</td>
                  <td>
                    {row.correct === true
                      ? <span class="state" data-tone="ok">✓ right</span>
                      : <span class="state" data-tone="error">✕ wrong</span>}
                  </td>
                </tr>
              );
            })}
          </tbody>
        </table>
      </div>
      {shown.length < wanted.length && (
        <button type="button" onClick={() => setAll(true)}>Show all {wanted.length} rows</button>
      )}
    </ViewPanel>
  );
}

/** For each query what was ranked first, with scores; what was looked for is marked. */
export function RankingView({ rankings, texts }: { rankings: Artifact; texts: Artifact | undefined }) {
  const [all, setAll] = useState(false);
  const { value, problem } = useLoaded(async (signal) => {
    const [ranked, asked] = await Promise.all([
      json<JsonObject>(rankings.path, signal),
      texts === undefined ? null : json<JsonObject>(texts.path, signal),
    ]);
    return { ranked: itemsOf(ranked), asked: asked === null ? [] : itemsOf(asked) };
  }, rankings.path);
  if (value === null) {
    return (
      <ViewPanel title="Rankings">
        <ViewWait problem={problem} what="the rankings" />
      </ViewPanel>
    );
  }
  const textOf = new Map(value.asked.map(({ id, text }) => [String(id), String(text ?? "")]));
  const rows = value.ranked.map((item) => {
    const ids = listOf(item.ranked_ids), relevant = new Set(listOf(item.relevant_ids));
    const place = ids.findIndex((id) => relevant.has(id));
    return { id: String(item.id), ids, relevant, rank: place < 0 ? null : place + 1, scores: item.scores };
  });
  const first = rows.filter(({ rank }) => rank === 1).length, shown = all ? rows : rows.slice(0, SHOWN);
  return (
    <ViewPanel title="Rankings">
      <p>
        For {first} of {rows.length}{" "}
        queries the first of the list is what was looked for, marked ✓. Numbers are similarities.
      </p>
      <div class="scroll-x tall" tabIndex={0} role="region" aria-label="Table of rankings">
        <table>
          <thead>
            <tr>
              <th>Query</th>
              <th class="number">Rank</th>
              {Array.from({ length: RANKS }, (_, i) => <th key={i}>{i + 1}</th>)}
            </tr>
          </thead>
          <tbody>
            {shown.map(({ id, ids, relevant, rank, scores }) => (
              <tr key={id}>
                <td>
                  {textOf.get(id) ?? ""}
                  <div class="mono small muted">{id}</div>
                </td>
                <td class="number mono">{rank ?? "–"}</td>
                {Array.from({ length: RANKS }, (_, i) => (
                  <td key={i}>
                    {relevant.has(ids[i])
                      ? (
                        <strong>
                          ✓<span class="hidden-text">relevant:</span> {ids[i]}
                        </strong>
                      )
                      : ids[i] ?? ""}
                    <div class="mono small muted">
                      {Array.isArray(scores) && ids[i] !== undefined ? valueText(scores[i]) : ""}
                    </div>
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {shown.length < rows.length && (
        <button type="button" onClick={() => setAll(true)}>Show all {rows.length} queries</button>
      )}
    </ViewPanel>
  );
}
