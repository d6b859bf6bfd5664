/** Spans of time and sizes for readers; apart from the metrics, whose intervals the first page does without. */
import { numberText } from "../../lib/figure/digits.ts";

/** A time span: `12.3 s`, `4 min 2 s`. */
export function secondsText(seconds: number | null): string {
  if (seconds === null) return "–";
  if (seconds < 60) return `${numberText(seconds, "unicode", 3)} s`;
  const whole = Math.round(seconds), minutes = Math.floor(whole / 60);
  if (minutes < 60) return `${minutes} min ${whole % 60} s`;
  return `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

/** Bytes: `1.2 MB`. */
export function bytesText(bytes: number | null | undefined): string {
  if (bytes === null || bytes === undefined) return "–";
  const units = ["B", "kB", "MB", "GB"];
  let value = bytes, unit = 0;
  while (value >= 1000 && unit < units.length - 1) {
    value /= 1000;
    unit++;
  }
  return `${unit === 0 ? value : numberText(value, "unicode", 3)} ${units[unit]}`;
}
