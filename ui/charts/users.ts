/** Rates of the users of a downlink, and the users that a scheduler serves in each slot. */
import { isNumber, type JsonObject, toNumber } from "../../lib/contract/value.ts";
import type { BarFigure, CurveFigure, FigurePoint } from "../../lib/figure/types.ts";

interface Facts {
  title: string;
  subtitle: string;
  source: Record<string, string>;
}

/** Slots of one figure of a schedule. */
export const SLOTS_SHOWN = 100;

/** The mean rate of each user in a report, or null. */
export function userRatesOf({ user_rates_bps_hz: rates }: JsonObject): number[] | null {
  return Array.isArray(rates) && rates.length > 0 && rates.every(isNumber) ? rates.map(toNumber) : null;
}

/** One bar per user. */
export function userRatesFigure(rates: readonly number[], facts: Facts): BarFigure {
  return {
    ...facts,
    form: "bars",
    type: "user-rates",
    value: { title: "Mean rate", unit: "bit/s/Hz", scale: "linear", domain: null },
    bars: rates.map((value, user) => ({ label: `User ${user}`, kind: "measured", value, low: null, high: null })),
  };
}

/**
 * The users of the slots from `first` on, at most SLOTS_SHOWN of them.
 * @param chosen [slot, group], negative for a free place
 */
export function scheduleFigure(
  chosen: ArrayLike<number>,
  group: number,
  { users, first, ...facts }: Facts & { users: number; first: number },
): CurveFigure {
  const slots = chosen.length / group, last = Math.min(slots, first + SLOTS_SHOWN) - 1, points: FigurePoint[] = [];
  for (let slot = first; slot <= last; slot++) {
    for (let place = 0; place < group; place++) {
      const user = chosen[slot * group + place];
      if (user >= 0) points.push({ x: slot, y: user, low: null, high: null });
    }
  }
  return {
    ...facts,
    form: "curves",
    type: "schedule",
    x: { title: "Slot", unit: "", scale: "linear", domain: [first, Math.max(last, first + 1)] },
    y: { title: "User", unit: "", scale: "linear", domain: [0, Math.max(users - 1, 1)] },
    series: [{ label: "Served", kind: "measured", points }],
    step: false,
    front: null,
    joined: false,
  };
}
