/**
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
import { type FileAccess, isObject, messageOf, parseJson, SvcError, type Value } from "../api.ts";

export interface CaptionedPicture {
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
export async function readFlickr8k(folder: string, split: Split, files: FileAccess): Promise<CaptionedPicture[]> {
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
export async function locatePicture(folder: string, file: string, files: FileAccess): Promise<string> {
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
