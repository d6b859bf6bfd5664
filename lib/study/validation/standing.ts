/** Verdicts in short: points within, and the largest deviation as a share of its tolerance. */
import { numberText } from "../../figure/number_text.ts";
import type { PointVerdict, Verdict } from "./verdict.ts";

/** A verdict in a list. */
export interface Standing extends Pick<Verdict, "verdict" | "quick" | "result_id"> {
  /** Whether the result lies beside the cards and not in the workspace. */
  published: boolean;
  points: number;
  within: number;
  /** The largest deviation of all points, of which the tolerance is 1; `share` is null where it cannot be measured. */
  largest: { share: number | null; text: string };
}

const number = (value: number | null, digits = 3) => numberText(value, "unicode", digits);
const UNIT = { db: " dB", margin_db: " dB margin", relative: "", absolute: "", sigma: " σ" };
type Kind = keyof typeof UNIT;

const texts = ({ deviation, tolerance }: Pick<PointVerdict, "deviation" | "tolerance">) =>
  Object.entries(deviation).map(([name, value]) => {
    const kind = name as Kind, limit = tolerance[kind]!;
    const [shown, most] = kind === "relative"
      ? [value === null ? "–" : `${number(100 * value)} %`, `${number(100 * limit)} %`]
      : [number(value), `${number(limit)}${UNIT[kind]}`];
    return { share: value === null ? null : Math.abs(value) / limit, text: `${shown} of ${most}` };
  });

/** Deviations with their tolerances: `0.02 of 0.1 dB`. */
export const deviationText = (point: Pick<PointVerdict, "deviation" | "tolerance">): string =>
  texts(point).map(({ text }) => text).join("; ");

const size = ({ share }: Standing["largest"]) => share ?? Infinity;
const larger = (a: Standing["largest"], b: Standing["largest"]) => size(b) > size(a) ? b : a;

/** A verdict in short; rows of switched causes do not count. */
export function standingOf({ verdict, quick, result_id, published, points }: Verdict): Standing {
  const own = points.filter(({ cause }) => cause === undefined);
  return {
    verdict,
    quick,
    result_id,
    published: published === true,
    points: own.length,
    within: own.filter(({ within }) => within).length,
    largest: own.flatMap(texts).reduce(larger),
  };
}

/** What cards prove: `Proved by 3 cards, largest deviation 0.08 of 0.1 dB`. */
export function proofText(cards: readonly { latest: Standing | null }[]): string {
  if (cards.length === 0) return "No validation card";
  const found = cards.flatMap(({ latest }) => latest ?? []), count = (n: number) => n === 1 ? "1 card" : `${n} cards`;
  if (found.length === 0) return `${count(cards.length)} without a result`;
  const { text } = found.map(({ largest }) => largest).reduce(larger);
  const differ = found.filter(({ verdict }) => verdict !== "reproduced").length;
  return `Proved by ${count(found.length)}, largest deviation ${text}` +
    (differ === 0 ? "" : `; ${count(differ)} not reproduced`) +
    (found.length === cards.length ? "" : `; ${count(cards.length - found.length)} without a result`);
}
