/** `svc validation`: published numbers beside measured ones. */
import { validation } from "../../api/calls/validation.ts";
import { diagnostic } from "../../contract/error.ts";
import { numberText } from "../../figure/number_text.ts";
import { placeText } from "../../study/pack/card.ts";
import { deviationText, proofText } from "../../study/validation/standing.ts";
import type { PointVerdict, Verdict } from "../../study/validation/verdict.ts";
import { commandsOf } from "../call_commands.ts";
import { type CommandSpec, TABLE_FORMAT } from "../command.ts";
import type { CliContext } from "../context.ts";
import { EXIT } from "../problem.ts";
import { formatTable, right } from "../table.ts";
import { counted } from "./recipe.ts";

const number = (value: number | null) => numberText(value, "unicode");
const COLORS = { reproduced: "green", partly: "yellow", differs: "red" } as const;

function verdictText({ verdict, card, result_id, points }: Verdict, context: CliContext): string {
  const rows = points.map((point: PointVerdict) => ({
    point: placeText(point),
    metric: point.metric,
    expected: number(point.expected),
    measured: number(point.measured),
    errors: point.errors ?? "",
    deviation: deviationText(point),
    within: point.within ? "within" : "outside",
  }));
  const columns = ["point", "metric", right("expected"), right("measured"), right("errors"), "deviation", "within"];
  return `${formatTable(rows, columns)}${context.paint(COLORS[verdict], verdict)}  ${card}: result ${result_id}`;
}

export const validationCommands: CommandSpec[] = commandsOf("validation", validation, {
  list: {
    options: { format: TABLE_FORMAT },
    examples: ["svc validation list", "svc validation list --operation wireless.channel --json"],
    json: (cards) => ({ schema_version: 1, cards, proof: proofText(cards) }),
    remarks: {
      cards: (cards) => cards.length > 0 ? null : "No cards. Start one with: svc validation scaffold <id>",
    },
    show(cards, { options: { format } }) {
      if (cards.length === 0) return;
      return formatTable(
        cards.map(({ id, title, reference, quick, latest, needs }) => ({
          card: id,
          reference: reference.kind,
          quick: quick ? "yes" : "",
          verdict: latest?.verdict ?? (needs === undefined ? "" : "needs data"),
          "largest deviation": latest?.largest.text ?? "",
          title,
        })),
        ["card", "reference", "quick", "verdict", "largest deviation", "title"],
        format,
      );
    },
  },
  show: {
    examples: ["svc validation show qpsk_awgn"],
    json: ({ card, points, latest }) => ({ schema_version: 1, card, points, latest }),
    show({ card, file, points, latest }, { context }) {
      const { citation, location, access } = card.reference;
      context.print(`${context.paint("bold", card.id)}  ${card.title}`);
      context.print(`  source: ${citation}, ${location}`);
      context.print(`  access: ${access}`);
      context.print(`  operations: ${card.operations.join(", ")}`);
      context.print(`  file: ${context.shownPath(file)}`);
      if (card.needs !== undefined) context.print(`  needs: ${card.needs.trim()}`);
      if (card.notes !== undefined) context.print(`  notes: ${card.notes.trim().replaceAll("\n", " ")}`);
      context.print("");
      if (latest !== null) return verdictText(latest, context);
      return formatTable(
        points.map((point) => ({ point: placeText(point), metric: point.metric, expected: number(point.expected) })),
        ["point", "metric", right("expected")],
      ) + "No result yet";
    },
  },
  run: {
    examples: [
      "svc validation run qpsk_awgn --quick",
      "svc validation run --operation wireless.channel",
      "svc validation run",
    ],
    cancellable: true,
    means: ({ context }) => ({
      onLeftOut: ({ id, needs }) =>
        context.warn(diagnostic("card_left_out", [], `${id} is left out: it needs ${needs}`, { severity: "warning" })),
      onVerdict: (verdict) => context.json ? undefined : context.print(`${verdictText(verdict, context)}\n`),
    }),
    json: (verdicts) => ({ schema_version: 1, verdicts }),
    show(verdicts) {
      const count = (wanted: Verdict["verdict"]) => verdicts.filter(({ verdict }) => verdict === wanted).length;
      return `${counted(verdicts.length, "card")}: ${count("reproduced")} reproduced, ${count("partly")} partly, ${
        count("differs")
      } differ`;
    },
    exit: (verdicts) => verdicts.some(({ verdict }) => verdict === "differs") ? EXIT.differs : EXIT.ok,
  },
  report: {
    examples: ["svc validation report --out validation.md"],
    json: ({ figures, missing }) => ({ schema_version: 1, figures, missing }),
    remarks: { missing: ({ missing }) => missing.length === 0 ? null : `Without a result: ${missing.join(", ")}` },
    show: ({ file, figures }, { context }) =>
      `wrote ${context.shownPath(file)} with ${counted(figures.length, "figure")}`,
  },
  scaffold: {
    examples: ["svc validation scaffold my_curve --recipe recipes/qam_awgn.yaml"],
    json: ({ path }) => ({ schema_version: 1, path }),
    show: ({ file }, { context }) => `wrote ${context.shownPath(file)}`,
  },
});
