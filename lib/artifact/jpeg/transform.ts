/** Pixels to transform coefficients: colour conversion, downsampling, padding to whole blocks and the transform, by strips. */
import type { FrameGeometry, JpegImage } from "./geometry.ts";
import { kernels, Layout, memory, values } from "./kernel.ts";

/** Rows of blocks of a component in a row of units. A unit of one component is one block. */
export const blockRows = (frame: FrameGeometry, component: number): number =>
  frame.components.length === 1 ? 1 : frame.components[component].vertical;

/** Blocks of all components of a frame, 64 values in natural order each, that are placed for a kernel by rows of units. */
export interface BlockSource {
  readonly frame: FrameGeometry;
  /** Takes the room that {@link place} needs. */
  prepare(layout: Layout): void;
  /** Places a row of units; the rows are asked for from the first on. @param targets addresses by component */
  place(row: number, targets: readonly number[]): void;
}

/** The first row of blocks in a row of units, and the number of rows that exist. */
export function rowsOfUnits(frame: FrameGeometry, component: number, row: number): [first: number, found: number] {
  const wanted = blockRows(frame, component), first = row * wanted;
  return [first, Math.min(wanted, frame.components[component].blocksHigh - first)];
}

/** Coefficients of an image, scaled by 8. */
export class TransformedImage implements BlockSource {
  #pixels = 0;
  #planes: number[] = [];
  #full = 0;

  constructor(readonly image: JpegImage, readonly frame: FrameGeometry) {}

  get #rows(): number {
    return 8 * blockRows(this.frame, 0);
  }

  prepare(layout: Layout): void {
    const { width, channels } = this.image, { components, horizontal } = this.frame;
    this.#pixels = layout.take(this.#rows * width * channels);
    this.#planes = components.map(({ blocksWide }, at) => layout.take(blockRows(this.frame, at) * blocksWide * 64));
    this.#full = channels === 1 ? 0 : layout.take(4 * (horizontal * components[1].blocksWide * 8 + 16));
  }

  place(row: number, targets: readonly number[]): void {
    const { width, height, channels, data } = this.image, { horizontal, vertical, components } = this.frame;
    const from = row * this.#rows, count = Math.min(this.#rows, height - from), rowBytes = width * channels;
    memory().set(data.subarray(from * rowBytes, (from + count) * rowBytes), this.#pixels);
    const [luma, blue, red] = this.#planes, stride = 8 * components[0].blocksWide;
    if (channels === 1) kernels.greyStrip(this.#pixels, count, width, luma, stride);
    else {
      const chroma = 8 * components[1].blocksWide, pixels = this.#pixels;
      kernels.colorStrip(pixels, count, width, horizontal, vertical, luma, stride, blue, red, chroma, this.#full);
    }
    for (let at = 0; at < components.length; at++) {
      kernels.forwardBlocks(
        this.#planes[at],
        components[at].blocksWide,
        rowsOfUnits(this.frame, at, row)[1],
        targets[at],
      );
    }
  }
}

/** Blocks that are kept. */
export class KeptBlocks implements BlockSource {
  /** @param blocks by component, row by row */
  constructor(readonly frame: FrameGeometry, readonly blocks: readonly Int16Array[]) {}

  /** The blocks of another source. @param change what is done with each row in the memory */
  static from(source: BlockSource, targets: readonly number[], change: (component: number, blocks: number) => void) {
    const { frame } = source, { components } = frame;
    const kept = components.map(({ blocksWide, blocksHigh }) => new Int16Array(blocksWide * blocksHigh * 64));
    const rows = components.length === 1 ? components[0].blocksHigh : frame.unitsHigh;
    for (let row = 0; row < rows; row++) {
      source.place(row, targets);
      components.forEach(({ blocksWide }, at) => {
        const [first, found] = rowsOfUnits(frame, at, row), length = found * blocksWide * 64;
        change(at, found * blocksWide);
        kept[at].set(values(targets[at], length), first * blocksWide * 64);
      });
    }
    return new KeptBlocks(frame, kept);
  }

  /** The coefficients of an image, scaled by 8. */
  static ofImage(image: JpegImage, frame: FrameGeometry): KeptBlocks {
    const source = new TransformedImage(image, frame), layout = new Layout();
    source.prepare(layout);
    const targets = rowRoom(frame, layout);
    layout.reserve();
    return KeptBlocks.from(source, targets, () => {});
  }

  prepare(): void {}

  place(row: number, targets: readonly number[]): void {
    this.blocks.forEach((blocks, at) => {
      const [first, found] = rowsOfUnits(this.frame, at, row), length = 64 * this.frame.components[at].blocksWide;
      values(targets[at], found * length).set(blocks.subarray(first * length, (first + found) * length));
    });
  }
}

/** Room for a row of units. @returns addresses by component */
export function rowRoom(frame: FrameGeometry, layout: Layout): number[] {
  return frame.components.map(({ blocksWide }, at) => layout.take(128 * blockRows(frame, at) * blocksWide));
}
