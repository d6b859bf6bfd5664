/**
 * Counts and rates of a link, and their required sums.
 *
 *     bits      native codec bits + wire overhead = serialised payload; + framing = framed; + forward error
 *               correction = coded; + modulation padding = transmitted
 *     symbols   pilot + header + data + grid padding = channel uses
 *     rates     a recorded bits per pixel agrees with bits / pixels to 1e-9
 */
import { type Code, SvcError } from "../contract/error.ts";
import { isNumber, toNumber, type Value } from "../contract/value.ts";

const RATE_UNITS = ["bits", "bytes", "symbols", "channel_uses", "pixels", "samples", "seconds"] as const;
export type RateUnit = typeof RATE_UNITS[number];

/** Tolerance between a recomputed and a recorded rate. */
const ACCOUNTING_TOLERANCE = 1e-9;

/**
 * Checks a count: a finite, non-negative integer.
 * @param options `continuous` for divisible units such as seconds
 * @throws SvcError `boundary_dtype_invalid`, `boundary_non_finite`, `boundary_count_not_integer`,
 *   `boundary_count_negative`
 */
export function checkCount(
  value: Value | undefined,
  unit: RateUnit,
  options: { name?: string; continuous?: boolean } = {},
): number {
  const name = options.name ?? `the number of ${unit.replace("_", " ")}`;
  const refuse = (code: Code, why: string): never => {
    throw new SvcError(code, `Cannot use ${isNumber(value) ? String(value) : typeof value} as ${name}: ${why}`);
  };
  if (!isNumber(value)) return refuse("boundary_dtype_invalid", "it is not a number");
  const count = toNumber(value);
  if (!Number.isFinite(count)) return refuse("boundary_non_finite", "it is not finite");
  if (count < 0) return refuse("boundary_count_negative", "it is negative");
  if (!options.continuous && unit !== "seconds" && !Number.isSafeInteger(count)) {
    return refuse("boundary_count_not_integer", "it is not an integer");
  }
  return count;
}

/** Checks a count against the expected one. @throws SvcError `boundary_count_mismatch` */
export function checkExpectedCount(found: number, expected: number, unit: RateUnit): void {
  if (found === expected) return;
  throw new SvcError(
    "boundary_count_mismatch",
    `Cannot accept ${found} ${unit.replace("_", " ")}: ${expected} expected`,
  );
}

/** The counts of a link; each sum is checked if all its fields are given. */
export interface LinkAccounts {
  native_codec_bits?: number;
  wire_overhead_bits?: number;
  payload_bits?: number;
  framing_bits?: number;
  framed_bits?: number;
  fec_bits?: number;
  coded_bits?: number;
  modulation_padding_bits?: number;
  transmitted_bits?: number;
  pilot_symbols?: number;
  header_symbols?: number;
  data_symbols?: number;
  grid_padding_symbols?: number;
  channel_uses?: number;
}

const SUMS: readonly { total: keyof LinkAccounts; parts: readonly (keyof LinkAccounts)[] }[] = [
  { total: "payload_bits", parts: ["native_codec_bits", "wire_overhead_bits"] },
  { total: "framed_bits", parts: ["payload_bits", "framing_bits"] },
  { total: "coded_bits", parts: ["framed_bits", "fec_bits"] },
  { total: "transmitted_bits", parts: ["coded_bits", "modulation_padding_bits"] },
  { total: "channel_uses", parts: ["pilot_symbols", "header_symbols", "data_symbols", "grid_padding_symbols"] },
];

/**
 * Checks that every field is a count and that every complete sum holds.
 * @throws SvcError `boundary_accounting_mismatch`, or as {@link checkCount}
 */
export function checkAccounting(accounts: LinkAccounts): void {
  for (const [name, value] of Object.entries(accounts)) {
    const unit = name.endsWith("_bits") ? "bits" : name === "channel_uses" ? "channel_uses" : "symbols";
    checkCount(value, unit, { name });
  }
  for (const { total, parts } of SUMS) {
    const stated = accounts[total], members = parts.map((part) => accounts[part]);
    if (stated === undefined || members.includes(undefined)) continue;
    const sum = (members as number[]).reduce((left, right) => left + right, 0);
    if (Math.abs(sum - stated) > ACCOUNTING_TOLERANCE) {
      throw new SvcError(
        "boundary_accounting_mismatch",
        `Cannot accept ${stated} as ${total}: the sum of its parts is ${sum}`,
        {
          hint: `${parts.map((part, index) => `${part} ${members[index]}`).join(" + ")} = ${sum}`,
        },
      );
    }
  }
}
