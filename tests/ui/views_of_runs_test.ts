/** What views of artifacts compute without a browser: responses, delays, beams, spectra, powers, errors, readings. */
import assert from "node:assert/strict";
import { waterFill } from "../../lib/numeric/link/water_filling.ts";
import { steeringVector } from "../../lib/numeric/antenna/array_response.ts";
import type { CurveFigure } from "../../lib/figure/types.ts";
import {
  angleFigure,
  ANGLES,
  angleSpectra,
  beamPattern,
  directionGuides,
  patternGuides,
  reflectedWeights,
} from "../../ui/charts/beam.ts";
import { budgetFigure, budgetQuantities } from "../../ui/charts/budget.ts";
import { errorFigure, errorLists, quantileOf } from "../../ui/charts/errors.ts";
import { eyeOf } from "../../ui/charts/eye.ts";
import { equalDomains, focusGains, polarPoint, shares } from "../../ui/charts/maps.ts";
import { columnsOf } from "../../ui/runs/views/array_columns.ts";
import { powerFigure } from "../../ui/charts/powers.ts";
import { gridOf, powerPixels, windowAround } from "../../ui/charts/range_doppler.ts";
import { deliveriesFigure, deliveriesOf } from "../../ui/charts/harq.ts";
import { cellsPath, centresOf, elementPowers, pilotGroups } from "../../ui/charts/resource_grid.ts";
import { viridis } from "../../ui/charts/density.ts";
import { boxOf, nearest, placesOf, pointAt, shareOf, valueAt, zoomedEnds } from "../../ui/charts/reading.ts";
import { delayFigure, gainsOf, meanOf, responseFigure, tapPowers } from "../../ui/charts/response.ts";
import { envelopeFigure, exceedance, powerDensity, spectrumFigure } from "../../ui/charts/spectra.ts";
import { figureSentence, figureTable } from "../../ui/charts/table.ts";
import { Generator } from "../../lib/numeric/random/random.ts";
import { scheduleFigure, SLOTS_SHOWN, userRatesFigure, userRatesOf } from "../../ui/charts/users.ts";
import { bandwidthOf, channelsOf, firstPair, lineNames } from "../../ui/runs/views/channels.ts";
import { allocationsOf, indicesOf } from "../../ui/runs/views/allocations.ts";
import { inputsOf } from "../../ui/runs/views/recipe_inputs.ts";
import { bestOverlap, detectionsAt, importancePixels, maskPixels, overlapOf } from "../../ui/runs/views/scene.ts";
import { countOf, stateDiffs } from "../../ui/runs/views/state_diff.ts";
import type { Artifact } from "../../ui/runs/documents.ts";

/** A run's artifact as a view is asked about it. */
const arrayOf = (shape: number[], metadata: Record<string, unknown> = {}) => ({ shape, metadata }) as never;
const FACTS = { title: "x", subtitle: "", source: {} };
const near = (a: number, b: number, tolerance = 1e-9) => assert.ok(Math.abs(a - b) <= tolerance, `${a} is not ${b}`);

Deno.test("taps of a response are where they were, and their powers sum to the mean gain", () => {
  const size = 16, real = new Float64Array(size), imaginary = new Float64Array(size);
  // h = δ(n) + ½·δ(n - 3)
  for (let k = 0; k < size; k++) {
    const turn = -2 * Math.PI * 3 * k / size;
    real[k] = 1 + 0.5 * Math.cos(turn);
    imaginary[k] = 0.5 * Math.sin(turn);
  }
  const response = { label: "h", real, imaginary }, taps = tapPowers(response), gains = gainsOf(response);
  near(taps[0], 1);
  near(taps[3], 0.25);
  near(taps[5], 0);
  near(gains.reduce((sum, gain) => sum + gain, 0) / size, 1.25);
  assert.deepEqual([...meanOf([Float64Array.of(1, 3), Float64Array.of(3, 5)])], [2, 4]);

  const delays = delayFigure([{ label: "h", powers: taps }], size * 1e6, FACTS);
  assert.equal(delays.x.unit, "ns");
  near(delays.series[0].points[3].x, 187.5);
  near(delays.series[0].points[3].y!, 10 * Math.log10(0.25));
  assert.ok(delays.series[0].points.length < size, "what holds nothing is not drawn");
  assert.equal(delayFigure([{ label: "h", powers: taps }], null, FACTS).x.title, "Delay tap");
  assert.equal(delayFigure([{ label: "h", powers: taps }], size * 1e3, FACTS).x.unit, "µs");
  const gain = responseFigure([{ label: "h", powers: gains }], FACTS);
  assert.deepEqual(gain.x.domain, [0, 15]);
  near(gain.series[0].points[0].y!, 20 * Math.log10(1.5));
});

Deno.test("the spectrum of a waveform has its power where its tone is, and Gaussian samples their distribution", () => {
  const count = 4096, real = new Float64Array(count), imaginary = new Float64Array(count);
  for (let n = 0; n < count; n++) {
    real[n] = 2 * Math.cos(2 * Math.PI * n / 8);
    imaginary[n] = 2 * Math.sin(2 * Math.PI * n / 8);
  }
  const tone = { label: "tone", real, imaginary, spacings: 64 }, density = powerDensity(tone);
  near(density.reduce((sum, value) => sum + value, 0), 4);
  const [line] = spectrumFigure([tone], FACTS).series;
  const best = line.points.reduce((a, b) => b.y! > a.y! ? b : a);
  assert.deepEqual([best.x, best.y], [8, 0]);
  assert.ok(line.points.filter(({ x }) => Math.abs(x - 8) > 2).every(({ y }) => y! < -60));
  assert.ok(exceedance(tone).every(({ x }) => x < 0.25), "a tone has a constant envelope");

  const drawn = Generator.seeded(5n).complexNormal64(60_000, 3),
    part = (slot: number) => drawn.filter((_, i) => i % 2 === slot);
  const noise = { label: "noise", real: part(0), imaginary: part(1), spacings: 64 };
  for (const { x, y } of exceedance(noise).filter(({ x }) => x <= 6)) near(y!, Math.exp(-(10 ** (x / 10))), 0.01);
  const [, gaussian] = envelopeFigure([noise], FACTS).series;
  assert.equal(gaussian.kind, "theory");
  near(gaussian.points[0].y!, Math.exp(-1));
  assert.equal(
    powerDensity({ ...noise, real: noise.real.slice(0, 3), imaginary: noise.imaginary.slice(0, 3) }).length,
    3,
  );
});

Deno.test("a beam steered to a direction has its gain M there, as many decibels over one antenna", () => {
  const pattern = beamPattern(steeringVector(20, 8, 0.5), 0.5), best = pattern.indexOf(Math.max(...pattern));
  assert.equal(ANGLES[best], 20);
  near(pattern[best], 8);
  const figure = angleFigure("beam-pattern", [{ label: "w", powers: pattern }], [], FACTS);
  near(figure.y.domain![1], 10 * Math.log10(8) + 3);
  assert.ok(figure.series[0].points.every(({ y }) => y! >= figure.y.domain![0]), "nulls end at the floor");
});

Deno.test("a pattern on its own angles has its half power and its peak as guides", () => {
  const angles = Float64Array.of(-90, -30, 0, 30, 90), powers = Float64Array.of(0, 4, 1, 2, 0);
  const figure = angleFigure("beam-pattern", [{ label: "w", powers, angles }], patternGuides(powers, angles), FACTS);
  assert.deepEqual(figure.series[0].points.map(({ x }) => x), [...angles]);
  assert.deepEqual(figure.guides!.map(({ axis, label }) => [axis, label]), [["y", "half power"], ["x", "peak −30°"]]);
  near(figure.guides![0].at, 10 * Math.log10(2));
  assert.deepEqual(patternGuides(new Float64Array(5), angles), []);
});

Deno.test("a surface whose phases align the paths reflects toward the receiver", () => {
  const elements = 16, g = steeringVector(-20, elements, 0.5), toReceiver = steeringVector(30, elements, 0.5);
  const phases = Float64Array.from(
    { length: elements },
    (_, n) => -Math.atan2(g[2 * n + 1], g[2 * n]) - Math.atan2(toReceiver[2 * n + 1], toReceiver[2 * n]),
  );
  const pattern = beamPattern(reflectedWeights(phases, g), 0.5),
    mirror = beamPattern(reflectedWeights(phases.map(() => 0), g), 0.5);
  assert.equal(ANGLES[pattern.indexOf(Math.max(...pattern))], 30);
  near(Math.max(...pattern), elements);
  assert.equal(ANGLES[mirror.indexOf(Math.max(...mirror))], 20, "equal phases are a mirror");
});

Deno.test("a link budget is drawn over ascending elevations, one quantity at a time", () => {
  const columns = ["elevation_deg", "slant_range_km", "cnr_db"], values = Float64Array.of(90, 600, 12, 10, 1932, 1);
  assert.deepEqual(budgetQuantities(columns), [["cnr_db", "Carrier-to-noise ratio"], [
    "slant_range_km",
    "Slant range",
  ]]);
  assert.deepEqual(budgetQuantities(["slant_range_km"]), []);
  const figure = budgetFigure(values, columns, "cnr_db", { subtitle: "", source: {} });
  assert.deepEqual(figure.series[0].points.map(({ x, y }) => [x, y]), [[10, 1], [90, 12]]);
  assert.equal(figure.y.unit, "dB");
});

Deno.test("users have a bar each, and a schedule a point for each served user of a slot", () => {
  assert.deepEqual(userRatesOf({ user_rates_bps_hz: [1.5, 2] }), [1.5, 2]);
  assert.equal(userRatesOf({ user_rates_bps_hz: [] }), null);
  assert.equal(userRatesOf({}), null);
  const bars = userRatesFigure([1.5, 2], FACTS);
  assert.deepEqual(bars.bars.map(({ label, value }) => [label, value]), [["User 0", 1.5], ["User 1", 2]]);
  const figure = scheduleFigure(Int32Array.of(0, 2, 1, -1), 2, { ...FACTS, users: 3, first: 0 });
  assert.deepEqual(figure.series[0].points.map(({ x, y }) => [x, y]), [[0, 0], [0, 2], [1, 1]]);
  assert.deepEqual([figure.x.domain, figure.y.domain], [[0, 1], [0, 2]]);
  const later = scheduleFigure(new Int32Array(SLOTS_SHOWN + 5), 1, { ...FACTS, users: 1, first: SLOTS_SHOWN });
  assert.deepEqual([later.series[0].points.length, later.x.domain], [5, [SLOTS_SHOWN, SLOTS_SHOWN + 4]]);
});

Deno.test("blocks have a bar for each transmission, and one for those that none delivers", () => {
  assert.equal(deliveriesOf({ delivered_at_transmission: [1] }), null);
  const figure = deliveriesFigure(
    deliveriesOf({ delivered_at_transmission: [90, 7], undelivered_block_count: 3 })!,
    FACTS,
  );
  assert.deepEqual(figure.bars.map(({ label, value, kind }) => [label, value, kind]), [
    ["Transmission 1", 90, "measured"],
    ["Transmission 2", 7, "measured"],
    ["Not delivered", 3, "baseline"],
  ]);
});

Deno.test("elements of a resource grid have their place, and ports of the same elements are a group", () => {
  const groups = pilotGroups([[12, 14], [12, 14], [13, 15]].map((own) => Float64Array.from(own)));
  assert.deepEqual(groups.map(({ ports }) => ports), [[0, 1], [2]]);
  const part = { subcarriers: 6, first: 1, rows: 4, columns: 3 };
  // Subcarriers 4, 5 of symbol 0, 0 to 2 of symbol 1, 5 of symbol 1, 3 of symbol 3: the part has 1 to 4 of three symbols.
  assert.equal(cellsPath([4, 5, 6, 7, 8, 11, 21], part), "M0 3h1v1h-1zM1 0h1v2h-1z");
  assert.deepEqual(centresOf([4, 5, 6, 7, 21], part), [{ x: 0.5, y: 3.5 }, { x: 1.5, y: 0.5 }]);
  const block = { real: Float64Array.of(1, 2, 3, 4, 5, 6, 7, 8), imaginary: Float64Array.of(0, 1, 0, 0, 0, 0, 0, 0) };
  assert.deepEqual([...elementPowers(block, { subcarriers: 2, columns: 2, lines: 2, line: 1 })], [5, 36, 16, 64]);
});

Deno.test("both spectra of one source have their peak at its direction, and MUSIC the sharper one", () => {
  const a = steeringVector(-30, 6, 0.5), snapshots = 8, x = new Float64Array(2 * 6 * snapshots);
  for (let m = 0; m < 6; m++) {
    for (let n = 0; n < snapshots; n++) {
      // A little of something else, so that the noise subspace is one.
      x[2 * (m * snapshots + n)] = a[2 * m] * (1 + n) + 0.01 * Math.sin(7 * m + 3 * n);
      x[2 * (m * snapshots + n) + 1] = a[2 * m + 1] * (1 + n) + 0.01 * Math.cos(5 * m + 11 * n);
    }
  }
  const { bartlett, music } = angleSpectra(x, 6, snapshots, 0.5);
  for (const spectrum of [bartlett, music!]) near(ANGLES[spectrum.indexOf(1)], -30, 0.5);
  const width = (spectrum: Float64Array) => spectrum.filter((value) => value > 0.5).length;
  assert.ok(width(music!) < width(bartlett));
});

Deno.test("the spectrum of two sources has a peak at each, beside the true and the estimated directions", () => {
  const columns = [-20, 12].map((angle) => steeringVector(angle, 8, 0.5)), snapshots = 12;
  const x = new Float64Array(2 * 8 * snapshots);
  for (let m = 0; m < 8; m++) {
    for (let n = 0; n < snapshots; n++) {
      for (const part of [0, 1]) {
        const at = 2 * (m * snapshots + n) + part;
        x[at] = columns[0][2 * m + part] * Math.cos(n) + columns[1][2 * m + part] * Math.sin(2 * n);
        x[at] += 0.01 * Math.sin(7 * m + 3 * n + part);
      }
    }
  }
  const { music } = angleSpectra(x, 8, snapshots, 0.5, 2);
  for (const angle of [-20, 12]) {
    const k = ANGLES.indexOf(angle), around = music!.slice(k - 8, k + 9);
    near(around.indexOf(Math.max(...around)), 8, 1);
    assert.ok(music![k] > 30 * music![ANGLES.indexOf(-4)], "the sources are apart");
  }
  assert.equal(angleSpectra(x, 8, snapshots, 0.5, 8).music, null, "no noise subspace");
  const labels = directionGuides([-20, 12], [-19.97, 12.5, 12.5]).map(({ label }) => label);
  assert.deepEqual(labels, ["true −20°", "true 12°", "estimate −19.97°", "estimate 12.5°"]);
  const figure = angleFigure(
    "angle-spectrum",
    [{ label: "MUSIC", powers: music! }],
    directionGuides([-20, 12], []),
    FACTS,
  );
  assert.deepEqual(figure.guides!.map(({ at }) => at), [-20, 12]);
});

Deno.test("powers stand on the noise of their channel, and water-filled ones reach the level", () => {
  const gains = Float64Array.of(2, 1, 0.5, 0), floors = [0.05, 0.1, 0.2, Infinity];
  const powers = waterFill(floors, 0.5), figure = powerFigure(powers, gains, 0.1, FACTS);
  assert.deepEqual(figure.floor.values, [0.05, 0.1, 0.2, null]);
  for (let k = 0; k < 3; k++) near(figure.floor.values[k]! + figure.amount.values[k], figure.level!.value);
  assert.ok(figure.ceiling > figure.level!.value);
  assert.deepEqual(figureTable(figure).columns, [
    "Subcarrier",
    "Noise over gain N0/|H|²",
    "Power",
    "Water level of this budget",
  ]);
  assert.equal(figureTable(figure).rows[3][1], "");
  assert.match(figureSentence(figure), /A power of 0\.5 over 4 channels, 1 of them without any/);
});

Deno.test("errors of a report become a distribution with its median and 90th percentile", () => {
  const report = { errors_m: [3, 1, 2, 4], angle_errors_deg: [-1.5, 0.5], errors: "none", rmse_m: 2 };
  const lists = errorLists(report);
  assert.deepEqual(lists.map(({ title, unit }) => [title, unit]), [["Position error", "m"], ["Angle error", "°"]]);
  const figure = errorFigure(lists[0], { subtitle: "", source: {} });
  assert.deepEqual(figure.series[0].points.map(({ x, y }) => [x, y]), [[0, 0], [1, 0.25], [2, 0.5], [3, 0.75], [4, 1]]);
  assert.deepEqual(figure.guides!.map(({ at }) => at), [2, 4]);
  assert.equal(errorFigure(lists[1], { subtitle: "", source: {} }).series[0].points[1].x, 0.5, "moduli");
  assert.equal(quantileOf([5], 0.5), 5);
});

const LINE: CurveFigure = {
  form: "curves",
  type: "error-rate",
  ...FACTS,
  x: { title: "SNR", unit: "dB", scale: "linear", domain: null },
  y: { title: "BER", unit: "", scale: "log", domain: null },
  series: [
    { label: "a", kind: "measured", points: [0, 2, 4].map((x) => ({ x, y: 10 ** -x, low: null, high: null })) },
    { label: "t", kind: "theory", points: [0, 4].map((x) => ({ x, y: 10 ** -x, low: null, high: null })) },
  ],
  step: false,
  front: null,
};

Deno.test("a crosshair stands where something was measured; theory is read between its points, along the axis", () => {
  assert.deepEqual(placesOf(LINE, [0, 3]), [0, 2]);
  assert.equal(nearest([0, 2, 4], 2.9), 2);
  assert.equal(nearest([], 1), null);
  near(pointAt(LINE.series[1], 2, LINE)!.y!, 1e-2);
  assert.equal(pointAt(LINE.series[0], 3, LINE), null, "a value is never made up");
  assert.equal(pointAt(LINE.series[0], 3, { ...LINE, step: true })!.y, 1e-2, "a step holds its value");
  near(shareOf(1e-2, LINE.y, [1e-4, 1]), 0.5);
  near(valueAt(0.25, LINE.y, [1e-4, 1]), 1e-3);
});

Deno.test("a box is a part of both axes, whichever corner it began at; a click is none", () => {
  const frame = { left: 10, top: 0, width: 100, height: 100, x: [0, 10], y: [1e-4, 1] } as const;
  const box = boxOf(frame as never, LINE, { x: 110, y: 50 }, { x: 60, y: 0 })!;
  assert.deepEqual(box.x, [5, 10]);
  near(box.y[0], 1e-2);
  near(box.y[1], 1);
  assert.equal(boxOf(frame as never, LINE, { x: 20, y: 20 }, { x: 21, y: 60 }), null);
  assert.deepEqual(zoomedEnds(5, 2, LINE.x, [0, 10]), [2.5, 7.5]);
});

const artifact = (kind: string, shape: number[], metadata = {}): Artifact => ({
  kind,
  path: kind,
  metadata,
  sha256: "",
  step: "s",
  name: kind.split(".")[1],
  dtype: "complex64",
  shape,
  array: null,
});

Deno.test("channels are found by their kind, with what their axes mean; an allocation finds the channel it is for", () => {
  const artifacts = [
    artifact("ai_phy.channel_realization.numpy", [4, 1, 1, 1]),
    artifact("ai_phy.channel_estimation_truth.numpy", [4, 2, 2, 8]),
    artifact("ai_phy.channel_estimate.numpy", [4, 2, 2, 8]),
    artifact("channel.ofdm_channel_state.numpy", [3, 5, 8], { subcarrier_spacing_khz: 15, csi_role: "actual" }),
    { ...artifact("channel.power_allocation.numpy", [15, 8]), dtype: "float64" },
    { ...artifact("channel.power_allocation.numpy", [16, 8]), dtype: "float64" },
  ];
  const channels = channelsOf(artifacts);
  assert.equal(channels.length, 3, "one subcarrier is no response");
  const [first, second] = firstPair(channels);
  assert.deepEqual([first.kind, second!.kind], [artifacts[1].kind, artifacts[2].kind]);
  assert.deepEqual(lineNames(first), ["rx 0, tx 0", "rx 0, tx 1", "rx 1, tx 0", "rx 1, tx 1"]);
  assert.equal(bandwidthOf(channels, first), 120e3);
  assert.deepEqual(allocationsOf(artifacts, channels).map(({ shape, channel }) => [shape[0], channel.kind]), [
    [15, "channel.ofdm_channel_state.numpy"],
  ]);
  assert.deepEqual(indicesOf(7, [3, 5]), [1, 2]);
});

Deno.test("a state diff marks what the report says was omitted or unsupported, and keeps the rest", () => {
  const fact = (subject: string) => ({ subject, predicate: "is", object: "here" });
  const reference = {
    states: [{ id: "a", concepts: ["rain"], entities: [], facts: [fact("rain"), fact("wind")], source_text: "Rain." }],
  };
  const report = {
    items: [{
      id: "a",
      omitted_facts: [fact("wind")],
      unsupported_facts: [fact("snow")],
      omitted_concepts: [],
      unsupported_concepts: ["snow"],
    }],
  };
  const [diff] = stateDiffs(reference, report);
  assert.deepEqual(diff.facts, [
    { fate: "kept", text: "rain is here" },
    { fate: "omitted", text: "wind is here" },
    { fate: "unsupported", text: "snow is here" },
  ]);
  assert.deepEqual([countOf(diff.concepts, "kept"), countOf(diff.concepts, "unsupported")], [1, 1]);
  assert.equal(diff.source, "Rain.");
  assert.deepEqual(stateDiffs(null, report)[0].facts.map(({ fate }) => fate), ["omitted", "unsupported"]);
});

Deno.test("inputs of a step are the artifacts that its recipe wires to it", () => {
  const artifacts = [{ ...artifact("a.b.json", []), step: "data", name: "state" }];
  const recipe = { steps: [{ id: "score", inputs: { reference: "data.state", candidate: "other.state" } }] };
  assert.deepEqual(Object.keys(inputsOf(recipe, "score", artifacts)), ["reference"]);
  assert.deepEqual(inputsOf(recipe, "none", artifacts), {});
});

Deno.test("boxes overlap by their common share; a detection is held against references of its label", () => {
  const box = (left: number, right: number) => ({ left, right, top: 0, bottom: 10 });
  assert.equal(overlapOf(box(0, 10), box(0, 10)), 1);
  near(overlapOf(box(0, 10), box(5, 15)), 1 / 3);
  assert.equal(overlapOf(box(0, 10), box(10, 20)), 0);
  const detections = { items: [{ id: "p", detections: [{ label: "disc", confidence: 0.5, box: [0, 0, 10, 10] }] }] };
  const [found] = detectionsAt(detections, "p", 0);
  assert.deepEqual(found, { label: "disc", confidence: 0.5, box: box(0, 10) });
  assert.equal(bestOverlap(found, [found, { ...found, box: box(8, 18) }]), 1);
  assert.equal(bestOverlap(found, [{ ...found, label: "square" }]), null);
  assert.deepEqual([...maskPixels([0, 2], [[1, 2, 3], [4, 5, 6]], 1)], [0, 0, 0, 0, 4, 5, 6, 255]);
});

Deno.test("the tint of an importance map is its share of the largest importance", () => {
  const opacities = (values: number[]) => [...importancePixels(values, [1, 2, 3])].filter((_, i) => i % 4 === 3);
  assert.deepEqual(opacities([0, 1, 2]), [0, 96, 191]);
  assert.deepEqual(opacities([0, 0]), [0, 0]);
  assert.deepEqual([...importancePixels([1], [1, 2, 3])].slice(0, 3), [1, 2, 3]);
});

Deno.test("a range-Doppler map has range upwards and velocity to the right, in dB below its peak", () => {
  // 40 range bins of 2 m, 32 Doppler bins of 3 m/s; bin 16 is at rest.
  const power = new Float64Array(40 * 32).fill(1e-9), steps = { bins: 32, range: 2, velocity: 3 };
  power[5 * 32 + 20] = 100;
  power[0] = 1;
  const grid = gridOf(power, { sizes: [40, 32], cell: [1, 1], ...steps });
  assert.deepEqual([grid.nearest, grid.lowest], [-1, -49.5]);
  assert.deepEqual(windowAround(grid, []), { bottom: 0, left: 0, rows: 40, columns: 32 });
  const shown = windowAround(grid, [{ range: 10, velocity: 12 }, { range: 40, velocity: -20 }]);
  assert.deepEqual(shown, { bottom: 0, left: 8, rows: 25, columns: 17 });
  const pixels = powerPixels(grid, { bottom: 0, left: 0, rows: 40, columns: 32 });
  const at = (row: number, column: number) => [...pixels.subarray(4 * (row * 32 + column)).slice(0, 3)];
  assert.deepEqual(at(39 - 5, 20), viridis(1));
  assert.deepEqual(at(39, 0), viridis(0.5), "20 dB below the peak");
  assert.deepEqual(at(0, 0), viridis(0));
  assert.ok(
    powerPixels(gridOf(new Float64Array(4), { sizes: [2, 2], cell: [1, 1], ...steps }), {
      bottom: 0,
      left: 0,
      rows: 2,
      columns: 2,
    }).every(Number.isInteger),
  );
});

Deno.test("the last axis of a small array is its named quantities; a long one is an axis", () => {
  assert.deepEqual(columnsOf(arrayOf([64, 2], { columns: ["range_m", "angle_deg"] })), ["Range (m)", "Angle (°)"]);
  assert.deepEqual(columnsOf(arrayOf([24, 2])), ["Column 0", "Column 1"]);
  assert.deepEqual(columnsOf(arrayOf([8, 3, 3], { columns: ["a"] })), ["Column 0", "Column 1", "Column 2"]);
  for (const shape of [[24], [24, 1], [64, 512], [1, 4]]) assert.equal(columnsOf(arrayOf(shape)), null, String(shape));
});

Deno.test("a map has axes of equal length around all its points", () => {
  const at = (x: number, y: number) => ({ x, y, low: null, high: null });
  const [x, y] = equalDomains([[at(0, 4), at(10, 6)], [at(2, 5)]]);
  near(x[1] - x[0], 11);
  near(y[1] - y[0], 11);
  near((y[0] + y[1]) / 2, 5);
});

Deno.test("a beam toward a near source has all its gain there, and little at another range and angle", () => {
  const cells = 128, reach = 1, focus = { range: 1, angle: 30 };
  const gains = focusGains(focus, { antennas: 32, wavelength: 0.01, reach, cells });
  const gainAt = (x: number, y: number) =>
    gains[Math.floor(y / (2 * reach) * cells) * cells + Math.floor((x + reach) / (2 * reach) * cells)];
  assert.ok(gainAt(0.5, Math.cos(Math.PI / 6)) > 0.8);
  assert.ok(gainAt(-0.5, Math.cos(Math.PI / 6)) < 0.02, "the mirror image");
  assert.ok(gainAt(0.15, 0.26) < 0.5, "the same angle at three tenths of the range");
  assert.ok(gains.every((gain) => gain <= 1 + 1e-9));
});

Deno.test("a polar plot has 0° up and positive angles to the right; the eye of a tone is that tone", () => {
  assert.deepEqual(polarPoint(90, 0.5).map((part) => Math.round(part) + 0), [110, 0]);
  assert.deepEqual(polarPoint(0, 1).map((part) => Math.round(part) + 0), [0, -220]);
  assert.deepEqual(polarPoint(45, -1).map(Math.abs), [0, 0], "below the lowest level is the middle");
  // One turn in two samples: each interval begins at an extreme and crosses zero in its middle.
  const real = Float64Array.from({ length: 256 }, (_, n) => Math.cos(Math.PI * n / 2)), imaginary = real.map(() => 0);
  const { counts, columns, reach } = eyeOf({ real, imaginary }, 1), rows = counts.length / columns;
  near(reach, 1, 1e-6);
  const levels = (column: number) =>
    Array.from({ length: rows }, (_, row) => row).filter((row) => counts[row * columns + column] > 0);
  assert.deepEqual([levels(0)[0], levels(0).at(-1)], [0, rows - 1]);
  assert.ok(levels(columns / 4).every((row) => row > 0 && row < rows - 1), "between the samples it is at neither end");
  assert.deepEqual([...shares(Float64Array.of(2, 4), 2, 4)], [1e-4, 1]);
});
