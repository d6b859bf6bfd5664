/** The JPEG test vectors; `tests/data/jpeg/make.py` says what they are. */
import { createHash } from "node:crypto";
import { decodeImage } from "../../../../lib/artifact/image_file.ts";
import type { JpegImage, JpegSubsampling } from "../../../../lib/artifact/jpeg/encoder.ts";
import vectors from "../../../data/jpeg/vectors.json" with { type: "json" };

export interface FileRow {
  source: string;
  quality: number;
  subsampling: JpegSubsampling;
  decoded: string;
  baseline: string;
  optimize: string;
  progressive: string;
}

export const fileRows = vectors.files as FileRow[];
export const photographRows = vectors.photographs as FileRow[];
export const variants = vectors.variants;
export const refused = vectors.refused;

const folder = new URL("../../../data/jpeg/", import.meta.url);
const samples = new URL("../../../../recipes/samples/", import.meta.url);

export const sha256 = (bytes: Uint8Array): string => createHash("sha256").update(bytes).digest("hex");

export const variantFile = (name: string): Uint8Array => Deno.readFileSync(new URL(name, folder));

/** The small pictures by name. */
export function smallPictures(): Map<string, JpegImage> {
  const blob = variantFile("sources.bin");
  return new Map(vectors.sources.map(({ name, width, height, channels, offset }) => {
    const data = blob.subarray(offset, offset + width * height * channels);
    return [name, { width, height, channels: channels as 1 | 3, data }];
  }));
}

/** A sample photograph. */
export function photograph(name: string): JpegImage {
  const { width, height, channels, data } = decodeImage(Deno.readFileSync(new URL(name, samples)));
  return { width, height, channels: channels as 1 | 3, data };
}
