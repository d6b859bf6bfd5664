/**
 * Photographs for comparisons of codecs: shrinks the shorter side of every PNG and JPEG file of a folder to 256 pixels
 * (Lanczos), takes the centre of 256 by 256, and writes PNG files with a manifest.
 *
 *     deno run -A recipes/models/training/shrink_photographs.ts /usr/share/backgrounds photographs
 *
 * recipes/photographs has twelve of the 19 photographs of the Debian packages lomiri-wallpapers-16.04 and
 * lomiri-wallpapers-20.04, which no network of this project has seen.
 */
import { join } from "node:path";
import { decodeImage } from "../../../lib/artifact/image_file.ts";
import { writePng } from "../../../lib/artifact/png_encode.ts";
import { resizeLikePillow } from "../../../lib/numeric/image/pillow_resize.ts";

const SIDE = 256;
const [source, target] = Deno.args;
if (target === undefined) throw new Error("Give a folder of photographs and a folder to write");
await Deno.mkdir(target, { recursive: true });
for (const { name } of [...Deno.readDirSync(source)].filter(({ name }) => /\.(png|jpe?g)$/i.test(name))) {
  const image = decodeImage(await Deno.readFile(join(source, name)), { maxPixels: 1 << 28 });
  const { channels } = image;
  const scale = SIDE / Math.min(image.width, image.height);
  const width = Math.round(image.width * scale), height = Math.round(image.height * scale);
  const { data } = resizeLikePillow({ ...image, data: image.data as Uint8Array }, width, height, "lanczos");
  const centre = new Uint8Array(SIDE * SIDE * channels);
  const left = Math.floor((width - SIDE) / 2), top = Math.floor((height - SIDE) / 2);
  for (let row = 0; row < SIDE; row++) {
    const from = ((top + row) * width + left) * channels;
    centre.set(data.subarray(from, from + SIDE * channels), row * SIDE * channels);
  }
  const file = join(target, name.replace(/\.\w+$/, ".png"));
  await Deno.writeFile(file, writePng({ width: SIDE, height: SIDE, channels, data: centre }));
}
