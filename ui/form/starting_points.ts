/** The starting points of the first page: shipped recipes and templates with few values of their dimensions. */
import type { JsonObject, Value } from "../../lib/contract/value.ts";
import { setDimension } from "../../lib/contract/matrix_edits.ts";

export interface StartingPoint {
  id: string;
  title: string;
  text: string;
  /** The link as a chain of its parts. */
  chain: readonly string[];
  /** The file of a recipe, or the id of a template. */
  from: { recipe: string } | { template: string };
  dimensions: { readonly [name: string]: Value[] };
  /** The metric of its figure. */
  metric: string;
}

export const STARTING_POINTS: readonly StartingPoint[] = [
  {
    id: "bits",
    title: "Bits over AWGN",
    text: "Uncoded QPSK and 16QAM: measured bit error rates with intervals, beside the closed forms.",
    chain: ["Random bits", "QPSK, 16QAM", "AWGN", "Hard decisions"],
    from: { recipe: "recipes/qam_awgn.yaml" },
    dimensions: { modulation: ["qpsk", "qam16"], snr_db: [0, 3, 6, 9, 12] },
    metric: "channel.ber",
  },
  {
    id: "photographs",
    title: "Photographs over a digital link",
    text: "JPEG, a repetition code and QPSK: the image is perfect above a threshold and lost below it.",
    chain: ["Photographs", "JPEG", "Repetition, QPSK", "AWGN", "PSNR"],
    from: { template: "semantic_comm.image_reconstruction.protected_digital" },
    dimensions: { snr_db: [0, 4, 6, 8, 10] },
    metric: "quality.psnr_db",
  },
  {
    id: "learned",
    title: "Learned joint coding",
    text: "A trained encoder maps pixels to symbols: quality falls gently with the noise.",
    chain: ["Photographs", "Learned encoder", "AWGN", "Learned decoder", "PSNR"],
    from: { template: "semantic_comm.image_reconstruction.deepjscc_awgn" },
    dimensions: {},
    metric: "quality.psnr_db",
  },
];

/** The recipe of a starting point. @param authored the recipe that it is made from */
export const startingRecipe = ({ dimensions }: StartingPoint, authored: JsonObject): JsonObject =>
  Object.entries(dimensions).reduce((recipe, [name, values]) => setDimension(recipe, name, values), authored);
