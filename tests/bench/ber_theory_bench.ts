/**
 * All points of the pack bit_transport/ber_theory_v1 against their closed forms (108 points, about two minutes on two free
 * cores): every point runs until it has 100 errors, and its Bonferroni-corrected interval (together 95 %) must hold the closed
 * form. Exits 1 when a point does not.
 *
 *     deno run -A tests/bench/ber_theory_bench.ts
 */
import { shownAggregates } from "../../lib/study/rows/estimates.ts";
import { toNumber } from "../../lib/contract/value.ts";
import { majorityErrorRate, type TheoryChannel, type TheoryModulation } from "../support/repetition_theory.ts";
import { ROOT_PATH } from "../support/paths.ts";
import { theoryPack } from "../support/theory_pack.ts";
import { runBenchmark } from "../support/session.ts";
import { row, sized } from "./measure.ts";

const POINTS = sized(9, 1);
const CURVES = 12;
const level = 1 - 0.05 / (POINTS * CURVES);

const stateDir = await Deno.makeTempDir({ prefix: "svc-theory-" });
try {
  const points = Array.from({ length: POINTS }, (_, point) => point);
  const file = await theoryPack(stateDir, points, sized(120_000, 3_000));
  const pack = await Deno.readTextFile(file);
  await Deno.writeTextFile(
    file,
    pack.replace("confidence_level: 0.95", `confidence_level: ${level}`)
      .replace("min_replicates: 12", `min_replicates: ${sized(12, 1)}`),
  );
  const { result } = await runBenchmark(file, { stateDir, projectRoot: ROOT_PATH });
  const selections = new Map(result.recipes.map((one) => [one.id, one.matrix_selection]));
  const estimates = shownAggregates(result);
  if (result.status !== "completed" || estimates.length !== POINTS * CURVES) {
    throw new Error(`${estimates.length} points of ${POINTS * CURVES}, ${result.status}`);
  }
  let missed = 0, widest = 0;
  for (const { recipe_id, ci_low, ci_high, mean, events, confidence_level } of estimates) {
    if (toNumber(confidence_level) !== level || events! < 100) throw new Error(`${recipe_id}: ${events} errors`);
    const { channel, modulation, repetition, snr_db } = selections.get(recipe_id)!;
    const theory = majorityErrorRate(
      channel as TheoryChannel,
      modulation as TheoryModulation,
      Number(repetition),
      10 ** (Number(snr_db) / 10),
    );
    const [low, high] = [Number(ci_low), Number(ci_high)];
    widest = Math.max(widest, (high - low) / 2 / Number(mean));
    if (low <= theory && theory <= high) continue;
    missed++;
    console.log(`${recipe_id}: ${theory} is not within ${low} … ${high}`);
  }
  row("points that hold their closed form", `${estimates.length - missed} of ${estimates.length}`, "aim: all");
  row("widest interval", `± ${(100 * widest).toFixed(0)} %`, `${(100 * level).toFixed(3)} % each, 95 % together`);
  if (missed > 0) Deno.exitCode = 1;
} finally {
  await Deno.remove(stateDir, { recursive: true });
}
