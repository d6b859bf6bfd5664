/** Where weights send power, over the angle from broadside. */
import { angleFigure, beamPattern } from "../../charts/beam.ts";
import { AngleChart } from "../../charts/angle_chart.tsx";
import { useMemo, useState } from "../../preact.ts";
import type { Artifact, RunSummary } from "../documents.ts";
import { useLoaded } from "../../state/fetched.ts";
import { type Block, readBlock } from "../fetch_array.ts";
import { Select, Wait } from "../../parts.tsx";
import { IndexChoice, metadataNumber, nameOf, sourceOf, ViewPanel } from "./parts.tsx";

const DECISION = "ai_phy.beamforming_decision.numpy", PRECODER = "channel.miso_ofdm_precoder.numpy";
const CHANNELS: Readonly<Record<string, string>> = {
  [DECISION]: "ai_phy.beamforming_problem.numpy",
  [PRECODER]: "channel.miso_ofdm_csi.numpy",
};
/** Where nothing else is said. */
const HALF_WAVELENGTH = 0.5;

/** Weights [example, tx] or [realisation, tx, subcarrier], with the channel that they are for. */
export interface Beams extends Artifact {
  shape: number[];
  channel: Artifact | null;
}

export function beamsOf(artifacts: readonly Artifact[]): Beams[] {
  return artifacts.filter(({ kind }) => kind in CHANNELS).flatMap((artifact) => {
    const { shape, kind } = artifact;
    if (shape === null || shape.length !== (kind === DECISION ? 2 : 3)) return [];
    const channel = artifacts.find((other) => other.kind === CHANNELS[kind] && String(other.shape) === String(shape));
    return [{ ...artifact, shape, channel: channel ?? null }];
  });
}

export function BeamView({ beams, summary }: { beams: Beams[]; summary: RunSummary }) {
  const [path, setPath] = useState(beams[0].path), [index, setIndex] = useState(0), [carrier, setCarrier] = useState(0);
  const beam = beams.find((one) => one.path === path) ?? beams[0], { shape, channel } = beam;
  const row = Math.min(index, shape[0] - 1),
    subcarriers = shape[2] ?? 1,
    subcarrier = Math.min(carrier, subcarriers - 1);
  const { value, ...wait } = useLoaded(
    (signal) => Promise.all([beam, ...(channel === null ? [] : [channel])].map((one) => readBlock(one, [row], signal))),
    `${beam.path} ${row}`,
  );
  const figure = useMemo(() => {
    if (value === null) return null;
    const spacing = metadataNumber(beam, "element_spacing_wavelengths") ?? HALF_WAVELENGTH;
    const [weights, heard] = value.map((block) => beamPattern(columnOf(block, subcarriers, subcarrier), spacing));
    const policy = beam.metadata.beamformer ?? beam.metadata.precoder ?? "";
    return angleFigure(
      "beam-pattern",
      [
        { label: "Beam", powers: weights },
        ...(heard === undefined ? [] : [{ label: "Channel, as a beam", kind: "baseline" as const, powers: heard }]),
      ],
      [],
      {
        title: "Beam pattern",
        subtitle: [
          `Example ${row}`,
          String(policy).replaceAll("_", " "),
          subcarriers > 1 ? `subcarrier ${subcarrier}` : "",
          `${shape[1]} antennas in a line, ${spacing} wavelengths apart`,
        ].filter(Boolean).join(" · "),
        source: sourceOf(summary, beam),
      },
    );
  }, [value, subcarrier]);
  return (
    <ViewPanel
      title="Beams"
      controls={
        <>
          {beams.length > 1 && (
            <Select
              label="Weights"
              value={beam.path}
              options={beams.map((one) => [one.path, nameOf(one)] as const)}
              onChoose={setPath}
            />
          )}
          <IndexChoice label="Example" count={shape[0]} value={row} onChoose={setIndex} />
          <IndexChoice label="Subcarrier" count={subcarriers} value={subcarrier} onChoose={setCarrier} />
        </>
      }
    >
      {figure === null ? <Wait of={wait} what="the weights" /> : <AngleChart figure={figure} />}
    </ViewPanel>
  );
}

/** The weights of one subcarrier of a block [tx, subcarrier], interleaved. */
function columnOf({ real, imaginary }: Block, subcarriers: number, subcarrier: number): Float64Array {
  const antennas = real.length / subcarriers, out = new Float64Array(2 * antennas);
  for (let m = 0; m < antennas; m++) {
    out[2 * m] = real[m * subcarriers + subcarrier];
    out[2 * m + 1] = imaginary![m * subcarriers + subcarrier];
  }
  return out;
}
