/**
 * Channels over subcarriers and over delay, antenna by antenna; an estimate beside the truth.
 * No row of the table of views: which channels can be compared, and whether there is an index, depends on other menus.
 */
import { Chart } from "../../charts/chart.tsx";
import { PowerMap } from "../../charts/power_map.tsx";
import {
  delayFigure,
  gainsOf,
  meanOf,
  type Powers,
  type Response,
  responseFigure,
  tapPowers,
} from "../../charts/response.ts";
import { useMemo, useState } from "../../preact.ts";
import type { RunSummary } from "../documents.ts";
import { useLoaded } from "../../state/fetched.ts";
import { type Block, MOST_VALUES, readBlock } from "../fetch_array.ts";
import { bandwidthOf, type Channel, channelsOf, firstPair, lineNames } from "./channels.ts";
import { Check, Select, Wait } from "../../parts.tsx";
import { IndexChoice, nameOf, sourceOf, ViewPanel } from "./parts.tsx";
import { customView } from "./view.tsx";

/** Lines of one figure; more cannot be distinguished. */
const MOST_LINES = 6;

export const CHANNELS = customView(({ artifacts }) => {
  const channels = channelsOf(artifacts);
  return channels.length > 0 ? channels : null;
}, (channels, summary) => <ChannelView channels={channels} summary={summary} />);

function ChannelView({ channels, summary }: { channels: Channel[]; summary: RunSummary }) {
  const [first, second] = useMemo(() => firstPair(channels), [channels]);
  const [path, setPath] = useState(first.path), [against, setAgainst] = useState(second?.path ?? "");
  const [index, setIndex] = useState(0),
    [line, setLine] = useState(second === null ? "all" : "0"),
    [mean, setMean] = useState(false);
  const channel = channels.find((one) => one.path === path) ?? first;
  const others = channels.filter((one) => one.path !== path && String(one.shape) === String(channel.shape));
  const other = others.find((one) => one.path === against) ?? null;
  const at = Math.min(index, channel.shape[0] - 1);
  const small = channel.shape.reduce((a, b) => a * b, 1) <= MOST_VALUES;
  const indices = mean && small ? [] : [at];
  const { value, ...wait } = useLoaded(
    (signal) =>
      Promise.all([channel, ...(other === null ? [] : [other])].map((one) => readBlock(one, indices, signal))),
    [channel.path, other?.path, ...indices].join(" "),
  );
  const names = lineNames(channel);
  const chosen = line === "all" ? names.map((_, i) => i) : [Number(line)];
  const drawn = chosen.slice(0, MOST_LINES), left = chosen.length - drawn.length;
  const figures = useMemo(() => {
    if (value === null) return null;
    const which = indices.length === 0
      ? `Mean of ${channel.shape[0]} ${channel.layout.axes[0]}s`
      : `${capital(channel.layout.axes[0])} ${at}`;
    const facts = (title: string) => ({
      title,
      subtitle: [which, left > 0 ? `the first ${drawn.length} of ${chosen.length} lines` : ""].filter(Boolean).join(
        " · ",
      ),
      source: sourceOf(summary, channel, ...(other === null ? [] : [other])),
    });
    const series = (of: (response: Response) => Float64Array): Powers[] =>
      value.flatMap((block, which) =>
        drawn.map((at): Powers => ({
          label: [
            other === null ? "" : shortName(which === 0 ? channel : other, which === 0 ? other : channel),
            names[at] || (other === null ? nameOf(channel) : ""),
          ].filter(Boolean).join(", "),
          powers: meanOf(responsesOf(block, channel, at).map(of)),
        }))
      );
    return [
      responseFigure(series(gainsOf), facts("Channel response")),
      delayFigure(series(tapPowers), bandwidthOf(channels, channel), facts("Delay profile")),
    ];
  }, [value, line, other?.path, channel.path, at, mean]);
  return (
    <ViewPanel
      title="Channels"
      controls={
        <>
          <Select
            label="Channel"
            value={channel.path}
            options={channels.map((one) => [one.path, nameOf(one)] as const)}
            onChoose={setPath}
          />
          {others.length > 0 && (
            <Select
              label="Against"
              value={other?.path ?? ""}
              options={[["", "nothing"] as const, ...others.map((one) => [one.path, nameOf(one)] as const)]}
              onChoose={setAgainst}
            />
          )}
          {names.length > 1 && (
            <Select
              label="Lines"
              value={line}
              options={[["all", "all"] as const, ...names.map((name, i) => [String(i), name] as const)]}
              onChoose={setLine}
            />
          )}
          {small && channel.shape[0] > 1 && <Check label="Mean of all" checked={mean} onChange={setMean} />}
          {(!mean || !small) && (
            <IndexChoice
              label={capital(channel.layout.axes[0])}
              count={channel.shape[0]}
              value={at}
              onChoose={setIndex}
            />
          )}
        </>
      }
    >
      {figures === null ? <Wait of={wait} what="the channel" /> : (
        <>
          {figures.map((figure) => <Chart key={figure.type} figure={figure} />)}
          {channel.layout.axes.at(-1) === "OFDM symbol" && value![0].sizes.length === 2 && (
            <TimeFrequency channel={channel} block={value![0]} summary={summary} />
          )}
        </>
      )}
    </ViewPanel>
  );
}

/** Level of the darkest colour below the largest gain: fading notches. */
const DEEPEST_DB = 20;

/** The gain of every subcarrier in every OFDM symbol. */
function TimeFrequency({ channel, block, summary }: { channel: Channel; block: Block; summary: RunSummary }) {
  const { real, imaginary, sizes: [symbols, subcarriers] } = block;
  const cells = useMemo(() =>
    Float64Array.from({ length: real.length }, (_, at) => {
      const from = at % symbols * subcarriers + Math.floor(at / symbols);
      return real[from] ** 2 + imaginary![from] ** 2;
    }), [block]);
  return (
    <PowerMap
      title="Gain over time and frequency"
      sentence={`${symbols} OFDM symbols and ${subcarriers} subcarriers.`}
      source={sourceOf(summary, channel)}
      cells={cells}
      columns={symbols}
      x={{ title: "OFDM symbol", low: -0.5, high: symbols - 0.5 }}
      y={{ title: "Subcarrier", low: -0.5, high: subcarriers - 0.5 }}
      deepest={DEEPEST_DB}
    />
  );
}

/** The name of an output, with its step where the other one is called the same. */
const shortName = (one: Channel, other: Channel) => one.name === other.name ? nameOf(one) : capital(one.name);

const capital = (text: string) => text[0].toUpperCase() + text.slice(1);

/** The responses of one line: one, or one for each first index where the whole array was read. */
function responsesOf({ real, imaginary, sizes, shape }: Block, { layout }: Channel, line: number): Response[] {
  const subcarriers = shape.at(-1)!, lines = shape.slice(layout.choose, -1).reduce((a, b) => a * b, 1);
  const repeats = sizes.length === shape.length ? shape[0] : 1;
  return Array.from({ length: repeats }, (_, i) => {
    const from = (i * lines + line) * subcarriers;
    return {
      label: "",
      real: real.subarray(from, from + subcarriers),
      imaginary: imaginary!.subarray(from, from + subcarriers),
    };
  });
}
