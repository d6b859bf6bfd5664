/** Power over subcarriers, schedules of a downlink, and link budgets. */
import { numberText } from "../../../lib/figure/number_text.ts";
import { budgetFigure, budgetQuantities } from "../../charts/budget.ts";
import { Chart } from "../../charts/chart.tsx";
import { powerFigure } from "../../charts/powers.ts";
import { gainsOf, responseFigure } from "../../charts/response.ts";
import { scheduleFigure, SLOTS_SHOWN } from "../../charts/users.ts";
import type { Artifact } from "../documents.ts";
import { readBlock } from "../fetch_array.ts";
import { allocationsOf, indicesOf } from "./allocations.ts";
import { channelsOf } from "./channels.ts";
import { metadataNumber, nameOf, sourceOf } from "./parts.tsx";
import { view } from "./view.tsx";

/** Powers on the noise floor of their channel, with the water level. */
export const POWERS = view({
  title: "Power allocation",
  matches: ({ artifacts }) => allocationsOf(artifacts, channelsOf(artifacts)),
  keyOf: ({ path, channel }) => `${path} ${channel.path}`,
  menu: { label: "Allocation", textOf: nameOf },
  indices: ({ shape }) => [["State", shape[0]]],
  what: "the powers",
  load: ({ channel, ...allocation }, [row], signal) =>
    Promise.all([
      readBlock(allocation, [row], signal),
      readBlock(channel, indicesOf(row, channel.shape.slice(0, -1)), signal),
    ]),
  figure([{ real: powers }, response], { item, indices: [row], summary }) {
    const { channel, metadata } = item;
    const noise = metadataNumber(item, "noise_variance") ?? metadataNumber(channel, "noise_variance");
    if (noise === null) {
      return <p class="notice">The artifacts have no noise power: the water level cannot be drawn.</p>;
    }
    const gains = gainsOf({ label: "", real: response.real, imaginary: response.imaginary! });
    const policy = String(metadata.power_policy ?? metadata.allocator ?? "").replaceAll("_", " ");
    const facts = {
      subtitle: [`State ${row}`, policy, `N0 = ${numberText(noise, "unicode")}`].filter(Boolean).join(" · "),
      source: sourceOf(summary, item, channel),
    };
    const gain = responseFigure([{ label: nameOf(channel), powers: gains }], {
      ...facts,
      title: "Gain of the same channel",
    });
    return (
      <>
        <Chart figure={powerFigure(powers, gains, noise, { ...facts, title: "Power over subcarriers" })} />
        <Chart figure={gain} />
      </>
    );
  },
});

const columnsOf = ({ metadata: { columns } }: Artifact): string[] => Array.isArray(columns) ? columns.map(String) : [];

/** Satellite link budgets over the elevation. */
export const BUDGETS = view({
  title: "Link budget",
  matches: ({ artifacts }) =>
    artifacts.filter((one) => one.kind === "ntn.link_budget.numpy" && budgetQuantities(columnsOf(one)).length > 0),
  keyOf: ({ path }) => path,
  options: { label: "Quantity", of: (budget) => budgetQuantities(columnsOf(budget)) },
  what: "the link budget",
  load: (budget, _, signal) => readBlock(budget, [], signal),
  figure({ real }, { item, option, summary }) {
    const altitude = metadataNumber(item, "altitude_km"), carrier = metadataNumber(item, "carrier_frequency_ghz");
    const subtitle = [altitude === null ? "" : `Orbit at ${altitude} km`, carrier === null ? "" : `${carrier} GHz`];
    const facts = { subtitle: subtitle.filter(Boolean).join(" · "), source: sourceOf(summary, item) };
    return <Chart figure={budgetFigure(real, columnsOf(item), option, facts)} />;
  },
});

/** The users of each slot. */
export const SCHEDULES = view({
  title: "Schedule",
  matches: ({ artifacts }) => artifacts.filter(({ kind }) => kind === "ai_phy.schedule.numpy"),
  keyOf: ({ path }) => path,
  indices: ({ shape }) => [[`Slots in steps of ${SLOTS_SHOWN}`, Math.ceil((shape?.[0] ?? 0) / SLOTS_SHOWN)]],
  readBy: 0,
  what: "the schedule",
  load: (schedule, _, signal) => readBlock(schedule, [], signal),
  figure({ real, shape }, { item, indices: [page], summary }) {
    const policy = String(item.metadata.policy ?? "").replaceAll("_", " ");
    const figure = scheduleFigure(real, shape[1], {
      title: "Users of each slot",
      subtitle: [item.step, policy].filter(Boolean).join(" · "),
      source: sourceOf(summary, item),
      users: metadataNumber(item, "user_count") ?? 1,
      first: page * SLOTS_SHOWN,
    });
    return <Chart figure={figure} />;
  },
});
