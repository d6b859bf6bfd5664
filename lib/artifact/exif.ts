/**
 * Orientation from EXIF: tag 0x0112 in the first directory of an EXIF block.
 *
 * Format: CIPA DC-008 (EXIF 2.32) over TIFF 6.0.
 */

const ORIENTATION = 0x0112, SHORT = 3;

/**
 * Reads the orientation from a TIFF block.
 * @returns 1 … 8; 1 (upright) for a missing tag or a damaged block, so that EXIF never makes an image unreadable
 */
export function exifOrientation(tiff: Uint8Array): number {
  if (tiff.length < 8) return 1;
  const view = new DataView(tiff.buffer, tiff.byteOffset, tiff.byteLength);
  const mark = view.getUint16(0);
  if (mark !== 0x4949 && mark !== 0x4d4d) return 1;
  const little = mark === 0x4949;
  if (view.getUint16(2, little) !== 42) return 1;
  const directory = view.getUint32(4, little);
  if (directory + 2 > tiff.length) return 1;
  const count = view.getUint16(directory, little);
  for (let i = 0; i < count; i++) {
    const entry = directory + 2 + 12 * i;
    if (entry + 12 > tiff.length) return 1;
    if (view.getUint16(entry, little) !== ORIENTATION) continue;
    if (view.getUint16(entry + 2, little) !== SHORT || view.getUint32(entry + 4, little) !== 1) return 1;
    const value = view.getUint16(entry + 8, little);
    return value >= 1 && value <= 8 ? value : 1;
  }
  return 1;
}
