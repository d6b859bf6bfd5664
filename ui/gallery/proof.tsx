/** The published verdicts of the validation cards in numbers, with the curves of some, as stored at release. */
import type { CurveFigure } from "../../lib/figure/types.ts";
import { MiniCurve } from "../charts/mini_curve.tsx";
import { typeset } from "../charts/typeset.tsx";
import { parameterAxis } from "../compare/parameter_axis.ts";
import { Section, StateMark } from "../parts.tsx";
import { address } from "../router.ts";
import stored from "./proof.json" with { type: "json" };

interface Stored {
  cards: number;
  /** Cards by kind of reference. */
  kinds: Readonly<Record<string, number>>;
  /** Cards with a published result by verdict. */
  verdicts: Readonly<Record<string, number>>;
  shown: readonly {
    id: string;
    title: string;
    citation: string;
    points: number;
    within: number;
    largest: string;
    figure: Pick<CurveFigure, "series" | "x" | "y">;
  }[];
}

const { cards, kinds, verdicts, shown } = stored as Stored;
const KINDS: readonly (readonly [kind: string, name: string])[] = [
  ["closed_form", "closed forms"],
  ["reference_program", "results of other programs"],
  ["published", "curves of papers"],
  ["standard", "numbers of standards"],
];

export function Proof() {
  const { reproduced = 0, partly = 0, differs = 0 } = verdicts, open = cards - reproduced - partly - differs;
  const others = [
    [partly, "partly, with the cause of each point outside"],
    [differs, "not reproduced"],
    [open, "without a stored result"],
  ].filter(([count]) => count !== 0);
  return (
    <Section title="Validation" look="panel" actions={<a href={address("validation")}>All validation cards</a>}>
      <p>
        <strong>{reproduced} of {cards}</strong>{" "}
        published curves, tables and closed forms are reproduced within their tolerances
        {others.map(([count, text]) => `; ${count} ${text}`)}. They are{" "}
        {KINDS.filter(([kind]) => kinds[kind] !== undefined).map(([kind, name]) => `${kinds[kind]} ${name}`).join(
          ", ",
        )}.
      </p>
      <div class="cards">
        {shown.map(({ id, title, citation, points, within, largest, figure }) => (
          <article key={id} class="card" aria-label={title}>
            <p>
              <a href={address("validation", [id])}>{typeset(title)}</a>
            </p>
            <MiniCurve
              figure={{ ...figure, x: { ...figure.x, ...parameterAxis(figure.x.title) } }}
              picture={`Curve: ${title}, line: reference, points: measured`}
            />
            <p class="small muted">{citation}</p>
            <p class="small">
              <StateMark state={within === points ? "within" : "outside"} /> {within} of {points}{" "}
              points, largest deviation {largest}
            </p>
          </article>
        ))}
      </div>
    </Section>
  );
}
