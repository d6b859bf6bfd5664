/** Detections and masks over pictures: reading them, and holding one set of boxes against another. */
import { isObject, type JsonObject, toNumber } from "../../../lib/contract/value.ts";

export interface Box {
  left: number;
  top: number;
  right: number;
  bottom: number;
}

export interface Found {
  label: string;
  confidence: number;
  box: Box;
}

/** The detections of a picture: that of its id, or that at its place. */
export function detectionsAt(artifact: JsonObject, id: string, index: number): Found[] {
  const items = Array.isArray(artifact.items) ? artifact.items.filter(isObject) : [];
  const item = items.find((one) => one.id === id) ?? items[index];
  const list = Array.isArray(item?.detections) ? item.detections.filter(isObject) : [];
  return list.map(({ label, confidence, box }) => {
    const [left, top, right, bottom] = (box as number[]).map(toNumber);
    return { label: String(label), confidence: toNumber(confidence as number), box: { left, top, right, bottom } };
  });
}

/** Intersection over union. Exported for tests. */
export function overlapOf(a: Box, b: Box): number {
  const across = Math.min(a.right, b.right) - Math.max(a.left, b.left);
  const down = Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top);
  const common = across > 0 && down > 0 ? across * down : 0;
  const area = (box: Box) => (box.right - box.left) * (box.bottom - box.top);
  const union = area(a) + area(b) - common;
  return union > 0 ? common / union : 0;
}

/** The largest overlap of a detection with a reference of its label; null where there is none of that label. */
export function bestOverlap({ label, box }: Found, references: readonly Found[]): number | null {
  const alike = references.filter((reference) => reference.label === label);
  return alike.length === 0 ? null : Math.max(...alike.map((reference) => overlapOf(box, reference.box)));
}

/**
 * Pixels of a mask as a layer over a picture; value 0, the background, lets everything through.
 *
 * @param colours red, green and blue of value 1, 2, …; they repeat
 */
export function maskPixels(
  values: ArrayLike<number>,
  colours: readonly (readonly [number, number, number])[],
  opacity: number,
): Uint8ClampedArray<ArrayBuffer> {
  const out = new Uint8ClampedArray(4 * values.length);
  for (let i = 0; i < values.length; i++) {
    if (values[i] === 0) continue;
    out.set([...colours[(values[i] - 1) % colours.length], opacity * 255], 4 * i);
  }
  return out;
}

/** RGBA pixels of a tint whose opacity is the importance over the largest one of the image, at most 0.75. */
export function importancePixels(
  values: ArrayLike<number>,
  [red, green, blue]: readonly [number, number, number],
): Uint8ClampedArray<ArrayBuffer> {
  let largest = 0;
  for (let i = 0; i < values.length; i++) largest = Math.max(largest, values[i]);
  const pixels = new Uint8ClampedArray(4 * values.length);
  for (let i = 0; i < values.length; i++) {
    pixels.set([red, green, blue, largest > 0 ? 0.75 * 255 * values[i] / largest : 0], 4 * i);
  }
  return pixels;
}
