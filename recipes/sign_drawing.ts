/** Shared by draw_signs.ts and draw_scenes.ts: drawings with the fonts of the page, and their manifests. */
import { initWasm, Resvg, resvgModule } from "../lib/figure/resvg.ts";
import { decodeImage } from "../lib/artifact/image_file.ts";
import type { Image } from "../lib/artifact/image.ts";
import { sha256Hex } from "../lib/contract/hash.ts";
import { prettyJson } from "../lib/contract/json.ts";
import type { JsonObject } from "../lib/contract/value.ts";

/** Colours of plates and of the letters on them. */
export const PLATES = [
  ["#0b5d3b", "#ffffff"],
  ["#f4c20d", "#1a1a1a"],
  ["#12438f", "#ffffff"],
  ["#f5f3ee", "#202020"],
  ["#a3161c", "#fdf6e3"],
  ["#2b2b2b", "#f2b632"],
];

const font = (name: string) => Deno.readFile(new URL(`../ui/fonts/${name}.woff2`, import.meta.url));
await initWasm(await resvgModule());
/** Inter and JetBrains Mono, OFL-1.1. */
const fontBuffers = await Promise.all([font("inter"), font("jetbrains_mono")]);

/** An SVG text as an image with an alpha channel. */
export function drawing(svg: string): Image & { data: Uint8Array } {
  const drawn = new Resvg(svg, { font: { fontBuffers, defaultFontFamily: "Inter" } });
  const image = decodeImage(drawn.render().asPng());
  return { ...image, data: image.data as Uint8Array };
}

/** Writes a document and prints its digest, which recipes pin. */
export async function writeDocument(folder: URL, name: string, document: JsonObject): Promise<void> {
  const text = prettyJson(document);
  await Deno.writeTextFile(new URL(name, folder), text);
  console.log(name, sha256Hex(new TextEncoder().encode(text)));
}

/** Writes the manifest of texts with the ids of their images. */
export async function writeTexts(
  folder: URL,
  named: { id: string; version: string },
  ids: readonly string[],
  texts: readonly string[],
): Promise<void> {
  await writeDocument(folder, "texts.json", {
    schema_version: 1,
    kind: "svc.text_dataset_manifest",
    ...named,
    splits: { test: [...ids] },
    samples: texts.map((text, index) => ({
      sample_id: ids[index],
      text,
      language: "en",
      sha256: sha256Hex(new TextEncoder().encode(text)),
    })),
  });
}
