/** Runs validation cards as benchmarks, and reads their verdicts back from stored results. */
import { dirname, join } from "node:path";
import { inside, readFile } from "../../artifact/inside.ts";
import { SvcError } from "../../contract/error.ts";
import { sha256Hex } from "../../contract/hash.ts";
import type { JsonObject } from "../../contract/value.ts";
import { buildSha256 } from "../../plan/implementation_source.ts";
import type { Workspace } from "../../run/workspace.ts";
import { type CheckedPoint, packOfCard, type ValidationRecord } from "../pack/card.ts";
import { checkPack, loadPack } from "../pack/load_pack.ts";
import { CARDS_FOLDER } from "../pack/packs.ts";
import { LEDGER_FILE, MAX_RESULT_BYTES, RESULT_FILE } from "../pack/types.ts";
import { LedgerIndex } from "../rows/ledger.ts";
import { listResultsFromIndex } from "../rows/result_index.ts";
import { showBenchmarkResult } from "../rows/store.ts";
import { type BenchmarkRunOptions, runBenchmark } from "../run_benchmark.ts";
import type { CardFile } from "./cards.ts";
import { type PublishedResult, readPublished, writePublished } from "./published.ts";
import { type Verdict, verdictFrom, verdictOf } from "./verdict.ts";

export type CardRunOptions =
  & Pick<
    BenchmarkRunOptions,
    | "registry"
    | "workspace"
    | "readiness"
    | "planCache"
    | "parallelPoints"
    | "parallelWorkers"
    | "cancellation"
    | "onEvent"
    | "execute"
  >
  & { quick?: boolean; resume?: boolean };

/**
 * Runs a card and judges it; `resume` takes a stored result of the same card, recipes and build of the program in place of a run.
 * @throws SvcError `pack_invalid` with every diagnostic, `benchmark_incomplete` when a row fails, `operation_canceled`
 */
export async function runCard(cardFile: CardFile, { quick, resume, ...options }: CardRunOptions): Promise<Verdict> {
  const { file, card } = cardFile, { workspace } = options;
  if (resume) {
    const stored = (await storedVerdicts(workspace, [cardFile], await buildSha256())).get(card.id);
    if (stored !== undefined && (quick || !stored.quick)) return stored;
  }
  const loaded = await loadCard(cardFile, { ...options, quick });
  checkPack(loaded, file);
  const { result } = await runBenchmark({ ...options, pack: file, prepared: loaded });
  if (options.cancellation.isCancelled) {
    throw new SvcError("operation_canceled", `Cannot judge ${card.id}: the command was canceled`);
  }
  return verdictOf(result);
}

const loadCard = (
  { file }: CardFile,
  { registry, readiness, workspace: { projectRoot }, quick }: Pick<
    CardRunOptions,
    "registry" | "readiness" | "workspace" | "quick"
  >,
) => loadPack(file, { registry, projectRoot, planning: { readiness }, quick });

/** Whether a card states needs, and its datasets are not here. */
export async function lacksNeeds(
  cardFile: CardFile,
  options: Pick<CardRunOptions, "registry" | "readiness" | "workspace">,
): Promise<boolean> {
  if (cardFile.card.needs === undefined) return false;
  return (await loadCard(cardFile, options)).diagnostics.some(({ code }) => code === "dataset_unavailable");
}

/** The pack of a card as it is now. @throws SvcError `card_invalid` with every problem */
async function packNow({ file, document }: CardFile, quick: boolean): Promise<JsonObject> {
  const { pack, diagnostics } = await packOfCard(document, file, { quick });
  if (pack !== null) return pack;
  throw new SvcError("card_invalid", `Cannot use the card ${file}`, { diagnostics });
}

/** The points of a pack that is a card, each followed by its rows of switched causes. */
const pointsOf = ({ metadata }: JsonObject): CheckedPoint[] =>
  ((metadata as JsonObject).validation as unknown as ValidationRecord).points;

/** A card as it is now, with its newest result. */
export interface JudgedCard extends CardFile {
  /** Of its pack: a digest of the card and its recipes. */
  version: string;
  points: CheckedPoint[];
  /** Null without a result of this version. */
  latest: Verdict | null;
}

/**
 * Cards with the newest complete result of each and its recipes as they are now: that of the workspace, else the published one.
 * A full result has precedence over one of the quick subset.
 * @param workspace none for published results alone
 * @param own published results of the project only
 * @throws SvcError `card_invalid`
 */
export async function judgedCards(
  projectRoot: string,
  cards: readonly CardFile[],
  { workspace, own = false }: { workspace?: Workspace; own?: boolean },
): Promise<JudgedCard[]> {
  const stored = workspace === undefined ? new Map<string, Verdict>() : await storedVerdicts(workspace, cards);
  const published = readPublished(projectRoot, { own });
  return await Promise.all(cards.map(async (card) => {
    const { id } = card.card,
      pack = await packNow(card, false),
      points = pointsOf(pack),
      version = pack.version as string;
    const mine = stored.get(id), other = published.get(id);
    const isTaken = other?.version === version && (mine === undefined || mine.quick && !other.quick);
    return { ...card, version, points, latest: isTaken ? publishedVerdict(id, other, points) : mine ?? null };
  }));
}

function publishedVerdict(card: string, { points, result_id, quick }: PublishedResult, all: CheckedPoint[]): Verdict {
  const judged = points.flatMap((own) => {
    const point = all.find(({ entry }) => entry === own.entry);
    return point === undefined ? [] : [{ ...point, ...own }];
  });
  return { card, result_id, published: true, quick, verdict: verdictFrom(judged), points: judged };
}

/**
 * The newest complete result of each card and its recipes as they are now, by the id of the card. A full result has precedence
 * over one of the quick subset.
 * @param build only results of this build of the program, a digest
 * @throws SvcError `card_invalid`
 */
async function storedVerdicts(
  workspace: Workspace,
  cards: readonly CardFile[],
  build?: string,
): Promise<Map<string, Verdict>> {
  const results = Map.groupBy(
    listResultsFromIndex(workspace).filter(({ status }) => status === "completed"),
    ({ benchmark_id }) => benchmark_id,
  );
  const verdicts = new Map<string, Verdict>();
  for (const card of cards) {
    const { id, version } = await packNow(card, false);
    const verdictsOfCard = (results.get(id as string) ?? [])
      .filter(({ benchmark_version }) => benchmark_version === version)
      .map(({ result_id }) => showBenchmarkResult(workspace, result_id))
      .filter(({ directory }) => build === undefined || buildOf(directory) === build)
      .map(({ result }) => verdictOf(result));
    const newest = verdictsOfCard.find(({ quick }) => !quick) ?? verdictsOfCard[0];
    if (newest !== undefined) verdicts.set(card.card.id, newest);
  }
  return verdicts;
}

/** Publishes the results of the project's own cards beside them; results of the workspace replace those that are there. */
export function publishResults(workspace: Workspace, cards: readonly JudgedCard[]): void {
  const { projectRoot } = workspace, folder = join(projectRoot, "benchmarks", CARDS_FOLDER);
  const own = cards.filter(({ file }) => dirname(file) === folder);
  if (own.length === 0) return;
  const published = readPublished(projectRoot, { own: true });
  for (const { card: { id }, version, latest } of own) {
    if (latest === null || latest.published) continue;
    const { directory } = showBenchmarkResult(workspace, latest.result_id);
    const { quick_cpu_s, quick_finds } = published.get(id) ?? {};
    published.set(id, {
      version,
      result_id: latest.result_id,
      result_sha256: sha256Hex(readFile(inside(directory, RESULT_FILE), MAX_RESULT_BYTES)),
      quick: latest.quick,
      points: latest.points.map(({ entry, measured, low, high, errors, deviation, within }) => ({
        entry,
        measured,
        low,
        high,
        errors,
        deviation,
        within,
      })),
      ...quick_cpu_s === undefined ? {} : { quick_cpu_s },
      ...quick_finds === undefined ? {} : { quick_finds },
    });
  }
  writePublished(projectRoot, published);
}

/** Digest of the program that began a result. */
const buildOf = (directory: string) =>
  new LedgerIndex(inside(directory, LEDGER_FILE)).advance(1).start?.fields.build_sha256;
