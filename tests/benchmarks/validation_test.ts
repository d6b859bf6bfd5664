/**
 * The quick subset of every card of the quick set reproduces its reference, of cards that take little processor time or have no
 * measured time. The dear ones run under `deno task soak whole`, and each with `svc validation run --quick <id>`.
 */
import assert from "node:assert/strict";
import { listCards } from "../../lib/study/validation/cards.ts";
import { readPublished } from "../../lib/study/validation/published.ts";
import { quickSet } from "../../lib/study/validation/quick_set.ts";
import { FULL_SIZE } from "../support/reduced_sizes.ts";
import { sharedSession } from "../support/session.ts";
import { ROOT_PATH } from "../support/paths.ts";

/** Processor seconds from which a quick subset is dear. */
const DEAR_S = 1.2;
/** Of dear cards that the published results do not have. */
const UNMEASURED: Record<string, number> = { perceptual_network: 3 };

const shared = sharedSession({ projectRoot: ROOT_PATH }), published = readPublished(ROOT_PATH);

for (const { card: { id } } of quickSet(listCards(ROOT_PATH), published)) {
  if (!FULL_SIZE && (UNMEASURED[id] ?? published.get(id)?.quick_cpu_s ?? 0) > DEAR_S) continue;
  shared.test(`the quick subset of ${id} is reproduced`, async ({ validation }) => {
    const [{ verdict, quick, points }] = await validation.run([id], { quick: true });
    assert.ok(quick);
    assert.notEqual(verdict, "differs", JSON.stringify(points.filter(({ within }) => !within)));
  });
}

/** A dear card with checks of its own; what it computes are cases of tests/lib/study/report. */
if (FULL_SIZE) {
  shared.test("differences of curves are those of SciPy", async ({ validation }) => {
    const [{ verdict, points }] = await validation.run(["bd_rate_photographs"], { quick: true });
    assert.equal(verdict, "reproduced", JSON.stringify(points));
    assert.equal(points.length, 4);
    // Only the mean of the photographs' own differences has an interval.
    assert.deepEqual(points.map(({ low, high }) => low !== null && high !== null), [false, false, true, true]);
  });
}
