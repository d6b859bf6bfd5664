/** Which artifacts hold channels over subcarriers, and what their axes mean. */
import type { Artifact } from "../documents.ts";

/** Axes before the subcarriers; the first `choose` of them are chosen one by one, the others are lines of the picture. */
interface Layout {
  axes: readonly string[];
  choose: number;
}

const ANTENNAS: Layout = { axes: ["example", "rx", "tx"], choose: 1 };
const MISO: Layout = { axes: ["realisation", "tx"], choose: 1 };
const STATE: Layout = { axes: ["grid", "OFDM symbol"], choose: 1 };

const LAYOUTS: Readonly<Record<string, Layout>> = {
  "ai_phy.channel_realization.numpy": ANTENNAS,
  "ai_phy.channel_estimation_truth.numpy": ANTENNAS,
  "ai_phy.channel_estimation_ls_estimate.numpy": ANTENNAS,
  "ai_phy.channel_estimate.numpy": ANTENNAS,
  "channel.miso_ofdm_csi.numpy": MISO,
  "channel.miso_ofdm_csi_reconstruction.numpy": MISO,
  "channel.ofdm_channel_state.numpy": STATE,
  "ai_phy.resource_allocation_problem.numpy": { axes: ["snapshot"], choose: 1 },
  "isac.ofdm_allocation_problem.numpy": { axes: ["example"], choose: 1 },
};

/** Truths and estimates, to be held against each other. */
const TRUTHS = ["ai_phy.channel_estimation_truth.numpy", "channel.miso_ofdm_csi.numpy"];
const ESTIMATES = ["ai_phy.channel_estimate.numpy", "channel.miso_ofdm_csi_reconstruction.numpy"];

export interface Channel extends Artifact {
  layout: Layout;
  shape: number[];
}

/** Channels of a run with more than one subcarrier. */
export function channelsOf(artifacts: readonly Artifact[]): Channel[] {
  return artifacts.flatMap((artifact) => {
    const layout = LAYOUTS[artifact.kind], { shape } = artifact;
    if (layout === undefined || shape === null || shape.length !== layout.axes.length + 1 || shape.at(-1)! < 2) {
      return [];
    }
    return [{ ...artifact, layout, shape }];
  });
}

/** The first view: a true channel with its estimate where there are both, else the first channel alone. */
export function firstPair(channels: readonly Channel[]): [Channel, Channel | null] {
  const truth = channels.find(({ kind }) => TRUTHS.includes(kind));
  const estimate = channels.find(({ kind, shape }) =>
    ESTIMATES.includes(kind) && String(shape) === String(truth?.shape)
  );
  return truth !== undefined && estimate !== undefined ? [truth, estimate] : [channels[0], null];
}

/** Names of the lines of a block: `rx 0, tx 1`. */
export function lineNames({ layout, shape }: Channel): string[] {
  let names = [""];
  for (let axis = layout.choose; axis < layout.axes.length; axis++) {
    names = names.flatMap((name) =>
      Array.from({ length: shape[axis] }, (_, i) => `${name}${name === "" ? "" : ", "}${layout.axes[axis]} ${i}`)
    );
  }
  return names;
}

/** F·Δf in Hz where the metadata has the spacing of subcarriers. */
export function bandwidthOf(channels: readonly Channel[], { shape }: Channel): number | null {
  for (const { metadata } of channels) {
    const spacing = Number(metadata.subcarrier_spacing_khz ?? NaN);
    if (spacing > 0) return spacing * 1e3 * shape.at(-1)!;
  }
  return null;
}
