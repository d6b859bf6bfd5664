/**
 * The ledger of a folder: SHA256SUMS, one line `<sha256>  <relative path>` per file, sorted by path, as
 * `sha256sum -c` reads it.
 */
import { SvcError } from "../contract/error.ts";
import { compareCodePoints } from "../contract/json.ts";

export { writeFileAtomic } from "./write_file.ts";

export const LEDGER_NAME = "SHA256SUMS";
const SHA256 = /^[0-9a-f]{64}$/;

export interface LedgerEntry {
  /** Relative to the folder, with `/` between parts. */
  readonly path: string;
  readonly sha256: string;
}

/**
 * Writes the ledger text.
 *
 * @throws SvcError `ledger_invalid` for a path or digest that the form cannot hold, or a path that stands twice
 */
export function formatLedger(entries: readonly LedgerEntry[]): string {
  const sorted = [...entries].sort((a, b) => compareCodePoints(a.path, b.path));
  return sorted.map((entry, index) => {
    const problem = problemOf(entry, sorted[index - 1]);
    if (problem !== null) throw new SvcError("ledger_invalid", `Cannot list ${JSON.stringify(entry.path)}: ${problem}`);
    return `${entry.sha256}  ${entry.path}\n`;
  }).join("");
}

/**
 * Reads a ledger; it must be exactly what {@link formatLedger} writes.
 *
 * @throws SvcError `ledger_invalid` with the number of the line
 */
export function parseLedger(text: string): LedgerEntry[] {
  if (text === "") return [];
  if (!text.endsWith("\n")) {
    throw new SvcError("ledger_invalid", `Cannot read ${LEDGER_NAME}: its last line is cut short`);
  }
  let previous: LedgerEntry | undefined;
  return text.slice(0, -1).split("\n").map((line, index) => {
    const entry = { sha256: line.slice(0, 64), path: line.slice(66) };
    const problem = line.slice(64, 66) === "  "
      ? problemOf(entry, previous)
      : "it is not a digest, two spaces and a path";
    if (problem !== null) {
      throw new SvcError("ledger_invalid", `Cannot read line ${index + 1} of ${LEDGER_NAME}: ${problem}`);
    }
    return previous = entry;
  });
}

function problemOf({ path, sha256 }: LedgerEntry, previous: LedgerEntry | undefined): string | null {
  if (!SHA256.test(sha256)) return "its digest is not 64 lowercase hex digits";
  // sha256sum escapes line ends and backslashes in names; files of a bundle have neither.
  // deno-lint-ignore no-control-regex -- control characters are what is refused
  if (!path.isWellFormed() || /[\\\u0000-\u001f]/.test(path)) return "its path holds a character that is not allowed";
  if (path.split("/").some((part) => part === "" || part === "." || part === "..")) return "its path is not plain";
  if (previous !== undefined && compareCodePoints(previous.path, path) >= 0) {
    return "its path stands twice or out of order";
  }
  return null;
}
