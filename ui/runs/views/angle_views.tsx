/** Figures over the angle from broadside: spectra of arrivals, radiation patterns, beams, and reflecting surfaces. */
import type { FigureGuide } from "../../../lib/figure/types.ts";
import { numberText } from "../../../lib/figure/number_text.ts";
import { AngleChart } from "../../charts/angle_chart.tsx";
import {
  angleFigure,
  angleSpectra,
  beamPattern,
  directionGuides,
  patternGuides,
  reflectedWeights,
} from "../../charts/beam.ts";
import { Chart } from "../../charts/chart.tsx";
import type { Artifact } from "../documents.ts";
import { type Block, readBlock } from "../fetch_array.ts";
import { metadataNumber, nameOf, type Shaped, sourceOf } from "./parts.tsx";
import { view } from "./view.tsx";

/** Element spacing in wavelengths where the metadata has none. */
const HALF_WAVELENGTH = 0.5;

const words = (text: unknown) => String(text ?? "").replaceAll("_", " ");

/** Angle spectra of snapshots [example, antenna, snapshot], with the true and the estimated directions of arrival. */
export const ANGLES = view({
  title: "Directions",
  matches({ artifacts }) {
    const observation = artifacts.find(({ kind, shape }) =>
      /^ai_phy\.aoa_(observation|problem)\./.test(kind) && shape?.length === 3
    ) as Shaped | undefined;
    const spacing = observation && metadataNumber(observation, "element_spacing_wavelengths");
    if (observation === undefined || spacing == null) return [];
    const find = (kind: string) =>
      artifacts.find((other) => other.kind === kind && other.shape?.[0] === observation.shape[0]) ?? null;
    const truth = find("ai_phy.aoa_truth.numpy"), estimate = find("ai_phy.aoa_estimate.numpy");
    return [{ observation, spacing, truth, estimate }];
  },
  keyOf: ({ observation }) => observation.path,
  indices: ({ observation: { shape } }) => [["Example", shape[0]]],
  what: "the snapshots",
  async load({ observation, truth, estimate }, indices, signal) {
    const angles = async (artifact: Artifact | null) =>
      artifact === null ? [] : Array.from((await readBlock(artifact, indices, signal)).real);
    return await Promise.all([readBlock(observation, indices, signal), angles(truth), angles(estimate)]);
  },
  figure([{ real, imaginary }, isAt, foundAt], { item: { observation, spacing }, indices: [index], summary }) {
    const [, antennas, snapshots] = observation.shape, sources = Math.max(1, isAt.length || foundAt.length);
    const x = new Float64Array(2 * real.length);
    real.forEach((one, i) => x.set([one, imaginary![i]], 2 * i));
    const { bartlett, music } = angleSpectra(x, antennas, snapshots, spacing, sources);
    const figure = angleFigure(
      "angle-spectrum",
      [{ label: "Bartlett", powers: bartlett }, ...(music === null ? [] : [{ label: "MUSIC", powers: music }])],
      directionGuides(isAt, foundAt),
      {
        title: "Angle spectrum",
        subtitle: `Example ${index} · ${antennas} antennas, ${spacing} wavelengths apart · ${snapshots} snapshots`,
        source: sourceOf(summary, observation),
      },
    );
    return <Chart figure={figure} />;
  },
});

/** Radiation patterns [example, angle], with peak and half power. */
export const PATTERNS = view({
  title: "Radiation pattern",
  matches: ({ artifacts }) =>
    artifacts.filter((one): one is Shaped => one.kind === "ai_phy.beampattern.numpy" && one.shape?.length === 2),
  keyOf: ({ path }) => path,
  menu: { label: "Pattern", textOf: nameOf },
  indices: ({ shape }) => [["Example", shape[0]]],
  what: "the pattern",
  load: (pattern, indices, signal) =>
    Promise.all([readBlock(pattern, indices, signal), readBlock({ ...pattern, array: "angles_deg" }, [], signal)]),
  figure([{ real: powers }, { real: angles }], { item, indices: [index], summary }) {
    const antennas = metadataNumber(item, "tx_antennas");
    const figure = angleFigure(
      "beam-pattern",
      [{ label: "Pattern", powers, angles }],
      patternGuides(powers, angles),
      {
        title: "Radiation pattern",
        subtitle: `Example ${index}${antennas === null ? "" : ` · ${antennas} antennas in a line`}`,
        source: sourceOf(summary, item),
      },
    );
    return <AngleChart figure={figure} />;
  },
});

const DECISION = "ai_phy.beamforming_decision.numpy", PRECODER = "channel.miso_ofdm_precoder.numpy";
/** Channels of weights. */
const CHANNELS: Readonly<Record<string, string>> = {
  [DECISION]: "ai_phy.beamforming_problem.numpy",
  [PRECODER]: "channel.miso_ofdm_csi.numpy",
};

/** Weights [example, tx] or [realisation, tx, subcarrier], with the channel that they are for. */
export const BEAMS = view({
  title: "Beams",
  matches: ({ artifacts }) =>
    artifacts.filter(({ kind, shape }) => kind in CHANNELS && shape?.length === (kind === DECISION ? 2 : 3))
      .map((beam) => ({
        beam: beam as Shaped,
        channels: artifacts.filter(({ kind, shape }) =>
          kind === CHANNELS[beam.kind] && String(shape) === String(beam.shape)
        ).slice(0, 1),
      })),
  keyOf: ({ beam }) => beam.path,
  menu: { label: "Weights", textOf: ({ beam }) => nameOf(beam) },
  indices: ({ beam: { shape } }) => [["Example", shape[0]], ["Subcarrier", shape[2] ?? 1]],
  readBy: 1,
  what: "the weights",
  load: ({ beam, channels }, indices, signal) =>
    Promise.all([beam, ...channels].map((one) => readBlock(one, indices, signal))),
  figure(value, { item: { beam }, indices: [index, subcarrier], summary }) {
    const { metadata, shape: [, antennas, subcarriers = 1] } = beam;
    const spacing = metadataNumber(beam, "element_spacing_wavelengths") ?? HALF_WAVELENGTH;
    const [weights, heard] = value.map((block) => beamPattern(columnOf(block, subcarriers, subcarrier), spacing));
    const figure = angleFigure(
      "beam-pattern",
      [
        { label: "Beam", powers: weights },
        ...(heard === undefined ? [] : [{ label: "Channel, as a beam", kind: "baseline" as const, powers: heard }]),
      ],
      [],
      {
        title: "Beam pattern",
        subtitle: [
          `Example ${index}`,
          words(metadata.beamformer ?? metadata.precoder),
          subcarriers > 1 ? `subcarrier ${subcarrier}` : "",
          `${antennas} antennas in a line, ${spacing} wavelengths apart`,
        ].filter(Boolean).join(" · "),
        source: sourceOf(summary, beam),
      },
    );
    return <AngleChart figure={figure} />;
  },
});

/** Reflections of a surface: phases [example, element] with the channels that they are for. */
export const SURFACES = view({
  title: "Reflecting surface",
  matches({ artifacts }) {
    const phases = artifacts.find(({ kind, shape }) => kind === "ris.phases.numpy" && shape?.length === 2);
    const channel = artifacts.find(({ kind, shape }) =>
      kind === "ris.channel.numpy" && shape?.[0] === phases?.shape?.[0]
    );
    return phases === undefined || channel === undefined ? [] : [{ phases: phases as Shaped, channel }];
  },
  keyOf: ({ phases }) => phases.path,
  indices: ({ phases: { shape } }) => [["Example", shape[0]]],
  what: "the phases",
  load: ({ phases, channel }, indices, signal) =>
    Promise.all([readBlock(phases, indices, signal), readBlock({ ...channel, array: "g" }, indices, signal)]),
  figure([{ real }, incident], { item: { phases, channel }, indices: [index], summary }) {
    const receiver = metadataNumber(channel, "receiver_angle_deg"), elements = phases.shape[1];
    // The channel from the first transmit antenna, of a block [element, tx].
    const g = columnOf(incident, incident.real.length / elements, 0);
    const guides: FigureGuide[] = receiver === null
      ? []
      : [{ axis: "x", at: receiver, label: `receiver ${numberText(receiver, "unicode")}°` }];
    const reflected = (phases: Float64Array) => beamPattern(reflectedWeights(phases, g), HALF_WAVELENGTH);
    const figure = angleFigure(
      "beam-pattern",
      [
        { label: "Reflected", powers: reflected(real) },
        { label: "Equal phases", kind: "baseline", powers: reflected(real.map(() => 0)) },
      ],
      guides,
      {
        title: "Reflected beam",
        subtitle: `Example ${index} · ${elements} elements · ${words(phases.metadata.optimizer)}`,
        source: sourceOf(summary, phases, channel),
      },
    );
    return <AngleChart figure={figure} />;
  },
});

/** A column of a complex block [row, column], interleaved. */
function columnOf({ real, imaginary }: Block, columns: number, column: number): Float64Array {
  const rows = real.length / columns, out = new Float64Array(2 * rows);
  for (let row = 0; row < rows; row++) {
    out[2 * row] = real[row * columns + column];
    out[2 * row + 1] = imaginary![row * columns + column];
  }
  return out;
}
