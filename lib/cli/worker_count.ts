/** The value of `--parallel-workers`. */
import { InvalidArgumentError } from "./commander.ts";

/** @throws InvalidArgumentError for anything but a whole number from 1 to 32 */
export function workerCount(text: string): number {
  const count = Number(text);
  if (!/^\d+$/.test(text) || count < 1 || count > 32) {
    throw new InvalidArgumentError("Give a whole number from 1 to 32.");
  }
  return count;
}
