/**
 * Images with captions, and the pairs as retrieval targets.
 *
 * Captions and splits of Flickr8k in both published forms.
 *
 * As published:  Flickr8k.token.txt             lines "<image>#<index><tab><caption>"
 *                Flickr_8k.devImages.txt        image names of the validation split
 *                Flickr_8k.testImages.txt       image names of the test split
 * By Karpathy:   dataset_flickr8k.json          images [{filename, split: "val" | "test" | "train", sentences: [{raw}]}]
 *
 * The images are in Images/, in Flicker8k_Dataset/, or next to the files.
 *
 * Source: Hodosh, Young, Hockenmaier, "Framing image description as a ranking task", JAIR 47, 2013.
 */
import { type Colour, type Ground, paintScene, type Scene, type Shape } from "../../lib/numeric/image/scenes.ts";
import {
  defineOperation,
  type FileAccess,
  isObject,
  type JsonObject,
  messageOf,
  type OutputArtifact,
  parseJson,
  SvcError,
  type Value,
  z,
} from "../api.ts";
import { IMAGES, TEXTS } from "../../lib/contract/kinds.ts";
import { imagesArtifact, textsArtifact } from "../../lib/artifact/values.ts";
import { checkIds, parseIds } from "./_ids.ts";
import { loadSquares } from "./_square_pictures.ts";
import samples from "./_retrieval_smoke.json" with { type: "json" };

interface Sample {
  ground: Ground;
  /** Colour, shape, left, top and side in sixteenths. */
  objects: readonly (readonly [Colour, Shape, number, number, number])[];
  caption: string;
}

const RETRIEVAL_SMOKE = samples as object as Readonly<Record<string, Sample>>;

/** A sample as a scene of `size` pixels. */
function smokeScene({ ground, objects }: Sample, size: number): Scene {
  const pixels = (sixteenths: number) => Math.round(sixteenths * size / 16);
  return {
    size,
    ground,
    objects: objects.map(([colour, shape, x, y, side]) => ({
      colour,
      shape,
      x: pixels(x),
      y: pixels(y),
      side: pixels(side),
    })),
  };
}

/** Targets with the ids of their queries. */
function targetsArtifact(
  targets: readonly { id: string; relevant_ids: string[] }[],
  metadata: JsonObject,
): OutputArtifact {
  const items = targets.map(({ id, relevant_ids }): JsonObject => ({ id, relevant_ids }));
  return { json: { kind: "retrieval.targets", schema_version: 1, items }, metadata };
}

interface CaptionedPicture {
  file: string;
  captions: string[];
}

type Split = "validation" | "test";

const SPLIT_FILES: Record<Split, string> = {
  validation: "Flickr_8k.devImages.txt",
  test: "Flickr_8k.testImages.txt",
};
const FOLDERS = ["Images", "Flicker8k_Dataset", "."];

/** The text of a file, or undefined without the file. */
async function readText(files: FileAccess, path: string): Promise<string | undefined> {
  try {
    return new TextDecoder().decode(await files.read(path));
  } catch (error) {
    if (error instanceof SvcError && error.code === "boundary_file_missing") return undefined;
    throw error;
  }
}

/**
 * The images of a split in the order of its file, each with all its captions.
 * @throws SvcError `dataset_unavailable` if neither form is complete, `boundary_value_invalid` for an unreadable line
 */
async function readFlickr8k(folder: string, split: Split, files: FileAccess): Promise<CaptionedPicture[]> {
  const json = await readText(files, `${folder}/dataset_flickr8k.json`);
  if (json !== undefined) return ofKarpathy(json, split);
  const captions = await readText(files, `${folder}/Flickr8k.token.txt`);
  const names = await readText(files, `${folder}/${SPLIT_FILES[split]}`);
  if (captions !== undefined && names !== undefined) return asPublished(captions, names);
  const lacking = [
    ...(captions === undefined ? ["Flickr8k.token.txt"] : []),
    ...(names === undefined ? [SPLIT_FILES[split]] : []),
  ];
  throw new SvcError("dataset_unavailable", `Cannot read Flickr8k from ${folder}: it lacks ${lacking.join(" and ")}`, {
    hint: "Put the files there as published, or dataset_flickr8k.json with captions and splits",
  });
}

function ofKarpathy(text: string, split: Split): CaptionedPicture[] {
  const document = parsed(text);
  const images = isObject(document) && Array.isArray(document.images) ? document.images : undefined;
  const wanted = split === "validation" ? "val" : split;
  return (images ?? [null]).flatMap((image): CaptionedPicture[] => {
    if (!isObject(image) || typeof image.filename !== "string" || !Array.isArray(image.sentences)) {
      throw new SvcError(
        "boundary_value_invalid",
        "Cannot read dataset_flickr8k.json: an image lacks filename or sentences",
      );
    }
    const captions = image.sentences.map((sentence) => isObject(sentence) ? String(sentence.raw).trim() : "");
    return image.split === wanted ? [{ file: image.filename, captions }] : [];
  });
}

function parsed(text: string): Value {
  try {
    return parseJson(text);
  } catch (error) {
    throw new SvcError("boundary_value_invalid", `Cannot read dataset_flickr8k.json: ${messageOf(error)}`);
  }
}

function asPublished(tokens: string, names: string): CaptionedPicture[] {
  const captions = new Map<string, string[]>();
  for (const [index, line] of lines(tokens).entries()) {
    const match = /^(.+)#(\d+)\t(.*)$/.exec(line);
    if (match === null) {
      throw new SvcError("boundary_value_invalid", `Cannot read line ${index + 1} of Flickr8k.token.txt as a caption`);
    }
    const [, file, at, caption] = match;
    const list = captions.get(file) ?? [];
    list[Number(at)] = caption.trim();
    captions.set(file, list);
  }
  return lines(names).map((file) => ({ file, captions: captions.get(file) ?? [] }));
}

function lines(text: string): string[] {
  return text.split("\n").map((line) => line.replace(/\r$/, "")).filter((line) => line.trim() !== "");
}

/** The path of an image: in the first of the known folders that contains it. */
async function locatePicture(folder: string, file: string, files: FileAccess): Promise<string> {
  for (const inner of FOLDERS) {
    const path = inner === "." ? `${folder}/${file}` : `${folder}/${inner}/${file}`;
    try {
      await files.read(path);
      return path;
    } catch (error) {
      if (!(error instanceof SvcError && error.code === "boundary_file_missing")) throw error;
    }
  }
  throw new SvcError("boundary_file_missing", `Cannot find the image ${file} in ${folder}`, {
    hint: `Searched folders: ${FOLDERS.join(", ")}`,
  });
}

const KNOWN = Object.keys(RETRIEVAL_SMOKE);

/**
 * Built-in images, uint8 [image, size, size, RGB], with a caption each and the pairs as retrieval targets: the id of a
 * caption is that of its image with `_caption`. Drawn by the program, equal at every size.
 */
const retrievalSmoke = defineOperation({
  id: "source.retrieval_smoke",
  name: "Tiny image-text retrieval fixture",
  description: "Built-in images of coloured shapes with captions and retrieval targets",
  outputs: { images: IMAGES, texts: TEXTS, targets: "retrieval.targets.json" },
  params: z.strictObject({
    dataset: z.enum(["retrieval_smoke"]).default("retrieval_smoke").describe("built-in dataset"),
    sample_ids: z.string().default("").describe("comma-separated ids, in this order; empty uses all"),
    image_size: z.int().min(32).max(1024).default(224).describe("width and height in pixels"),
  }),
  outputMetadataGuarantees: {
    images: { keys: ["boundary_contract", "dataset", "image_ids"] },
    texts: { keys: ["dataset", "text_ids"] },
  },
  estimate: ({ sample_ids, image_size: size }) => ({
    images: [["uint8", parseIds(sample_ids).length || KNOWN.length, size, size, 3]],
  }),
  check: ({ sample_ids }) => checkIds(sample_ids, "sample_ids", KNOWN),
  run({ params: { dataset: id, sample_ids, image_size: size } }) {
    const wanted = parseIds(sample_ids), ids = wanted.length > 0 ? wanted : KNOWN;
    const data = new Uint8Array(ids.length * size * size * 3);
    ids.forEach((name, index) =>
      data.set(paintScene(smokeScene(RETRIEVAL_SMOKE[name], size)).pixels, index * size * size * 3)
    );
    const dataset = { id, version: `${id}-v1` };
    const texts = ids.map((name) => ({ id: `${name}_caption`, text: RETRIEVAL_SMOKE[name].caption }));
    const batch = { count: ids.length, height: size, width: size, channels: 3, dtype: "uint8", data } as const;
    return {
      outputs: {
        images: imagesArtifact(batch, { dataset, image_ids: ids }),
        texts: textsArtifact(texts, { dataset, text_ids: texts.map((text) => text.id) }),
        targets: targetsArtifact(texts.map((text, index) => ({ id: text.id, relevant_ids: [ids[index]] })), {
          dataset,
        }),
      },
    };
  },
});

const FOLDER = ".svc/datasets/flickr8k";

/**
 * Photographs of Flickr8k with one caption each, from a local folder: images uint8 [image, size, size, RGB], texts whose id
 * is `<image>#<caption index>`, and the pairs as retrieval targets. The first `limit` images of the split, in its order.
 */
const flickr8kRetrieval = defineOperation({
  id: "source.flickr8k_retrieval",
  name: "Flickr8k image-text pairs",
  description: "Photographs of Flickr8k from a local folder, one caption each, with retrieval targets",
  outputs: { images: IMAGES, texts: TEXTS, targets: "retrieval.targets.json" },
  params: z.strictObject({
    dataset_dir: z.string().min(1).default(FOLDER).describe("folder of the captions, splits and images"),
    split: z.enum(["test", "validation"]).default("validation").describe("split of the dataset"),
    limit: z.int().positive().default(16).describe("number of images, the first ones of the split"),
    caption_index: z.int().min(0).max(4).default(0).describe("index of the caption of each image"),
    image_size: z.int().min(1).max(4096).default(224).describe("width and height in pixels"),
    download: z.boolean().default(true).describe("accepted without effect: a run never uses the network"),
  }),
  outputMetadataGuarantees: {
    images: { keys: ["boundary_contract", "dataset", "image_ids", "source_files"] },
    texts: { keys: ["dataset", "text_ids"] },
  },
  estimate: ({ limit, image_size }) => ({ images: Math.min(limit, 1000) * image_size ** 2 * 3 }),
  requires: ({ dataset_dir }) => dataset_dir === FOLDER ? [{ kind: "dataset", id: "flickr8k" }] : [],
  async run({ params, files, progress }) {
    const { dataset_dir: folder, split, limit, caption_index: at, image_size: size } = params;
    const pictures = (await readFlickr8k(folder, split, files)).slice(0, limit);
    if (pictures.length === 0) throw new SvcError("boundary_empty", `Cannot find an image of the split ${split}`);
    const paths: string[] = [];
    for (const { file, captions } of pictures) {
      if (!captions[at]) {
        throw new SvcError("boundary_value_invalid", `Cannot find caption ${at} of the image ${file}`);
      }
      paths.push(await locatePicture(folder, file, files));
    }
    const { batch, sourceFiles } = await loadSquares(paths, size, { files, progress });
    const dataset = { id: "flickr8k", version: `flickr8k-${split}-v1`, split };
    const ids = pictures.map(({ file }) => file);
    const texts = pictures.map(({ file, captions }) => ({ id: `${file}#${at}`, text: captions[at] }));
    return {
      outputs: {
        images: imagesArtifact(batch, { dataset, image_ids: ids, source_files: sourceFiles }),
        texts: textsArtifact(texts, { dataset, text_ids: texts.map(({ id }) => id) }),
        targets: targetsArtifact(texts.map(({ id }, index) => ({ id, relevant_ids: [ids[index]] })), { dataset }),
      },
    };
  },
});

export default [retrievalSmoke, flickr8kRetrieval];
