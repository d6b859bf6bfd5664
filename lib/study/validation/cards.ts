/** Validation cards: those of the project's `benchmarks/validation/`, and those of the program. */
import { inside, makeFolder, readText, writeFile } from "../../artifact/inside.ts";
import { entriesOf, exists } from "../../artifact/path_kind.ts";
import { dirname, join, relative } from "node:path";
import { refusal, SvcError } from "../../contract/error.ts";
import { didYouMean } from "../../contract/nearest.ts";
import type { JsonObject } from "../../contract/value.ts";
import { attachLocations, readRecipeText } from "../../recipe/read.ts";
import { type Card, cardOf } from "../pack/card.ts";
import { CARDS_FOLDER, packFolders } from "../pack/packs.ts";

const MAX_CARD_BYTES = 2 ** 20;

/** A card, as it is written, and its file, an absolute path. */
export interface CardFile {
  file: string;
  card: Card;
  document: JsonObject;
}

/**
 * The cards by id; one of the project hides one of the program.
 * @param operation only cards of this operation
 * @throws SvcError `card_invalid` with every problem of the first file that is no card
 */
export function listCards(projectRoot: string, operation?: string): CardFile[] {
  const cards = [...cardFiles(projectRoot)].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, file]) => readCard(file));
  return operation === undefined ? cards : cards.filter(({ card }) => card.operations.includes(operation));
}

/** The files of cards by their names without the extension. */
function cardFiles(projectRoot: string): Map<string, string> {
  const files = new Map<string, string>();
  for (const folder of packFolders(projectRoot).map((one) => join(one, CARDS_FOLDER))) {
    for (const { name, isFile } of entriesOf(folder)) {
      const id = name.replace(/\.yaml$/, "");
      if (isFile && id !== name && !files.has(id)) files.set(id, join(folder, name));
    }
  }
  return files;
}

/** Cards by file, with the text that each was read from. */
const cardsRead = new Map<string, { text: string; found: CardFile }>();

function readCard(file: string): CardFile {
  const folder = dirname(file), text = readText(inside(folder, relative(folder, file)), MAX_CARD_BYTES);
  const known = cardsRead.get(file);
  if (known?.text === text) return known.found;
  const { value, locate } = readRecipeText(text, { file });
  const { card, diagnostics } = cardOf(value);
  if (card !== null) {
    const found = { file, card, document: value as JsonObject };
    cardsRead.set(file, { text, found });
    return found;
  }
  throw refusal("card_invalid", `Cannot use the card ${file}`, attachLocations(diagnostics, locate));
}

/**
 * One card. Where its file has its name, no other file is read.
 * @throws SvcError `card_not_found` with the nearest id; `card_invalid`
 */
export function findCard(projectRoot: string, id: string): CardFile {
  const file = cardFiles(projectRoot).get(id), named = file === undefined ? undefined : readCard(file);
  if (named?.card.id === id) return named;
  const cards = listCards(projectRoot), found = cards.find(({ card }) => card.id === id);
  if (found !== undefined) return found;
  const ids = cards.map(({ card }) => card.id);
  throw new SvcError("card_not_found", `Cannot find a validation card named ${id}`, {
    hint: didYouMean(id, ids) ?? "List them with: svc validation list",
  });
}

/**
 * Writes a card to start from.
 * @param recipe path of the recipe, relative to the project, or its name
 * @returns the absolute path of the file
 * @throws SvcError `usage_invalid` for an invalid id, or where the file exists
 */
export function scaffoldCard(projectRoot: string, id: string, recipe: string): string {
  const folder = join(projectRoot, "benchmarks", CARDS_FOLDER), file = join(folder, `${id}.yaml`);
  if (!/^[a-z0-9][a-z0-9_]{0,63}$/.test(id)) {
    throw new SvcError("usage_invalid", `Cannot name a card ${JSON.stringify(id).slice(0, 100)}`, {
      hint: "Use small letters, digits and underscores",
    });
  }
  if (exists(file)) {
    throw new SvcError("usage_invalid", `Cannot write ${file}: it exists`, { hint: "Choose another id" });
  }
  makeFolder(inside(projectRoot, "benchmarks", CARDS_FOLDER));
  writeFile(inside(projectRoot, "benchmarks", CARDS_FOLDER, `${id}.yaml`), scaffold(id, recipe));
  return file;
}

const scaffold = (id: string, recipe: string) =>
  `# One published curve or table. Replace the reference and the numbers by those of the source.
id: ${id}
title: Bit error rate of QPSK over AWGN
operations: [modulation.digital_modulate, demodulation.digital_demodulate]
reference:
  kind: closed_form
  citation: Proakis and Salehi, Digital Communications, 5th ed., 2008
  location: chapter 4, Q(sqrt(2 Eb/N0))
  access: computed from the formula
recipe: ${recipe}
# modulation and snr_db are the dimensions of the recipe's matrix; a parameter of a step is written as link.snr_db.
points:
  - {at: {modulation: qpsk, snr_db: 3.0103}, metric: channel.ber, expected: 0.0786496}
  - {at: {modulation: qpsk, snr_db: 7.0103}, metric: channel.ber, expected: 0.0125009}
# Kinds: db, relative, absolute, sigma.
tolerance: {sigma: 3.5, db: 0.1}
replication: {base_seed: 23, until_errors: 1000}
quick: {replication: {until_errors: 200}}
`;
