/** Reads the marker segments of a JPEG file (T.81 annex B) up to and between its scans. */
import { SvcError } from "../../contract/error.ts";
import { type FrameGeometry, frameGeometry } from "./geometry.ts";
import { huffmanCodes } from "./huffman.ts";
import { type HuffmanSpec, STANDARD_HUFFMAN, ZIGZAG } from "./tables.ts";

export interface FrameHeader {
  readonly progressive: boolean;
  readonly geometry: FrameGeometry;
  readonly ids: readonly number[];
  /** Quantisation table id of each component. */
  readonly tables: readonly number[];
}

export interface ScanHeader {
  /** Indices into the frame's components, in coded order. */
  readonly components: readonly number[];
  /** Huffman table ids by scan position. */
  readonly dcTables: readonly number[];
  readonly acTables: readonly number[];
  readonly start: number;
  readonly end: number;
  readonly high: number;
  readonly low: number;
}

/** The fault of a file without its end. */
export const ENDS = "it ends without the EOI marker";

export const invalid = (what: string): SvcError =>
  new SvcError("jpeg_invalid", `Cannot decode a damaged JPEG file: ${what}`);

export const unsupported = (what: string): SvcError =>
  new SvcError("jpeg_unsupported", `Cannot decode a JPEG file with ${what}`, {
    hint: "Grey, YCbCr and RGB images with 8-bit samples, sequential or progressive, are read",
  });

/** Decoder state that marker segments change. */
export class MarkerReader {
  position = 2;
  frame: FrameHeader | undefined;
  restartInterval = 0;
  /** Divisors in natural order. */
  readonly quantization: (Uint16Array | undefined)[] = [];
  /** By slot: twice the table id, plus one for AC. */
  readonly huffman: (HuffmanSpec | undefined)[] = [];
  #jfif = false;
  /** Whether a scan was found. */
  #scanned = false;
  #adobeTransform: number | undefined;

  /**
   * @param warnings receives the faults that libjpeg reads with a warning; without it they are refused
   * @throws SvcError `jpeg_invalid` for a file without the JPEG signature
   */
  constructor(readonly bytes: Uint8Array, readonly warnings?: string[]) {
    if (bytes[0] !== 0xff || bytes[1] !== 0xd8) throw invalid("it does not start with the SOI marker");
  }

  /**
   * Whether three components are RGB, by libjpeg's rule: JFIF means YCbCr, then Adobe decides, then the component ids.
   */
  get isRgb(): boolean {
    if (this.#jfif) return false;
    if (this.#adobeTransform !== undefined) return this.#adobeTransform === 0;
    return this.frame!.ids.join() === "82,71,66";
  }

  /**
   * Reads segments up to the next scan.
   * @returns the scan whose entropy-coded data start at `position`, or undefined at the end of the image
   * @throws SvcError `jpeg_invalid`, `jpeg_unsupported`
   */
  nextScan(): ScanHeader | undefined {
    for (;;) {
      const marker = this.#marker();
      if (marker === 0xd9) return undefined;
      if (
        marker === 0x01 || (marker >= 0xd0 && marker <= 0xd7 && this.tolerates("a restart marker outside of a scan"))
      ) {
        continue;
      }
      if (marker >= 0xd0 && marker <= 0xd8) throw invalid(`unexpected marker ${marker.toString(16)}`);
      const segment = this.#segment();
      if (segment === null) return undefined;
      if (marker === 0xda) {
        this.#scanned = true;
        return this.#scanHeader(segment);
      }
      if (marker === 0xdb) this.#quantizationTables(segment);
      else if (marker === 0xc4) this.#huffmanTables(segment);
      else if (marker === 0xdd) this.#restart(segment);
      else if (marker >= 0xc0 && marker <= 0xcf && marker !== 0xc8) this.#frameHeader(marker, segment);
      else if (marker === 0xdc) throw unsupported("a line count after the first scan");
      else if (marker === 0xe0) this.#jfif ||= startsWith(segment, "JFIF\0");
      else if (marker === 0xee && segment.length >= 12 && startsWith(segment, "Adobe")) {
        this.#adobeTransform = segment[11];
      }
    }
  }

  /** Whether a fault is read with a warning. */
  tolerates(fault: string): boolean {
    if (this.warnings === undefined) return false;
    if (!this.warnings.includes(fault)) this.warnings.push(fault);
    return true;
  }

  /** A Huffman table; of a file without one of this number, such as a frame of Motion JPEG, the standard one. */
  huffmanTable(slot: number): HuffmanSpec {
    const found = this.huffman[slot];
    if (found !== undefined) return found;
    const standard = STANDARD_HUFFMAN[slot];
    if (standard !== undefined && this.tolerates("it has no Huffman tables, the standard ones are used")) {
      return standard;
    }
    throw invalid("a scan uses an undefined Huffman table");
  }

  #marker(): number {
    const { bytes } = this;
    const isMarker = (at: number) => bytes[at] === 0xff && bytes[at + 1] !== 0;
    if (!isMarker(this.position)) {
      if (this.position < bytes.length && !this.tolerates("bytes before a marker are skipped")) {
        throw invalid("a marker is missing");
      }
      while (this.position < bytes.length && !isMarker(this.position)) this.position++;
    }
    while (bytes[this.position] === 0xff) this.position++;
    const marker = bytes[this.position++];
    if (marker !== undefined) return marker;
    if (this.tolerates(ENDS)) return 0xd9;
    throw invalid(ENDS);
  }

  /** The next segment; null for one that is cut behind the first scan, where libjpeg ends the image. */
  #segment(): Uint8Array | null {
    const start = this.position;
    const length = this.bytes[start] << 8 | this.bytes[start + 1];
    if (!(length >= 2 && start + length <= this.bytes.length)) {
      if (this.#scanned && this.tolerates(ENDS)) return null;
      throw invalid("a marker segment is truncated");
    }
    this.position = start + length;
    return this.bytes.subarray(start + 2, start + length);
  }

  #quantizationTables(segment: Uint8Array): void {
    for (let at = 0; at < segment.length;) {
      const wide = segment[at] >> 4, id = segment[at] & 15, size = wide === 0 ? 64 : 128;
      if (wide > 1 || id > 3 || at + 1 + size > segment.length) throw invalid("malformed quantisation table");
      at++;
      const table = new Uint16Array(64);
      for (let k = 0; k < 64; k++) {
        table[ZIGZAG[k]] = wide === 0 ? segment[at + k] : segment[at + 2 * k] << 8 | segment[at + 2 * k + 1];
      }
      this.quantization[id] = table;
      at += size;
    }
  }

  #huffmanTables(segment: Uint8Array): void {
    for (let at = 0; at < segment.length;) {
      const kind = segment[at] >> 4, id = segment[at] & 15;
      const counts = segment.subarray(at + 1, at + 17);
      const total = counts.reduce((sum, count) => sum + count, 0);
      const symbols = segment.slice(at + 17, at + 17 + total);
      at += 17 + total;
      if (kind > 1 || id > 3 || total > 256 || at > segment.length) throw invalid("malformed Huffman table");
      if (kind === 0 && symbols.some((symbol) => symbol > 15)) throw invalid("a DC category is too large");
      try {
        huffmanCodes({ counts, symbols });
      } catch {
        throw invalid("a Huffman table has too many codes");
      }
      this.huffman[id * 2 + kind] = { counts, symbols };
    }
  }

  #restart(segment: Uint8Array): void {
    if (segment.length !== 2) throw invalid("malformed restart interval");
    this.restartInterval = segment[0] << 8 | segment[1];
  }

  #frameHeader(marker: number, segment: Uint8Array): void {
    if (marker > 0xca || marker === 0xc9) throw unsupported("arithmetic coding");
    if (marker > 0xc2) throw unsupported(marker === 0xc3 ? "lossless coding" : "hierarchical coding");
    if (this.frame !== undefined) throw invalid("it has two frames");
    if (segment.length < 6 || segment.length !== 6 + 3 * segment[5]) throw invalid("malformed frame header");
    const [precision, heightHigh, heightLow, widthHigh, widthLow, count] = segment;
    const height = heightHigh << 8 | heightLow, width = widthHigh << 8 | widthLow;
    if (precision !== 8) throw unsupported(`${precision}-bit samples`);
    if (height === 0) throw unsupported("a line count after the first scan");
    if (width === 0) throw invalid("it is zero pixels wide");
    if (count !== 1 && count !== 3) throw unsupported(`${count} components`);
    const rows = Array.from({ length: count }, (_, index) => segment.subarray(6 + index * 3, 9 + index * 3));
    const factors = rows.map((row) => [row[1] >> 4, row[1] & 15] as const);
    if (factors.flat().some((factor) => factor < 1 || factor > 4)) throw invalid("a sampling factor is out of range");
    const ids = rows.map((row) => row[0]), tables = rows.map((row) => row[2]);
    if (new Set(ids).size !== count || tables.some((id) => id > 3)) throw invalid("malformed frame header");
    const geometry = frameGeometry(width, height, factors);
    if (factors.some(([h, v]) => geometry.horizontal % h !== 0 || geometry.vertical % v !== 0)) {
      throw unsupported("fractional sampling factors");
    }
    this.frame = { progressive: marker === 0xc2, geometry, ids, tables };
  }

  #scanHeader(segment: Uint8Array): ScanHeader {
    const { frame } = this;
    if (frame === undefined) throw invalid("a scan precedes the frame header");
    const count = segment[0];
    if (!(count >= 1 && count <= 4 && segment.length === 4 + 2 * count)) throw invalid("malformed scan header");
    const rows = Array.from({ length: count }, (_, index) => segment.subarray(1 + index * 2, 3 + index * 2));
    const components = rows.map((row) => frame.ids.indexOf(row[0]));
    const dcTables = rows.map((row) => row[1] >> 4), acTables = rows.map((row) => row[1] & 15);
    const [start, end, approximation] = segment.subarray(1 + 2 * count);
    if (
      components.includes(-1) || new Set(components).size !== count || [...dcTables, ...acTables].some((t) => t > 3)
    ) {
      throw invalid("malformed scan header");
    }
    const blocks = components.map((index) => frame.geometry.components[index])
      .reduce((sum, { horizontal, vertical }) => sum + horizontal * vertical, 0);
    if (count > 1 && blocks > 10) throw invalid("a unit has more than ten blocks");
    return { components, dcTables, acTables, start, end, high: approximation >> 4, low: approximation & 15 };
  }
}

function startsWith(segment: Uint8Array, text: string): boolean {
  return text.split("").every((letter, index) => segment[index] === letter.charCodeAt(0));
}
