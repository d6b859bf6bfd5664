/**
 * A learned codec: images to latents, latents to bytes, and back, image by image.
 *
 *     y = analysis(x, step)                      in units of the step
 *     z = round(hyper_analysis(y))               sent first, with the tables of its channels
 *     mean, log_scale = hyper_synthesis(z, step)
 *     k = round(y - mean)                        sent with the table of its scale
 *     x' = synthesis(mean + k, step)
 *
 * A coded image has its quality (u8), two checksums (u16, big-endian) and the bytes of one range coder. The first
 * checksum covers the state of the model, the size and the tables chosen for the latents: if it differs, the decoder
 * has another model, or a runtime whose scales differ in the last bits, and cannot decode. The second covers all
 * integers: if only it differs, the bytes were damaged. Both are the lower half of CRC-32.
 *
 * Integers are in C order [channel, row, column]. An image is padded at the right and at the bottom with its last
 * column and row.
 *
 * Source: Ballé, Minnen, Singh, Hwang and Johnston, Variational Image Compression with a Scale Hyperprior, 2018; Minnen,
 * Ballé and Toderici, Joint Autoregressive and Hierarchical Priors for Learned Image Compression, 2018.
 */
import { type ModelSession, sha256Hex, sha256Json, SvcError } from "../api.ts";
import { crc32Of } from "../../lib/artifact/crc32.ts";
import { type ImageBatch, oneImage, type UniformImages } from "../../lib/artifact/values.ts";
import { decodeIntegers, encodeIntegers } from "../../lib/numeric/coding/frequency_table.ts";
import { type NdArray, ndarray } from "../../lib/numeric/array/ndarray.ts";
import { RangeDecoder, RangeEncoder } from "../../lib/numeric/coding/range_coder.ts";
import { type PictureForm, picturesOf, planesOf } from "../joint_coding/_deepjscc.ts";
import { type CodecTables, type Network, NETWORKS, readTables, TABLES } from "./_codeclib_tables.ts";

/** Source of the files of a codec: a selected model, or a bundle. */
export interface CodecFiles {
  read(file: string): Promise<Uint8Array>;
  open(file: string): Promise<ModelSession>;
  sha256(file: string): string;
}

/** Bytes before the range coder's. */
const HEAD_BYTES = 5;

type Shape = readonly [channels: number, rows: number, columns: number];

/** Latents of one image: float32 [channel, row, column]. */
export interface Latents {
  data: Float32Array;
  rows: number;
  columns: number;
}

export class Codec {
  private constructor(
    readonly tables: CodecTables,
    /** Digest over networks and tables. */
    readonly stateSha256: string,
    private readonly network: (name: Network) => Promise<ModelSession>,
  ) {}

  /** @throws SvcError `artifact_manifest_invalid`, and the errors of reading */
  static async open(files: CodecFiles): Promise<Codec> {
    const tables = readTables(await files.read(TABLES));
    const networks = Object.fromEntries(NETWORKS.map((name) => [name, files.sha256(name)]));
    return new Codec(tables, sha256Json({ networks, tables: tables.sha256 }), (name) => files.open(name));
  }

  /** The same codec from copies of its files. */
  async reopened(
    files: Readonly<Record<string, Uint8Array>>,
    openGraph: (bytes: Uint8Array) => Promise<ModelSession>,
  ): Promise<Codec> {
    const copy = await Codec.open({
      read: (file) => Promise.resolve(files[file]),
      open: (file) => openGraph(files[file]),
      sha256: (file) => sha256Hex(files[file]),
    });
    if (copy.stateSha256 === this.stateSha256) return copy;
    throw new SvcError("artifact_hash_mismatch", `Cannot use the copy of ${this.tables.model}: its files differ`);
  }

  paddedSize(side: number, padToMultiple: number): number {
    return roundUp(side, this.padding(padToMultiple));
  }

  /** The quantisation step of a quality. @throws SvcError `params_invalid` for an unknown quality */
  step(quality: number): number {
    const step = this.tables.steps.get(String(quality));
    if (step !== undefined) return step;
    throw new SvcError("params_invalid", `Cannot run ${this.tables.model} at quality ${quality}: it has no such step`, {
      hint: `It has ${[...this.tables.steps.keys()].join(", ")}`,
    });
  }

  async analyse(batch: ImageBatch, index: number, quality: number, padToMultiple: number): Promise<Latents> {
    const planes = padded(planesOf(oneImage(batch, index)), this.padding(padToMultiple));
    const { latents } = await this.run("analysis.onnx", { images: planes, step: stepArray(this.step(quality)) });
    const [, channels, rows, columns] = latents.shape;
    this.checkChannels(channels);
    return { data: latents.data as Float32Array, rows, columns };
  }

  async synthesise(latents: Latents, quality: number, form: PictureForm): Promise<UniformImages> {
    const feeds = { latents: this.latentArray(latents), step: stepArray(this.step(quality)) };
    const { images } = await this.run("synthesis.onnx", feeds);
    return picturesOf(images, form);
  }

  async encode(latents: Latents, quality: number): Promise<Uint8Array> {
    const { tables } = this;
    const { hyper_latents } = await this.run("hyper_analysis.onnx", { latents: this.latentArray(latents) });
    const z = Int32Array.from(hyper_latents.data as Float32Array, (value) => Math.round(value));
    const [, channels, rows, columns] = hyper_latents.shape, shape: Shape = [channels, rows, columns];
    const { mean, indexes } = await this.gaussians(z, shape, quality, latents);
    const k = Int32Array.from(latents.data, (value, at) => Math.round(value - mean[at]));
    const coder = new RangeEncoder();
    encodeIntegers(coder, z, channelsOf(shape), tables.hyper);
    encodeIntegers(coder, k, indexes, tables.latent);
    const body = coder.finish(), bytes = new Uint8Array(HEAD_BYTES + body.length);
    const view = new DataView(bytes.buffer);
    view.setUint8(0, quality);
    view.setUint16(1, this.parameterCheck(indexes, latents));
    view.setUint16(3, symbolCheck(z, k));
    bytes.set(body, HEAD_BYTES);
    return bytes;
  }

  /**
   * Latents from bytes: mean plus decoded difference.
   * @param size of the image
   * @throws SvcError `image_payload_invalid` for damaged bytes, or bytes of another model
   */
  async decode(
    bytes: Uint8Array,
    size: { height: number; width: number },
    { quality, pad_to_multiple }: { quality: number; pad_to_multiple: number },
  ): Promise<Latents> {
    const damaged = (why: string) => new SvcError("image_payload_invalid", `Cannot decode an image: ${why}`);
    if (bytes.length < HEAD_BYTES) throw damaged("it is truncated");
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    if (view.getUint8(0) !== quality) throw damaged(`its quality is not ${quality}`);
    const { rows, columns, shape } = this.shapes(size, pad_to_multiple);
    const coder = new RangeDecoder(bytes.subarray(HEAD_BYTES));
    const z = decodeIntegers(coder, channelsOf(shape), this.tables.hyper);
    const { mean, indexes } = await this.gaussians(z, shape, quality, { rows, columns });
    if (view.getUint16(1) !== this.parameterCheck(indexes, { rows, columns })) {
      throw damaged("the tables of its latents differ from the encoder's: damage, or another model or runtime");
    }
    const k = decodeIntegers(coder, indexes, this.tables.latent);
    if (view.getUint16(3) !== symbolCheck(z, k)) throw damaged("its checksum is wrong");
    return { data: mean.map((value, at) => value + k[at]), rows, columns };
  }

  /** Substitute latents of a lost image. */
  zeros(size: { height: number; width: number }, padToMultiple: number): Latents {
    const { rows, columns } = this.shapes(size, padToMultiple);
    return { data: new Float32Array(this.tables.latentChannels * rows * columns), rows, columns };
  }

  /** Rows and columns of the latents of an image, and the shape of its hyper latents. */
  shapes(size: { height: number; width: number }, padToMultiple: number) {
    const multiple = this.padding(padToMultiple), { latentReduction, hyperChannels, hyperReduction } = this.tables;
    const height = roundUp(size.height, multiple), width = roundUp(size.width, multiple);
    const shape: Shape = [hyperChannels, height / hyperReduction, width / hyperReduction];
    return { rows: height / latentReduction, columns: width / latentReduction, shape };
  }

  /** Means and tables of the latents. */
  private async gaussians(
    z: Int32Array,
    shape: Shape,
    quality: number,
    { rows, columns }: Pick<Latents, "rows" | "columns">,
  ): Promise<{ mean: Float32Array; indexes: Uint8Array }> {
    const { tables } = this;
    const { mean, log_scale } = await this.run("hyper_synthesis.onnx", {
      hyper_latents: ndarray("float32", Float32Array.from(z), [1, ...shape]),
      step: stepArray(this.step(quality)),
    });
    const [, channels, height, width] = mean.shape;
    this.checkChannels(channels);
    if (height !== rows || width !== columns) {
      throw new SvcError(
        "boundary_shape_invalid",
        `Cannot code ${rows} x ${columns} latents: their hyper latents are for ${height} x ${width}`,
        { hint: `Sides of images must be padded to a multiple of ${tables.hyperReduction}` },
      );
    }
    const indexes = Uint8Array.from(log_scale.data as Float32Array, tables.scaleIndex);
    return { mean: mean.data as Float32Array, indexes };
  }

  private async run(name: Network, feeds: Record<string, NdArray>): Promise<Record<string, NdArray>> {
    return await (await this.network(name)).run(feeds);
  }

  private latentArray({ data, rows, columns }: Latents): NdArray {
    return ndarray("float32", data, [1, this.tables.latentChannels, rows, columns]);
  }

  private checkChannels(channels: number): void {
    if (channels === this.tables.latentChannels) return;
    throw new SvcError(
      "artifact_abi_mismatch",
      `Cannot use networks with ${channels} latent channels and tables with ${this.tables.latentChannels}`,
    );
  }

  private padding(padToMultiple: number): number {
    if (padToMultiple % this.tables.hyperReduction === 0) return padToMultiple;
    throw new SvcError("params_invalid", `Cannot pad images to multiples of ${padToMultiple}`, {
      hint: `${this.tables.model} takes multiples of ${this.tables.hyperReduction}`,
    });
  }

  private parameterCheck(indexes: Uint8Array, { rows, columns }: Pick<Latents, "rows" | "columns">): number {
    const head = new TextEncoder().encode(`${this.stateSha256} ${rows} ${columns}`);
    return crc32Of(indexes, crc32Of(head)) & 0xffff;
  }
}

function symbolCheck(z: Int32Array, k: Int32Array): number {
  return crc32Of(new Uint8Array(k.buffer), crc32Of(new Uint8Array(z.buffer))) & 0xffff;
}

/** The channel of every integer of a shape, in C order. */
function channelsOf([channels, rows, columns]: Shape): Uint16Array {
  const area = rows * columns;
  return Uint16Array.from({ length: channels * area }, (_, at) => Math.floor(at / area));
}

const stepArray = (step: number): NdArray => ndarray("float32", Float32Array.of(step), [1]);
const roundUp = (value: number, multiple: number): number => Math.ceil(value / multiple) * multiple;

/** Planes [1, 3, H, W] whose sides are multiples, the last column and row repeated. */
function padded({ shape: [, planes, height, width], data }: NdArray, multiple: number): NdArray {
  const rows = roundUp(height, multiple), columns = roundUp(width, multiple);
  const samples = data as Float32Array, wide = new Float32Array(planes * rows * columns);
  for (let plane = 0, at = 0; plane < planes; plane++) {
    for (let y = 0; y < rows; y++) {
      const from = (plane * height + Math.min(y, height - 1)) * width;
      for (let x = 0; x < columns; x++) wide[at++] = samples[from + Math.min(x, width - 1)];
    }
  }
  return ndarray("float32", wide, [1, planes, rows, columns]);
}
