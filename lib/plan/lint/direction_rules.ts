/** Mistakes in direction finding: another number of sources than the scene has, coherent sources without smoothing. */
import { isNumber, toNumber } from "../../contract/value.ts";
import { type LintStep, type LintView, opOf, paramOf, type Rule } from "./view.ts";

const SINGLE = ["model.music_aoa_estimator", "model.aoa_estimator_adapter"];
const SUBSPACE = ["music", "root_music", "esprit"];

/** Numbers of sources that the variants of a scene have. */
function sourceCounts(recipe: LintView, scene: LintStep): number[] {
  const counts = recipe.choices(scene, "source_count").values.filter(isNumber).map(toNumber);
  if (counts.length > 0) return counts;
  const given = recipe.choices(scene, "source_angles_deg").values.filter(Array.isArray);
  return given.length > 0 ? given.map(({ length }) => length || 1) : [1];
}

function* withScenes(recipe: LintView, ...operations: string[]): Iterable<{ step: LintStep; scene: LintStep }> {
  for (const step of recipe.ofOp(...operations)) {
    for (const scene of recipe.ancestors(step)) if (scene.op === "source.aoa_scene") yield { step, scene };
  }
}

export const DIRECTION_RULES: readonly Rule[] = [
  {
    code: "source_count_mismatch",
    severity: "warning",
    *find(recipe) {
      for (const { step, scene } of withScenes(recipe, ...SINGLE)) {
        const most = Math.max(...sourceCounts(recipe, scene));
        if (most === 1) continue;
        yield {
          place: opOf(step),
          message: `${step.id} finds one direction where ${scene.id} has ${most} sources`,
          hint: "Use model.multi_aoa_estimator",
          step,
        };
      }
      for (const { step, scene } of withScenes(recipe, "model.multi_aoa_estimator")) {
        const wanted = recipe.value(step, "source_count"), counts = sourceCounts(recipe, scene);
        if (!isNumber(wanted) || toNumber(wanted) === 0 || counts.includes(toNumber(wanted))) continue;
        yield {
          place: paramOf(step, "source_count"),
          message: `${step.id} finds ${toNumber(wanted)} directions where ${scene.id} has ${counts.join(", ")} sources`,
          hint: `Set source_count to ${counts[0]}, or to 0 for the order of order_criterion`,
          step,
        };
      }
    },
  },
  {
    code: "coherent_sources_not_smoothed",
    severity: "warning",
    *find(recipe) {
      for (const { step, scene } of withScenes(recipe, "model.multi_aoa_estimator")) {
        const correlation = recipe.value(scene, "source_correlation");
        const plain = recipe.is(step, "mode", ...SUBSPACE) && recipe.is(step, "spatial_smoothing_subarray", 0) &&
          recipe.is(step, "forward_backward", false);
        if (!isNumber(correlation) || toNumber(correlation) < 1 || !plain) continue;
        yield {
          place: paramOf(step, "mode"),
          message: `${step.id} cannot separate the coherent sources of ${scene.id}: their covariance has rank one`,
          hint: "Set spatial_smoothing_subarray below the number of antennas, or forward_backward to true",
          step,
        };
      }
    },
  },
];
