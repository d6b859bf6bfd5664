/** The cards of the gallery: shipped recipes and templates, those of the project, their filters, and the search. */
import { spoken } from "../compare/parameter_axis.ts";
import type { Reply } from "../api.ts";
import shipped from "./cards.json" with { type: "json" };

type Row = Reply<"/api/recipes">["recipes"][number];

export interface Card {
  path: string;
  /** In words. */
  title: string;
  description: string | null;
  task: string | null;
  /** Id of the template that is made from the file. */
  template: string | null;
  default: boolean;
  recipeSha256: string | null;
  /** The metric that it is about, in words. */
  gives: string | null;
  channels: string[];
  codes: string[];
  learned: boolean;
  operations: string[];
  /** What the server says of the file; null until it is read. */
  row: Row | null;
  /** A file of the project that takes the place of no shipped one. */
  own: boolean;
}

/** Groups of tasks, in the order of the page; a recipe without a known task is in the last. */
const GROUPS: readonly (readonly [title: string, tasks: string])[] = [
  ["Bits and codes", "bit_transport"],
  ["Receivers and channel estimation", "neural_receiver pilot_channel mimo_ofdm automatic_modulation csi_"],
  ["Images", "image_reconstruction image_generation"],
  ["Text", "text_"],
  [
    "Vision behind a link",
    "object_detection segmentation visual_question classification image_captioning image_text_retrieval",
  ],
  ["Antennas, location and sensing", "beamforming aoa_ wireless_localization range_velocity near_field reflecting"],
  ["Power, rates and satellites", "resource_ joint_isac satellite leo_"],
  ["Other", ""],
];

export const GROUP_TITLES = GROUPS.map(([title]) => title);

export const groupOf = ({ task }: Pick<Card, "task">): string =>
  GROUPS.find(([, starts]) => starts.split(" ").some((start) => (task ?? "other").startsWith(start)))![0];

const CHANNELS: Readonly<Record<string, string>> = {
  awgn: "AWGN",
  modulation_awgn_observation: "AWGN",
  interference_awgn: "Interference",
  flat_rayleigh: "Rayleigh fading",
  mimo_flat: "MIMO fading",
  pilot_observation: "Rayleigh fading",
  ula_array_observation: "Antenna array",
  range_observation: "Ranges",
  carrier_phase_impairment: "Carrier phase",
  urban_micro: "Urban cell",
};
const CODES: Readonly<Record<string, string>> = {
  nr_ldpc: "5G NR LDPC",
  ldpc: "LDPC",
  nr_polar: "5G NR polar",
  nr_small_block: "5G NR small block",
  bch: "BCH",
  reed_solomon: "Reed-Solomon",
  capacity_oracle: "Capacity",
  unequal_error_protection: "Unequal protection",
};

/** A snake_case name as a sentence begins. */
export const wordsOf = (name: string): string => {
  const text = spoken(name);
  return text[0].toUpperCase() + text.slice(1);
};
const distinct = (texts: string[]): string[] => [...new Set(texts)];
// Other operations of the medium are OFDM over several paths.
const channelsOf = (ids: readonly string[]) => distinct(ids.map((id) => CHANNELS[id] ?? "OFDM over multipath"));
const codesOf = (ids: readonly string[]) => distinct(ids.map((id) => CODES[id] ?? wordsOf(id)));

const SHIPPED: readonly Card[] = shipped.map(({ template, facets, recipe_sha256, ...row }) => ({
  ...row,
  title: template?.label ?? row.description ?? wordsOf(row.name),
  template: template?.id ?? null,
  default: template?.default ?? false,
  recipeSha256: recipe_sha256,
  channels: channelsOf(facets.channels),
  codes: codesOf(facets.codes),
  learned: facets.learned,
  operations: facets.operations,
  row: null,
  own: false,
}));

/** The shipped cards with what the server says of them, and the project's own. */
export function cardsOf(rows: readonly Row[] | null): Card[] {
  if (rows === null) return [...SHIPPED];
  const byPath = new Map(rows.map((row) => [row.path, row]));
  // A file of the project takes the place of the starter.
  const overriding = new Map(
    rows.filter(({ template, path }) => template !== null && !path.startsWith("recipes/recipe_starters/"))
      .map((row) => [row.template, row]),
  );
  const known = SHIPPED.map((card): Card => {
    const row = (card.template === null ? undefined : overriding.get(card.template)) ?? byPath.get(card.path) ?? null;
    return row === null ? card : { ...card, path: row.path, recipeSha256: row.recipe_sha256, row };
  });
  const taken = new Set([...SHIPPED, ...known].map(({ path }) => path));
  return [...rows.filter(({ path }) => !taken.has(path)).map(ownCard), ...known];
}

const ownCard = (row: Row): Card => ({
  path: row.path,
  title: row.description ?? wordsOf(row.name ?? row.id),
  description: row.description,
  task: row.purpose,
  template: null,
  default: false,
  recipeSha256: row.recipe_sha256,
  gives: null,
  channels: channelsOf(row.facets?.channels ?? []),
  codes: codesOf(row.facets?.codes ?? []),
  learned: row.facets?.learned ?? false,
  operations: row.facets?.operations ?? [],
  row,
  own: row.place === "project",
});

export interface Wanted {
  text: string;
  task: string;
  channel: string;
  code: string;
  learned: string;
}

/** Other words of the field for what recipes and operations are named. */
const SYNONYMS: Readonly<Record<string, string>> = {
  ber: "bit_error",
  bler: "block_error",
  fer: "block_error",
  jscc: "deepjscc joint_source linear_analog text_bart_jscc",
  fec: "encoder",
  viterbi: "convolutional",
  wifi: "802.11",
  "5g": "nr",
  doa: "aoa direction",
  radar: "range_doppler isac",
  satellite: "leo",
  ris: "reflecting",
  irs: "reflecting",
  neural: "learned trained adapter",
  ai: "learned trained adapter",
  photo: "image photographs",
  picture: "image photographs",
  isac: "isac sensing",
  fading: "rayleigh tdl tdla tdlb tdlc",
  harq: "retransmission",
};

/** Words between blanks; the point of `802.11` stays. */
const plain = (text: string) => ` ${text.toLowerCase().replace(/[^a-z0-9.+/]+|\.(?!\d)/g, " ")} `;

/** How well a card fits a search: 0 where it does not, most where its title has all words. */
function fitOf(card: Card, text: string): number {
  const terms = plain(text).trim().split(" ").filter(Boolean);
  if (terms.length === 0) return 1;
  const title = plain(card.title);
  const all = plain(
    [
      ...[card.title, card.description, card.path, card.template, card.task, card.gives],
      ...[...card.channels, ...card.codes, ...card.operations, card.learned ? "learned network" : ""],
    ].join(" "),
  );
  const has = (where: string, term: string) =>
    [term, ...(SYNONYMS[term] ?? "").split(" ").filter(Boolean)].some((word) => where.includes(plain(word).trimEnd()));
  // "deep jscc" is one word in ids.
  const joined = terms.length > 1 && all.replaceAll(" ", "").includes(terms.join(""));
  if (!joined && !terms.every((term) => has(all, term))) return 0;
  return terms.every((term) => has(title, term)) ? 3 : joined ? 2 : 1;
}

/** The cards that fit all filters: the best match of a search first, then templates. */
export function matching(cards: readonly Card[], { text, task, channel, code, learned }: Wanted): Card[] {
  const fits = new Map(cards.map((card) => [card, fitOf(card, text)]));
  return cards.filter((card) =>
    fits.get(card)! > 0 && (task === "" || groupOf(card) === task) &&
    (channel === "" || (channel === NONE ? card.channels.length === 0 : card.channels.includes(channel))) &&
    (code === "" || (code === NONE ? card.codes.length === 0 : card.codes.includes(code))) &&
    (learned === "" || card.learned === (learned === "learned"))
  ).sort((a, b) => fits.get(b)! - fits.get(a)! || rankOf(a) - rankOf(b) || (a.title < b.title ? -1 : 1));
}

/** Recipes of the project first, then templates, the default of its task before the others. */
const rankOf = (card: Card) => card.own ? 0 : card.default ? 1 : card.template !== null ? 2 : 3;

/** The choice of recipes without a channel or a code. */
export const NONE = "none";

/** Values of a filter that the cards have. */
export const choicesOf = (cards: readonly Card[], of: "channels" | "codes"): string[] =>
  distinct(cards.flatMap((card) => card[of])).sort();
