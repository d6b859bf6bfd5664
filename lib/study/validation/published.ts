/**
 * The published results of cards: `results.json` beside the cards has the last result of each one, with the digest of its
 * `result.json` and the version of its pack. A result counts only for that version: the card and its recipes as they were.
 */
import { inside, readText, writeFile } from "../../artifact/inside.ts";
import { exists } from "../../artifact/path_kind.ts";
import { join } from "node:path";
import { messageOf, SvcError } from "../../contract/error.ts";
import { z } from "../../contract/zod.ts";
import { CARDS_FOLDER, packFolders } from "../pack/packs.ts";

const FILE = "results.json", MAX_BYTES = 2 ** 22;

const number = z.number().nullable();
const result = z.strictObject({
  version: z.string(),
  result_id: z.string(),
  result_sha256: z.string().regex(/^[0-9a-f]{64}$/),
  quick: z.boolean(),
  points: z.array(z.strictObject({
    entry: z.string(),
    measured: number,
    low: number,
    high: number,
    errors: number,
    deviation: z.partialRecord(z.enum(["db", "margin_db", "relative", "absolute", "sigma"]), number),
    within: z.boolean(),
  })),
  /** Processor time of the quick subset as it was last measured, in seconds. */
  quick_cpu_s: z.number().positive().optional(),
  /** Wrong constants with which its quick subset differs; a test changes each one. */
  quick_finds: z.array(z.string()).optional(),
});
const document = z.strictObject({ schema_version: z.literal(1), cards: z.record(z.string(), result) });

/** A result without what stands in its card: the coordinates of its points and their expected values. */
export type PublishedResult = z.infer<typeof result>;

/**
 * The published results by id of their cards; those of the project hide those of the program.
 * @param own only those of the project
 * @throws SvcError `card_invalid` for a file of another form
 */
export function readPublished(projectRoot: string, { own = false } = {}): Map<string, PublishedResult> {
  const found = new Map<string, PublishedResult>();
  for (const folder of packFolders(projectRoot).slice(0, own ? 1 : undefined)) {
    const file = join(folder, CARDS_FOLDER, FILE);
    if (!exists(file)) continue;
    try {
      const { cards } = document.parse(JSON.parse(readText(inside(folder, CARDS_FOLDER, FILE), MAX_BYTES)));
      for (const [id, one] of Object.entries(cards)) if (!found.has(id)) found.set(id, one);
    } catch (error) {
      throw new SvcError("card_invalid", `Cannot use ${file}: ${messageOf(error)}`, {
        hint: "Write it again with: svc validation report",
        cause: error,
      });
    }
  }
  return found;
}

/** Writes the results of the project, a line for each card. */
export function writePublished(projectRoot: string, results: ReadonlyMap<string, PublishedResult>): void {
  const lines = [...results].sort(([a], [b]) => (a < b ? -1 : 1)).map((one) => one.map((part) => JSON.stringify(part)));
  writeFile(
    inside(projectRoot, "benchmarks", CARDS_FOLDER, FILE),
    `{"schema_version": 1, "cards": {\n${lines.map(([id, one]) => `${id}: ${one}`).join(",\n")}\n}}\n`,
  );
}
