/** Which artifacts hold powers over subcarriers, and which channel they were made for. */
import type { Artifact } from "../documents.ts";
import type { Channel } from "./channels.ts";

const KINDS = [
  "channel.power_allocation.numpy",
  "ai_phy.resource_allocation_decision.numpy",
  "isac.ofdm_power_allocation.numpy",
];

/** Powers [state, subcarrier] with the channel that they were made for. */
export interface Allocation extends Artifact {
  shape: number[];
  channel: Channel;
}

/** Allocations whose channel is there: that of as many states and subcarriers. */
export function allocationsOf(artifacts: readonly Artifact[], channels: readonly Channel[]): Allocation[] {
  return artifacts.filter(({ kind }) => KINDS.includes(kind)).flatMap((artifact) => {
    const { shape } = artifact;
    if (shape === null || shape.length !== 2) return [];
    // Powers are shared among subcarriers, not antennas.
    const fitting = channels.filter(({ shape: own, layout }) =>
      !layout.axes.includes("tx") && own.at(-1) === shape[1] && own.slice(0, -1).reduce((a, b) => a * b, 1) === shape[0]
    );
    // A transmitter may know less than there was: what it is held against is the channel itself.
    const channel = fitting.find(({ metadata }) => metadata.csi_role === "actual") ?? fitting[0];
    return channel === undefined ? [] : [{ ...artifact, shape, channel }];
  });
}

/** Indices of the leading axes for a row of their flattened product. */
export function indicesOf(row: number, sizes: readonly number[]): number[] {
  const indices: number[] = [];
  for (const size of sizes.toReversed()) {
    indices.unshift(row % size);
    row = Math.floor(row / size);
  }
  return indices;
}
