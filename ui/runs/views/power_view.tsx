/** Power over subcarriers on the noise floor of the channel, with the water level. */
import { Chart } from "../../charts/chart.tsx";
import { powerFigure } from "../../charts/powers.ts";
import { gainsOf, responseFigure } from "../../charts/response.ts";
import { numberText } from "../../../lib/figure/number_text.ts";
import { useMemo, useState } from "../../preact.ts";
import type { RunSummary } from "../documents.ts";
import { useLoaded } from "../../state/fetched.ts";
import { readBlock } from "../fetch_array.ts";
import { type Allocation, indicesOf } from "./allocations.ts";
import { Select, Wait } from "../../parts.tsx";
import { IndexChoice, metadataNumber, nameOf, sourceOf, ViewPanel } from "./parts.tsx";

export function PowerView({ allocations, summary }: { allocations: Allocation[]; summary: RunSummary }) {
  const [path, setPath] = useState(allocations[0].path), [index, setIndex] = useState(0);
  const allocation = allocations.find((one) => one.path === path) ?? allocations[0];
  const { channel, shape } = allocation, row = Math.min(index, shape[0] - 1);
  const noise = metadataNumber(allocation, "noise_variance") ?? metadataNumber(channel, "noise_variance");
  const { value, ...wait } = useLoaded((signal) =>
    Promise.all([
      readBlock(allocation, [row], signal),
      readBlock(channel, indicesOf(row, channel.shape.slice(0, -1)), signal),
    ]), `${allocation.path} ${channel.path} ${row}`);
  const figures = useMemo(() => {
    if (value === null || noise === null) return null;
    const [{ real: powers }, response] = value;
    const gains = gainsOf({ label: "", real: response.real, imaginary: response.imaginary! });
    const policy = allocation.metadata.power_policy ?? allocation.metadata.allocator ?? "";
    const facts = {
      subtitle: [`State ${row}`, String(policy).replaceAll("_", " "), `N0 = ${numberText(noise, "unicode")}`].filter(
        Boolean,
      ).join(" · "),
      source: sourceOf(summary, allocation, channel),
    };
    return [
      powerFigure(powers, gains, noise, { ...facts, title: "Power over subcarriers" }),
      responseFigure([{ label: nameOf(channel), powers: gains }], { ...facts, title: "Gain of the same channel" }),
    ];
  }, [value]);
  return (
    <ViewPanel
      title="Power allocation"
      controls={
        <>
          {allocations.length > 1 && (
            <Select
              label="Allocation"
              value={allocation.path}
              options={allocations.map((one) => [one.path, nameOf(one)] as const)}
              onChoose={setPath}
            />
          )}
          <IndexChoice label="State" count={shape[0]} value={row} onChoose={setIndex} />
        </>
      }
    >
      {noise === null
        ? <p class="notice">The artifacts have no noise power: the water level cannot be drawn.</p>
        : figures === null
        ? <Wait of={wait} what="the powers" />
        : figures.map((figure) => <Chart key={figure.type} figure={figure} />)}
    </ViewPanel>
  );
}
