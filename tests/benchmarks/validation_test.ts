/**
 * The quick subset of every card of the quick set reproduces its reference. A card without a measured time is in the set; those that
 * are not run with `svc validation run --quick <id>`.
 */
import assert from "node:assert/strict";
import { listCards } from "../../lib/study/validation/cards.ts";
import { readPublished } from "../../lib/study/validation/published.ts";
import { quickSet } from "../../lib/study/validation/quick_set.ts";
import { sharedSession } from "../support/session.ts";
import { ROOT_PATH } from "../support/paths.ts";

const shared = sharedSession({ projectRoot: ROOT_PATH });

for (const { card: { id } } of quickSet(listCards(ROOT_PATH), readPublished(ROOT_PATH))) {
  shared.test(`the quick subset of ${id} is reproduced`, async ({ validation }) => {
    const [{ verdict, quick, points }] = await validation.run([id], { quick: true });
    assert.ok(quick);
    assert.notEqual(verdict, "differs", JSON.stringify(points.filter(({ within }) => !within)));
  });
}
