/**
 * Boundaries and connected parts of class rasters.
 *
 * Sources: Csurka, Larlus and Perronnin, What is a good evaluation measure for semantic segmentation?, BMVC 2013 (boundary
 * F1); Kirillov et al., Panoptic segmentation, CVPR 2019 (panoptic quality).
 */

/** Classes of the pixels of one image, row by row. */
export interface Raster {
  readonly height: number;
  readonly width: number;
  readonly classes: ArrayLike<number>;
}

/** Mask of the pixels of a class with another class among their four neighbours; the edge of the image is no boundary. */
function boundaryOf({ height, width, classes }: Raster, value: number): Uint8Array {
  const mask = new Uint8Array(height * width);
  const own = (y: number, x: number) => y < 0 || y >= height || x < 0 || x >= width || classes[y * width + x] === value;
  for (let y = 0; y < height; y++) {
    for (let x = 0; x < width; x++) {
      if (classes[y * width + x] === value && !(own(y - 1, x) && own(y + 1, x) && own(y, x - 1) && own(y, x + 1))) {
        mask[y * width + x] = 1;
      }
    }
  }
  return mask;
}

/** Share of the pixels of `mask` within `radius` of one of `target`; 1 for an empty mask and target, 0 for one empty. */
function covered(mask: Uint8Array, target: Uint8Array, { height, width }: Raster, radius: number): number {
  const reach = Math.floor(radius);
  let count = 0, near = 0;
  const hasNeighbour = (y: number, x: number) => {
    for (let v = Math.max(0, y - reach); v <= Math.min(height - 1, y + reach); v++) {
      for (let u = Math.max(0, x - reach); u <= Math.min(width - 1, x + reach); u++) {
        if (target[v * width + u] === 1 && (v - y) ** 2 + (u - x) ** 2 <= radius ** 2) return true;
      }
    }
    return false;
  };
  for (let at = 0; at < mask.length; at++) {
    if (mask[at] === 0) continue;
    count++;
    if (hasNeighbour(Math.floor(at / width), at % width)) near++;
  }
  return count === 0 ? Number(!target.includes(1)) : near / count;
}

/**
 * Boundary F1 of one image, mean over the classes of either side: harmonic mean of the shares of boundary pixels of each
 * side that have a boundary pixel of the same class on the other side within 0.75 % of the diagonal of the image. A class
 * that occurs on one side alone scores 0.
 */
export function boundaryF1(candidate: Raster, reference: Raster): number {
  const radius = 0.0075 * Math.hypot(reference.height, reference.width);
  const [ours, theirs] = [candidate, reference].map(({ classes }) => new Set(Array.from(classes)));
  let total = 0;
  for (const value of ours.intersection(theirs)) {
    const given = boundaryOf(candidate, value), wanted = boundaryOf(reference, value);
    const precision = covered(given, wanted, reference, radius), recall = covered(wanted, given, reference, radius);
    total += precision + recall === 0 ? 0 : 2 * precision * recall / (precision + recall);
  }
  return total / ours.union(theirs).size;
}

/** Number of the connected part of each pixel, from 1; neighbours are the eight around it. */
function connectedParts({ height, width, classes }: Raster): { part: Int32Array; classOf: number[] } {
  const part = new Int32Array(height * width), classOf = [NaN];
  for (let start = 0; start < part.length; start++) {
    if (part[start] !== 0) continue;
    const number = classOf.push(classes[start]) - 1;
    const open = [start];
    part[start] = number;
    for (let at = open.pop(); at !== undefined; at = open.pop()) {
      const y = Math.floor(at / width), x = at % width;
      for (let v = Math.max(0, y - 1); v <= Math.min(height - 1, y + 1); v++) {
        for (let u = Math.max(0, x - 1); u <= Math.min(width - 1, x + 1); u++) {
          const next = v * width + u;
          if (part[next] !== 0 || classes[next] !== classes[start]) continue;
          part[next] = number;
          open.push(next);
        }
      }
    }
  }
  return { part, classOf };
}

/** Matches of the parts of one class: sum of their IoU, and parts with and without a match. */
export interface PartCounts {
  iou: number;
  matched: number;
  /** Parts of the candidate and of the reference without a match. */
  unmatched: number;
}

/**
 * Counts for the panoptic quality iou / (matched + unmatched/2) of each class; the parts of a class are its connected
 * regions, matched from an IoU above 0.5 on.
 */
export function partCounts(candidate: Raster, reference: Raster): Map<number, PartCounts> {
  const given = connectedParts(candidate), wanted = connectedParts(reference);
  const sizes = (part: Int32Array, count: number) => {
    const size = new Int32Array(count);
    for (const number of part) size[number]++;
    return size;
  };
  const givenSize = sizes(given.part, given.classOf.length), wantedSize = sizes(wanted.part, wanted.classOf.length);
  const common = new Map<number, { a: number; b: number; pixels: number }>();
  for (let at = 0; at < given.part.length; at++) {
    const a = given.part[at], b = wanted.part[at];
    if (given.classOf[a] !== wanted.classOf[b]) continue;
    common.getOrInsertComputed(a * wantedSize.length + b, () => ({ a, b, pixels: 0 })).pixels++;
  }
  const counts = new Map<number, PartCounts>();
  const of = (value: number) => counts.getOrInsertComputed(value, () => ({ iou: 0, matched: 0, unmatched: 0 }));
  for (const value of [...given.classOf.slice(1), ...wanted.classOf.slice(1)]) of(value).unmatched++;
  for (const { a, b, pixels } of common.values()) {
    const iou = pixels / (givenSize[a] + wantedSize[b] - pixels);
    if (iou <= 0.5) continue;
    const row = of(given.classOf[a]);
    row.iou += iou;
    row.matched++;
    row.unmatched -= 2;
  }
  return counts;
}
