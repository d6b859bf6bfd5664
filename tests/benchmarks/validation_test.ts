/** The quick subset of every validation card reproduces its reference. */
import assert from "node:assert/strict";
import { listCards } from "../../lib/study/validation/cards.ts";
import { sharedSession } from "../support/session.ts";
import { ROOT_PATH } from "../support/paths.ts";

const shared = sharedSession({ projectRoot: ROOT_PATH });

for (const { card: { id } } of listCards(ROOT_PATH)) {
  shared.test(`the quick subset of ${id} is reproduced`, async ({ validation }) => {
    const [{ verdict, quick, points }] = await validation.run([id], { quick: true });
    assert.ok(quick);
    assert.notEqual(verdict, "differs", JSON.stringify(points.filter(({ within }) => !within)));
  });
}
