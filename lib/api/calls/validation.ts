/** Validation cards: published numbers beside the recipes that measure them. */
import { relative } from "../../contract/paths.ts";
import { z } from "../../contract/zod.ts";
import { createCancellation } from "../../execute/cancellation.ts";
import type { BenchmarkEvent } from "../../study/run_benchmark.ts";
import type { CurveFigure } from "../../figure/types.ts";
import type { CardFile } from "../../study/validation/cards.ts";
import type { JudgedCard } from "../../study/validation/run.ts";
import { proofText, type Standing } from "../../study/validation/standing.ts";
import type { ValidationReport } from "../../study/validation/report.ts";
import type { Verdict } from "../../study/validation/verdict.ts";
import { call, type Cancellable } from "../call.ts";
import type { SessionCore } from "../core.ts";
import { documentOf } from "../documents.ts";
import { flag, text, WORKERS } from "../fields.ts";

const OPERATION = text("only cards of this operation", "operation");
const cards = () => import("../../study/validation/cards.ts");
const runs = () => import("../../study/validation/run.ts");

/** A card in a list; `latest` is null without a result. */
type CardRow = Pick<CardFile["card"], "id" | "title" | "operations" | "reference" | "needs"> & {
  quick: boolean;
  latest: Standing | null;
  /** With `figures`: its curve beside the reference, null where it has none. */
  figure?: CurveFigure | null;
};
/** A card with its points, and with its newest verdict and figure, which are null without a result. */
interface ShownCard extends Pick<JudgedCard, "card" | "file" | "points" | "latest"> {
  standing: Standing | null;
  /** Deviations of the points of `latest` with their tolerances, in words. */
  deviations: string[];
  figure: CurveFigure | null;
}

async function chosen({ workspace: { projectRoot } }: SessionCore, ids: readonly string[], operation?: string) {
  const { findCard, listCards } = await cards();
  return ids.length === 0 ? listCards(projectRoot, operation) : ids.map((id) => findCard(projectRoot, id))
    .filter(({ card }) => operation === undefined || card.operations.includes(operation));
}

export const validation = {
  /** The cards of the project and of the program. @throws SvcError `card_invalid` */
  list: call("List the validation cards", {
    fields: { operation: OPERATION, figures: flag("with the curve of each newest result") },
    output: z.object({ cards: z.array(documentOf<CardRow>()), proof: z.string() }),
    refuses: [400],
    http: { route: "get /api/validation/cards", returns: "Cards by id" },
    cli: {},
    tool: true,
    publish: (rows: CardRow[]) => ({ cards: rows, proof: proofText(rows) }),
    async run(core, { operation, figures = false }): Promise<CardRow[]> {
      const { judgedCards } = await runs(), { figureOf } = await import("../../study/validation/report.ts");
      const { standingOf } = await import("../../study/validation/standing.ts");
      const { workspace, workspace: { projectRoot } } = core, wanted = await chosen(core, [], operation);
      return (await judgedCards(projectRoot, wanted, { workspace })).map(({ card, latest }) => {
        const { id, title, operations, reference, quick, needs } = card;
        return {
          id,
          title,
          operations,
          reference,
          ...needs === undefined ? {} : { needs },
          quick: quick !== undefined,
          latest: latest && standingOf(latest),
          ...figures ? { figure: latest && figureOf(title, latest) } : {},
        };
      });
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
    tool: true,
    publish: ({ file: _, ...shown }: ShownCard) => shown,
    async run(core, { card_id }): Promise<ShownCard> {
      const { judgedCards } = await runs(), { figureOf } = await import("../../study/validation/report.ts");
      const { deviationText, standingOf } = await import("../../study/validation/standing.ts");
      const { workspace, workspace: { projectRoot } } = core, wanted = await chosen(core, [card_id]);
      const [{ card, file, points, latest }] = await judgedCards(projectRoot, wanted, { workspace });
      return {
        card,
        file,
        points,
        latest,
        standing: latest && standingOf(latest),
        deviations: latest?.points.map(deviationText) ?? [],
        figure: latest && figureOf(card.title, latest),
      };
    },
  }),

  /**
   * Runs cards as benchmarks and judges them. Without ids all, but for those whose `needs` are not here.
   * @throws SvcError `card_not_found`, `pack_invalid`, `benchmark_incomplete`
   */
  run: call("Run validation cards and compare each point with its published number", {
    fields: {
      ids: z.array(z.string()).default([]),
      operation: OPERATION,
      quick: flag("run only the quick subset; without ids, of the fewest cards that prove every operation with one"),
      resume: flag("skip cards whose stored result is of the same card, recipes and build of the program"),
      parallel_workers: WORKERS,
      parallel_points: z.int().min(1).max(32).default(1).describe("run up to N points at once (1-32)"),
    },
    args: ["ids"],
    cli: { usage: "[ids...]", exits: "exit 6 when a card differs" },
    async run(
      core,
      { ids, operation, quick, resume, parallel_workers, parallel_points },
      { cancellation = createCancellation(), onEvent, onVerdict, onLeftOut }: Cancellable & {
        onEvent?(event: BenchmarkEvent): void;
        onVerdict?(verdict: Verdict): void;
        onLeftOut?(card: CardFile["card"]): void;
      },
    ): Promise<Verdict[]> {
      const { lacksNeeds, runCard } = await runs(), verdicts: Verdict[] = [];
      const means = { ...await core.means(), cancellation, onEvent, quick, resume };
      const found = await chosen(core, ids, operation),
        { quickCards } = await import("../../study/validation/quick_set.ts");
      const wanted = quick && ids.length === 0 ? quickCards(core.workspace.projectRoot, found, operation) : found;
      await core.withPool(async (execute) => {
        for (const card of wanted) {
          if (ids.length === 0 && await lacksNeeds(card, means)) {
            onLeftOut?.(card.card);
            continue;
          }
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

  /**
   * Writes the page of all cards with their newest results, and publishes the results beside the cards of the project. @throws SvcError `result_not_found` where no card has one
   */
  report: call("Write a page of all validation cards with their figures, and publish their newest results", {
    fields: { out: text("file of the page (default: docs/reference/validation.md)", "file") },
    cli: {},
    async run(core, { out }): Promise<ValidationReport> {
      const { judgedCards, publishResults } = await runs();
      const { writeReport } = await import("../../study/validation/report.ts");
      const { workspace, workspace: { projectRoot } } = core;
      const all = await judgedCards(projectRoot, await chosen(core, []), { workspace, own: true });
      const report = await writeReport(all, out ?? `${projectRoot}/docs/reference/validation.md`);
      publishResults(workspace, all);
      return report;
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
