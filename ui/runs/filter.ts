/**
 * The filter of the list of runs: words, and tokens such as `state:failed`, `recipe:quickstart`, `after:2026-11-01`,
 * `tag:paper`, `is:starred`, `metric.channel.ber<1e-3`, `snr_db=6` or `param.link.snr_db=6`. The server applies some of them, the page applies the rest.
 */

import { isObject } from "../../lib/contract/value.ts";
import type { ShownEstimate } from "../../lib/figure/number_text.ts";
import type { Reply } from "../api.ts";
import { markOf } from "../state/marks.ts";

const STATES = ["running", "completed", "failed", "canceled", "incomplete"] as const;

/** A run as lists show it. */
export type RunRow = Reply<"/api/runs">["runs"][number];

interface MetricCondition {
  metric: string;
  relation: "<" | "<=" | ">" | ">=" | "=";
  value: number;
}

export interface Filter {
  /** Parts of the query that the server answers. */
  query: { status?: string; recipe_name?: string; suite?: string; where?: string };
  /** Tasks, modes and outcomes of the plan cache that a row must have. */
  facts: { task_id?: string; mode?: string; plan_cache?: string };
  /** Lower-case words that a row must hold somewhere. */
  words: string[];
  /** ISO times, both ends included. */
  after: string | null;
  before: string | null;
  metrics: MetricCondition[];
  tags: string[];
  starred: boolean;
  /** Tokens that cannot be used, with the reason. */
  problems: string[];
}

/** Reads a filter; unusable parts are named and left out. */
export function parseFilter(text: string): Filter {
  const none = { words: [], metrics: [], tags: [], problems: [] };
  const filter: Filter = { ...none, query: {}, facts: {}, after: null, before: null, starred: false };
  // A part in quotes holds its blanks.
  for (const part of text.match(/(?:[^\s"]|"[^"]*")+/g) ?? []) read(part.replaceAll('"', ""), filter);
  return filter;
}

function read(part: string, filter: Filter): void {
  const condition = /^metric\.(.+?)(<=|>=|<|>|=)(.+)$/.exec(part);
  if (condition !== null) {
    const value = Number(condition[3]);
    if (Number.isNaN(value)) filter.problems.push(`${part}: ${condition[3]} is not a number`);
    else filter.metrics.push({ metric: condition[1], relation: condition[2] as MetricCondition["relation"], value });
    return;
  }
  const [, param, relation, wanted] = /^(?:param\.)?([A-Za-z_][\w.-]*)(<=|>=|!=|<|>|=)([^,=]+)$/.exec(part) ?? [];
  if (param !== undefined) {
    const { where } = filter.query;
    if (relation === "=") filter.query.where = `${where === undefined ? "" : `${where},`}${param}=${wanted}`;
    else filter.problems.push(`${part}: a parameter is compared with = only; a metric begins with metric.`);
    return;
  }
  const [, name, value] = /^([a-z]+):(.+)$/.exec(part) ?? [];
  switch (name) {
    case "state":
      if ((STATES as readonly string[]).includes(value)) filter.query.status = value;
      else filter.problems.push(`${part}: states are ${STATES.join(", ")}`);
      return;
    case "recipe":
      filter.query.recipe_name = value;
      return;
    case "suite":
      filter.query.suite = value;
      return;
    case "task":
      filter.facts.task_id = value;
      return;
    case "mode":
      filter.facts.mode = value;
      return;
    case "cache":
      filter.facts.plan_cache = value;
      return;
    case "tag":
      filter.tags.push(value);
      return;
    case "is":
      if (value === "starred") filter.starred = true;
      else filter.problems.push(`${part}: write is:starred`);
      return;
    case "after":
    case "before":
      if (Number.isNaN(Date.parse(value))) filter.problems.push(`${part}: write a date such as 2026-11-30`);
      // A day is meant as a whole: before:2026-11-30 keeps the runs of that day.
      else filter[name] = name === "before" && value.length === 10 ? `${value}T23:59:59.999Z` : value;
      return;
    case undefined:
      filter.words.push(part.toLowerCase());
      return;
    default:
      filter.problems.push(
        `${part}: tokens are state:, recipe:, suite:, task:, mode:, cache:, tag:, is:starred, after:, before:, metric.<name>< … > and <parameter>=`,
      );
  }
}

/** Whether something is asked that the server does not answer, so that every run must be looked at. */
export const sievesHere = ({ words, facts, after, before, metrics, tags, starred }: Filter): boolean =>
  starred || tags.length > 0 || words.length > 0 || Object.keys(facts).length > 0 || after !== null ||
  before !== null || metrics.length > 0;

/** Whether a row is wanted. */
export function matches(row: RunRow, { query, facts, words, after, before, metrics, ...marked }: Filter): boolean {
  const mark = markOf(row.run_id), digest = row.effective_recipe_sha256 ?? "";
  const text = `${row.run_id} ${row.recipe_name} ${row.suite ?? ""} ${row.status} ${digest} ${
    mark.tags.join(" ")
  } ${mark.note}`
    .toLowerCase();
  const created = row.created_at_utc ?? "";
  return (query.status === undefined || row.status === query.status) &&
    Object.entries(facts).every(([name, value]) => row[name as keyof typeof facts] === value) &&
    words.every((word) => text.includes(word)) &&
    (!marked.starred || mark.starred) && marked.tags.every((tag) => mark.tags.includes(tag)) &&
    (after === null || created >= after) && (before === null || created <= before) &&
    metrics.every(({ metric, relation, value }) => {
      const known = metricOf(row.metrics ?? {}, metric);
      return known !== null && holds(known, relation, value);
    });
}

/** The name under which a run has a metric: its own, one that ends with it (`ber`), or that of a step. */
function nameIn(metrics: Record<string, unknown>, wanted: string): string | undefined {
  if (metrics[wanted] !== undefined) return wanted;
  return Object.keys(metrics).find((key) => key.endsWith(`:${wanted}`) || key.endsWith(`.${wanted}`));
}

/** A metric by its name, by its last part (`ber`), or by step and name; null where there is none. */
export function metricOf(metrics: Record<string, unknown>, wanted: string): number | null {
  const name = nameIn(metrics, wanted), value = name === undefined ? NaN : Number(metrics[name]);
  return Number.isNaN(value) ? null : value;
}

/** The value of a metric with its interval, or with the bound of a rate without events; null where a run has none. */
export function listedEstimate({ metrics = {}, intervals = {} }: RunRow, wanted: string): ShownEstimate | null {
  const mean = metricOf(metrics, wanted);
  if (mean === null) return null;
  const found = intervals[nameIn(metrics, wanted) ?? ""], { low, high, bound } = isObject(found) ? found : {};
  if (bound !== undefined) return { mean: null, low: null, high: null, bound: Number(bound) };
  return { mean, low: low === undefined ? null : Number(low), high: high === undefined ? null : Number(high) };
}

function holds(known: number, relation: MetricCondition["relation"], value: number): boolean {
  if (relation === "<") return known < value;
  if (relation === "<=") return known <= value;
  if (relation === ">") return known > value;
  return relation === ">=" ? known >= value : known === value;
}

/** Seconds from the start of a run to its end, or null. */
export function secondsOf(
  { created_at_utc, completed_at_utc }: Pick<RunRow, "created_at_utc" | "completed_at_utc">,
): number | null {
  if (created_at_utc === null || completed_at_utc === null) return null;
  const seconds = (Date.parse(completed_at_utc) - Date.parse(created_at_utc)) / 1000;
  return Number.isFinite(seconds) ? seconds : null;
}
