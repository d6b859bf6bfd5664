/**
 * JPEG encoding and decoding in megapixels a second on one core, beside Pillow (libjpeg-turbo) where it is installed.
 *
 *     deno run -A tests/bench/jpeg_bench.ts [python]
 *
 * The picture is the sample photograph coffee.png tiled to 1200 by 800 pixels, quality 75. Figures are medians of 15
 * runs after 5 to warm up.
 */
import { decodeImage } from "../../lib/artifact/image_file.ts";
import { decodeJpeg } from "../../lib/artifact/jpeg/decoder.ts";
import { encodeJpeg, type JpegImage } from "../../lib/artifact/jpeg/encoder.ts";
import { median as medianOf, row, sized, timesOf } from "./measure.ts";

const WARM_UP = sized(5, 0), RUNS = sized(15, 1), TILES = sized(2, 1);
const photograph = new URL("../../recipes/samples/coffee.png", import.meta.url);
const cases = (["444", "422", "420"] as const).flatMap((subsampling) => [
  { subsampling, optimize: false, progressive: false },
  { subsampling, optimize: true, progressive: false },
  { subsampling, optimize: false, progressive: true },
]);

function tiled(): JpegImage {
  const { width, height, data } = decodeImage(Deno.readFileSync(photograph));
  const row = width * 3, image = new Uint8Array(TILES * TILES * data.length);
  for (let y = 0; y < TILES * height; y++) {
    const source = data.subarray((y % height) * row, (y % height + 1) * row);
    for (let tile = 0; tile < TILES; tile++) image.set(source, (TILES * y + tile) * row);
  }
  return { width: TILES * width, height: TILES * height, channels: 3, data: image };
}

const median = (run: () => void) => medianOf(timesOf(RUNS, run, WARM_UP)) / 1000;

const PILLOW = `
import io, json, statistics, sys, time
from PIL import Image
tile = Image.open(sys.argv[1]).convert("RGB")
image = Image.new("RGB", (${TILES} * tile.width, ${TILES} * tile.height))
for x in range(${TILES}):
    for y in range(${TILES}):
        image.paste(tile, (x * tile.width, y * tile.height))
def median(run):
    times = []
    for _ in range(${WARM_UP + RUNS}):
        start = time.perf_counter()
        run()
        times.append(time.perf_counter() - start)
    return statistics.median(times[${WARM_UP}:])
rows = []
for case in json.loads(sys.argv[2]):
    options = dict(quality=75, subsampling=["444", "422", "420"].index(case["subsampling"]),
                   optimize=case["optimize"], progressive=case["progressive"])
    def encode():
        buffer = io.BytesIO()
        image.save(buffer, "JPEG", **options)
        return buffer.getvalue()
    file = encode()
    rows.append([median(encode), median(lambda: Image.open(io.BytesIO(file)).load())])
print(json.dumps(rows))
`;

/** Seconds that Pillow takes to [encode, decode], or undefined without Pillow. */
function pillow(python: string): [number, number][] | undefined {
  try {
    const args = ["-c", PILLOW, photograph.pathname, JSON.stringify(cases)];
    const { success, stdout } = new Deno.Command(python, { args, stderr: "null" }).outputSync();
    return success ? JSON.parse(new TextDecoder().decode(stdout)) : undefined;
  } catch {
    return undefined;
  }
}

const image = tiled(), megapixels = image.width * image.height / 1e6;
const reference = pillow(Deno.args[0] ?? "/usr/bin/python3");
if (reference === undefined) console.log("Pillow skipped: it is not installed");
cases.forEach((options, index) => {
  const settings = { quality: 75, ...options };
  const file = encodeJpeg(image, settings);
  const mode = options.progressive ? "progressive" : options.optimize ? "fitted tables" : "baseline";
  const rate = (seconds: number) => `${(megapixels / seconds).toFixed(1)} Mpx/s`;
  const tell = (what: string, own: number, pillow: number | undefined) =>
    row(
      `${what} ${options.subsampling}, ${mode}`,
      rate(own),
      pillow === undefined ? "" : `Pillow ${rate(pillow)}, ours ${(pillow / own).toFixed(2)} times as fast`,
    );
  tell("encode", median(() => encodeJpeg(image, settings)), reference?.[index][0]);
  tell("decode", median(() => decodeJpeg(file)), reference?.[index][1]);
});
