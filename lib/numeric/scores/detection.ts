/**
 * Boxes and scores of object detection.
 *
 * A box is [x_min, y_min, x_max, y_max] in pixels, with width x_max - x_min. Candidates are matched with reference
 * boxes of their image and label: the most confident first, each with the free reference box of greatest IoU, if that
 * reaches the threshold; equal confidences in the order given, equal IoUs to the first reference box. So every box has
 * at most one match.
 *
 * Average precision of a label: with its candidates of all images ranked by confidence, precision p(k) and recall r(k)
 * of the first k, the mean over r = 0, 0.01 … 1 of the greatest p(k) with r(k) >= r, or 0 if there is none. Its mean
 * over labels and the thresholds 0.50, 0.55 … 0.95 is the AP of the COCO challenge.
 *
 * Source: Lin et al., Microsoft COCO, 2014, and its evaluation code (pycocotools, 101 recall levels); Everingham et al., The
 * PASCAL Visual Object Classes Challenge, 2010.
 */
export type Box = readonly [xMin: number, yMin: number, xMax: number, yMax: number];

export interface Detection {
  readonly label: string;
  readonly confidence: number;
  readonly box: Box;
}

/** Width times height; 0 for reversed edges. */
function boxArea([xMin, yMin, xMax, yMax]: Box): number {
  return Math.max(0, xMax - xMin) * Math.max(0, yMax - yMin);
}

/** Intersection over union of two boxes, 0 if both are empty. */
export function boxIou(a: Box, b: Box): number {
  const shared = boxArea([Math.max(a[0], b[0]), Math.max(a[1], b[1]), Math.min(a[2], b[2]), Math.min(a[3], b[3])]);
  const union = boxArea(a) + boxArea(b) - shared;
  return union === 0 ? 0 : shared / union;
}

/** Indices of scores, greatest first, equal ones in the order given. */
function byScore(scores: ArrayLike<number>): number[] {
  return Array.from(scores, (_, index) => index).sort((a, b) => scores[b] - scores[a] || a - b);
}

/**
 * Greedy suppression: of boxes of one label that overlap by more than `limit`, only the one of the greatest score is
 * kept.
 * @param candidates boxes with score and label
 * @param limit greatest IoU that two kept boxes of one label may have
 * @param most maximum number of kept boxes
 * @returns indices of the kept boxes, greatest score first
 */
export function suppressOverlaps(
  candidates: readonly { readonly box: Box; readonly score: number; readonly label: number }[],
  limit: number,
  most = Infinity,
): number[] {
  const kept = new Map<number, number[]>(), order: number[] = [];
  for (const index of byScore(candidates.map(({ score }) => score))) {
    if (order.length === most) break;
    const { box, label } = candidates[index];
    if (!kept.has(label)) kept.set(label, []);
    const same = kept.get(label)!;
    if (same.some((other) => boxIou(candidates[other].box, box) > limit)) continue;
    same.push(index);
    order.push(index);
  }
  return order;
}

/**
 * Matches the candidates of one image with its reference boxes.
 * @returns per candidate the index of its reference box, -1 for none
 */
export function matchDetections(
  candidates: readonly Detection[],
  references: readonly { label: string; box: Box }[],
  threshold: number,
): number[] {
  const matches = new Array<number>(candidates.length).fill(-1);
  const taken = new Set<number>();
  for (const index of byScore(candidates.map(({ confidence }) => confidence))) {
    const { label, box } = candidates[index];
    let best = -1, bestIou = -Infinity;
    references.forEach((reference, at) => {
      if (taken.has(at) || reference.label !== label) return;
      const overlap = boxIou(box, reference.box);
      if (overlap >= threshold && overlap > bestIou) [best, bestIou] = [at, overlap];
    });
    if (best < 0) continue;
    matches[index] = best;
    taken.add(best);
  }
  return matches;
}

/** Candidates and reference boxes of one image. */
export interface DetectionPair {
  readonly candidates: readonly Detection[];
  readonly references: readonly Detection[];
}

/** Result of one threshold for a label over all images. */
export interface LabelScores {
  reference_count: number;
  candidate_count: number;
  match_count: number;
  /** Undefined if no reference box has the label. */
  average_precision?: number;
}

/** Counts and average precision of every label at one IoU threshold, pooled over images, labels by code point. */
export function scoreLabels(pairs: readonly DetectionPair[], threshold: number): Map<string, LabelScores> {
  const ranked = new Map<string, { confidence: number; hit: boolean }[]>(), references = new Map<string, number>();
  const rows = (label: string) => {
    if (!ranked.has(label)) ranked.set(label, []);
    return ranked.get(label)!;
  };
  for (const { candidates, references: truth } of pairs) {
    for (const { label } of truth) {
      references.set(label, (references.get(label) ?? 0) + 1);
      rows(label);
    }
    matchDetections(candidates, truth, threshold).forEach((match, index) => {
      const { label, confidence } = candidates[index];
      rows(label).push({ confidence, hit: match >= 0 });
    });
  }
  const labels = [...ranked.keys()].sort((a, b) => a < b ? -1 : 1);
  return new Map(labels.map((label) => {
    const list = ranked.get(label)!, hits = byScore(list.map(({ confidence }) => confidence)).map((at) => list[at].hit);
    const reference_count = references.get(label) ?? 0;
    const ap = averagePrecision(hits, reference_count);
    return [label, {
      reference_count,
      candidate_count: hits.length,
      match_count: hits.filter(Boolean).length,
      ...(ap === null ? {} : { average_precision: ap }),
    }];
  }));
}

/**
 * Average precision over 101 levels of recall.
 * @param hits whether the candidate of each rank has a match
 * @param references number of reference boxes
 * @returns null without reference boxes
 */
function averagePrecision(hits: readonly boolean[], references: number): number | null {
  if (references === 0) return null;
  const precisions: number[] = [], recalls: number[] = [];
  let found = 0;
  hits.forEach((hit, rank) => {
    if (hit) found++;
    precisions.push(found / (rank + 1));
    recalls.push(found / references);
  });
  // From the right, so that each entry holds the greatest precision at its recall or a higher one.
  for (let at = precisions.length - 2; at >= 0; at--) precisions[at] = Math.max(precisions[at], precisions[at + 1]);
  let sum = 0, at = 0;
  for (let level = 0; level <= 100; level++) {
    while (at < recalls.length && recalls[at] < level / 100) at++;
    if (at < precisions.length) sum += precisions[at];
  }
  return sum / 101;
}
