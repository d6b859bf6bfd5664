/** Runs validation cards as benchmarks, and reads their verdicts back from stored results. */
import { SvcError } from "../../contract/error.ts";
import type { JsonObject } from "../../contract/value.ts";
import type { Workspace } from "../../run/workspace.ts";
import { type CheckedPoint, packOfCard, type ValidationRecord } from "../pack/card.ts";
import { checkPack, loadPack } from "../pack/load_pack.ts";
import { listResultsFromIndex } from "../rows/result_index.ts";
import { showBenchmarkResult } from "../rows/store.ts";
import { type BenchmarkRunOptions, runBenchmark } from "../run_benchmark.ts";
import type { CardFile } from "./cards.ts";
import { type Verdict, verdictOf } from "./verdict.ts";

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
  & { quick?: boolean };

/**
 * Runs a card and judges it.
 * @throws SvcError `pack_invalid` with every diagnostic, `benchmark_incomplete` when a row fails, `operation_canceled`
 */
export async function runCard({ file, card }: CardFile, { quick, ...options }: CardRunOptions): Promise<Verdict> {
  const { registry, readiness, workspace: { projectRoot } } = options;
  const loaded = await loadPack(file, { registry, projectRoot, planning: { readiness }, quick });
  checkPack(loaded, file);
  const { result } = await runBenchmark({ ...options, pack: file, loaded });
  if (options.cancellation.isCancelled) {
    throw new SvcError("operation_canceled", `Cannot judge ${card.id}: the command was canceled`);
  }
  return verdictOf(result);
}

/** The pack of a card as it is now. @throws SvcError `card_invalid` with every problem */
async function packNow({ file, document }: CardFile, quick: boolean): Promise<JsonObject> {
  const { pack, diagnostics } = await packOfCard(document, file, { quick });
  if (pack !== null) return pack;
  throw new SvcError("card_invalid", `Cannot use the card ${file}`, { diagnostics });
}

/** The points of a card, each followed by its rows of switched causes. @throws SvcError `card_invalid` */
export async function pointsOf(card: CardFile): Promise<CheckedPoint[]> {
  const { metadata } = await packNow(card, false);
  return ((metadata as JsonObject).validation as unknown as ValidationRecord).points;
}

/**
 * The newest complete result of each card as it is now, by its id. A full result has precedence over one of the quick subset.
 * @throws SvcError `card_invalid`
 */
export async function storedVerdicts(workspace: Workspace, cards: readonly CardFile[]): Promise<Map<string, Verdict>> {
  const results = Map.groupBy(
    listResultsFromIndex(workspace).filter(({ status }) => status === "completed"),
    ({ benchmark_id }) => benchmark_id,
  );
  const verdicts = new Map<string, Verdict>();
  for (const card of cards) {
    const { id, version } = await packNow(card, false);
    const verdictsOfCard = (results.get(id as string) ?? [])
      .filter(({ benchmark_version }) => benchmark_version === version)
      .map(({ result_id }) => verdictOf(showBenchmarkResult(workspace, result_id).result));
    const newest = verdictsOfCard.find(({ quick }) => !quick) ?? verdictsOfCard[0];
    if (newest !== undefined) verdicts.set(card.card.id, newest);
  }
  return verdicts;
}
