// deno-lint-ignore-file jsx-key -- elements in tuples of facts are not lists
/** One validation card: its source, its figure, and each point beside its published number. */
import type { JsonObject } from "../../../lib/contract/value.ts";
import { numberText } from "../../../lib/figure/number_text.ts";
import type { Reply } from "../../api.ts";
import { commandOf, CopyCommand } from "../../copy_command.tsx";
import { Facts, Page, Section, StateMark, Table, Wait } from "../../parts.tsx";
import { lazy } from "../../preact.ts";
import { address } from "../../router.ts";
import { typeset } from "../../charts/typeset.tsx";
import { parameterAxis } from "../../compare/parameter_axis.ts";
import { useFetched } from "../../state/fetched.ts";
import { OperationLinks } from "./list.tsx";

const Chart = lazy(() => import("../../charts/chart.tsx").then(({ Chart }) => Chart), "Loading the figure");

type Card = Reply<"/api/validation/cards/:card_id">;
type Standing = NonNullable<Card["standing"]>;

const number = (value: number | null) => numberText(value, "unicode", 5);

export function CardPage({ id }: { id: string }) {
  const found = useFetched("/api/validation/cards/:card_id", { params: { card_id: id } });
  if (found.value === null) {
    return (
      <Page title={id}>
        <Wait of={found} what="the card" />
      </Page>
    );
  }
  const { card, standing, figure } = found.value, { citation, location, access } = card.reference;
  return (
    <Page title={typeset(card.title)} actions={<a href={address("validation")}>All cards</a>}>
      <Facts
        of={[
          ["Card", <span class="mono">{id}</span>],
          ["Verdict", standing === null ? "No result yet" : <Verdict of={standing} />],
          standing !== null && ["Result", <Result of={standing} />],
          ["Source", typeset(`${citation}, ${location}`)],
          ["Access", typeset(access)],
          card.needs !== undefined && ["Needs", typeset(card.needs)],
          card.notes !== undefined && ["Notes", typeset(card.notes)],
          ["Operations", <OperationLinks ids={card.operations} />],
        ]}
      />
      <CopyCommand command={commandOf("validation", "run", id)} />
      {figure !== null && (
        <Section title="Figure">
          <Chart figure={{ ...figure, x: { ...figure.x, ...parameterAxis(figure.x.title) } }} />
        </Section>
      )}
      <Points of={found.value} />
    </Page>
  );
}

function Verdict({ of: { verdict, quick, within, points, largest } }: { of: Standing }) {
  return (
    <>
      <StateMark state={verdict} /> {within} of {points} points within{quick && " (quick subset)"}, largest deviation
      {" "}
      {largest.text}
    </>
  );
}

function Result({ of: { result_id, published } }: { of: Standing }) {
  if (published) {
    return (
      <>
        <span class="mono">{result_id}</span>, published with the card
      </>
    );
  }
  return <a class="mono" href={address("benchmarks", ["result", result_id])}>{result_id}</a>;
}

const placeOf = ({ at, cause }: { at: JsonObject; cause?: string }) => (
  <>
    {Object.entries(at).map(([name, value]) => `${name}=${value}`).join(", ")}
    {cause !== undefined && <div class="muted">{cause}</div>}
  </>
);

function Points({ of: { points, latest, deviations } }: { of: Card }) {
  return (
    <Section title="Points">
      {latest === null
        ? (
          <Table
            label="Points"
            rows={points}
            keyOf={({ entry }) => entry}
            columns={[
              ["Point", placeOf, "mono small"],
              ["Metric", ({ metric }) => metric, "mono small"],
              ["Expected", ({ expected }) => number(expected), "number"],
            ]}
          />
        )
        : (
          <Table
            label="Points"
            rows={latest.points}
            keyOf={({ entry }) => entry}
            columns={[
              ["Point", placeOf, "mono small"],
              ["Metric", ({ metric }) => metric, "mono small"],
              ["Expected", ({ expected }) => number(expected), "number"],
              ["Measured (95 %)", ({ measured, low, high }) =>
                low === null || high === null
                  ? number(measured)
                  : `${number(measured)} (${number(low)} to ${number(high)})`, "number"],
              ["Deviation", (_, at) => deviations[at], "number"],
              ["Result", ({ within }) => <StateMark state={within ? "within" : "outside"} />],
            ]}
          />
        )}
    </Section>
  );
}
