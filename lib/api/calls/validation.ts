/** Validation cards: published numbers beside the recipes that measure them. */
import { relative } from "node:path";
import { z } from "../../contract/zod.ts";
import { createCancellation } from "../../execute/cancellation.ts";
import type { BenchmarkEvent } from "../../study/run_benchmark.ts";
import type { CheckedPoint } from "../../study/pack/card.ts";
import type { CardFile } from "../../study/validation/cards.ts";
import type { ValidationReport } from "../../study/validation/report.ts";
import type { Verdict } from "../../study/validation/verdict.ts";
import { call, type Cancellable } from "../call.ts";
import type { SessionCore } from "../core.ts";
import { documentOf } from "../documents.ts";
import { flag, text, WORKERS } from "../fields.ts";

const OPERATION = text("only cards of this operation", "operation");
const cards = () => import("../../study/validation/cards.ts");
const runs = () => import("../../study/validation/run.ts");

/** A card in a list. */
type CardRow = Pick<CardFile["card"], "id" | "title" | "operations" | "reference"> & { quick: boolean };
/** A card with its points and its newest verdict, which is null without a result. */
export type ShownCard = { card: CardFile["card"]; file: string; points: CheckedPoint[]; latest: Verdict | null };

const shownCard = ({ card, points, latest }: ShownCard) => ({ card, points, latest });

async function chosen({ workspace: { projectRoot } }: SessionCore, ids: readonly string[], operation?: string) {
  const { findCard, listCards } = await cards();
  return ids.length === 0 ? listCards(projectRoot, operation) : ids.map((id) => findCard(projectRoot, id))
    .filter(({ card }) => operation === undefined || card.operations.includes(operation));
}

export const validation = {
  /** The cards of the project and of the program. @throws SvcError `card_invalid` */
  list: call("List the validation cards", {
    fields: { operation: OPERATION },
    output: z.object({ cards: z.array(documentOf<CardRow>()) }),
    refuses: [400],
    http: { route: "get /api/validation/cards", returns: "Cards by id" },
    cli: {},
    publish: (rows: CardRow[]) => ({ cards: rows }),
    async run(core, { operation }): Promise<CardRow[]> {
      return (await chosen(core, [], operation)).map(({ card: { id, title, operations, reference, quick } }) => ({
        id,
        title,
        operations,
        reference,
        quick: quick !== undefined,
      }));
    },
  }),

  /** One card with its points and its newest verdict. @throws SvcError `card_not_found`, `card_invalid` */
  show: call("Show a validation card, its points and its newest verdict", {
    fields: { card_id: z.string().describe("id of a card") },
    args: ["card_id"],
    output: documentOf<Omit<ShownCard, "file">>(),
    refuses: [400, 404],
    http: { route: "get /api/validation/cards/:card_id", returns: "The card" },
    cli: { usage: "<id>" },
    publish: shownCard,
    async run(core, { card_id }): Promise<ShownCard> {
      const [found] = await chosen(core, [card_id]), { pointsOf, storedVerdicts } = await runs();
      const verdicts = await storedVerdicts(core.workspace, [found]);
      return {
        card: found.card,
        file: found.file,
        points: await pointsOf(found),
        latest: verdicts.get(card_id) ?? null,
      };
    },
  }),

  /**
   * Runs cards as benchmarks and judges them, all without ids.
   * @throws SvcError `card_not_found`, `pack_invalid`, `benchmark_incomplete`
   */
  run: call("Run validation cards and compare each point with its published number", {
    fields: {
      ids: z.array(z.string()).default([]),
      operation: OPERATION,
      quick: flag("run only the quick subset, of cards that have one"),
      resume: flag("skip cards whose stored result is of the same card, recipes and build of the program"),
      parallel_workers: WORKERS,
      parallel_points: z.int().min(1).max(32).default(1).describe("run up to N points at once (1-32)"),
    },
    args: ["ids"],
    cli: { usage: "[ids...]", exits: "exit 6 when a card differs" },
    async run(
      core,
      { ids, operation, quick, resume, parallel_workers, parallel_points },
      { cancellation = createCancellation(), onEvent, onVerdict }: Cancellable & {
        onEvent?(event: BenchmarkEvent): void;
        onVerdict?(verdict: Verdict): void;
      },
    ): Promise<Verdict[]> {
      const { runCard } = await runs(), verdicts: Verdict[] = [];
      const means = { ...await core.means(), cancellation, onEvent, quick, resume };
      const wanted = (await chosen(core, ids, operation)).filter(({ card }) =>
        !quick || ids.length > 0 || card.quick !== undefined
      );
      await core.withPool(async (execute) => {
        for (const card of wanted) {
          const verdict = await runCard(card, {
            ...means,
            execute,
            parallelWorkers: parallel_workers,
            parallelPoints: parallel_points,
          });
          verdicts.push(verdict);
          onVerdict?.(verdict);
        }
      });
      return verdicts;
    },
  }),

  /** Writes the page of all cards with their newest results. @throws SvcError `result_not_found` where no card has one */
  report: call("Write a page of all validation cards with their newest results, and their figures", {
    fields: { out: text("file of the page (default: docs/reference/validation.md)", "file") },
    cli: {},
    async run(core, { out }): Promise<ValidationReport> {
      const all = await chosen(core, []), { storedVerdicts } = await runs();
      const { writeReport } = await import("../../study/validation/report.ts");
      const file = out ?? `${core.workspace.projectRoot}/docs/reference/validation.md`;
      return await writeReport(all, await storedVerdicts(core.workspace, all), file);
    },
  }),

  /** Writes a card to start from. @throws SvcError `usage_invalid` for an invalid id, or where the file exists */
  scaffold: call("Write a validation card to start from", {
    fields: {
      card_id: z.string(),
      recipe: text("recipe that measures the points, a file or a name (default: qam_awgn)", "recipe"),
    },
    args: ["card_id"],
    cli: { usage: "<id>" },
    async run({ workspace: { projectRoot } }, { card_id, recipe = "qam_awgn" }) {
      const file = (await cards()).scaffoldCard(projectRoot, card_id, recipe);
      return { file, path: relative(projectRoot, file).replaceAll("\\", "/") };
    },
  }),
};
