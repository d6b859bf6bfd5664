/**
 * Files of parity-check matrices. An alist has numbers by lines: bits n and checks m; the largest degrees; the degree of each bit; of
 * each check; the checks of each bit from 1, and the bits of each check, both padded with zeros or not. A QC table has the columns and
 * rows of a base matrix and the size Z of its blocks, then a line of shifts for each row, -1 for a block of zeros.
 *
 * Sizes are checked before memory is taken for them.
 *
 * Source: MacKay, Information Theory, Inference, and Learning Algorithms, 2003, and his page on alist files.
 */
import { checksOf, liftedChecks, type ParityChecks } from "./code.ts";

/** Most bytes of a file, bits of a code word, and ones of a matrix. */
const MOST_BYTES = 2 ** 24, MOST_BITS = 2 ** 17, MOST_ONES = 2 ** 20;

/** @throws RangeError for a file that holds no such matrix, or too large a one */
export function readAlist(bytes: Uint8Array): ParityChecks {
  const lines = linesOf(bytes), [length, count] = sizes(lines, 0, 2), [mostOfBit, mostOfCheck] = sizes(lines, 1, 2);
  checkSizes(length, count);
  const degrees = [sizes(lines, 2, length, 0, mostOfBit), sizes(lines, 3, count, 0, mostOfCheck)];
  const [ones, same] = degrees.map((list) => list.reduce((sum, degree) => sum + degree, 0));
  if (ones !== same || ones > MOST_ONES) {
    throw refusal(`its degrees count ${ones} and ${same} ones, at most ${MOST_ONES}`);
  }
  if (lines.length !== 4 + length + count) {
    throw refusal(`it has ${lines.length} lines instead of ${4 + length + count}`);
  }
  const lists = (start: number, own: readonly number[], most: number, other: number) =>
    own.map((degree, i) => {
      const all = numbers(lines[start + i], start + i, 0, other), used = all.filter((value) => value > 0);
      if (used.length !== degree || all.length > most || new Set(used).size !== degree) {
        throw refusal(`line ${start + i + 1} has not the ${degree} different numbers of its degree`);
      }
      return used;
    });
  const pairs = lists(4, degrees[0], mostOfBit, count).flatMap((own, bit) => own.flatMap((check) => [check - 1, bit]));
  const checks = checksOf(length, count, pairs);
  lists(4 + length, degrees[1], mostOfCheck, length).forEach((own, check) => {
    own.sort((a, b) => a - b).forEach((bit, i) => {
      if (
        degrees[1][check] !== checks.starts[check + 1] - checks.starts[check] ||
        checks.columns[checks.starts[check] + i] !== bit - 1
      ) {
        throw refusal(`its lists of bits and of checks differ at check ${check + 1}`);
      }
    });
  });
  return checks;
}

/** @throws RangeError as for `readAlist` */
export function readQcTable(bytes: Uint8Array): ParityChecks {
  const lines = linesOf(bytes), [width, height, size] = sizes(lines, 0, 3);
  checkSizes(width * size, height * size);
  if (width * height * size > MOST_ONES) throw refusal(`it can have more than ${MOST_ONES} ones`);
  if (lines.length !== 1 + height) throw refusal(`it has ${lines.length} lines instead of ${1 + height}`);
  return liftedChecks(Array.from({ length: height }, (_, i) => sizes(lines, 1 + i, width, -1, size - 1)), size);
}

const refusal = (why: string) => new RangeError(`Cannot read a parity-check matrix: ${why}`);

/** Lines with text. */
function linesOf(bytes: Uint8Array): string[] {
  if (bytes.length > MOST_BYTES) throw refusal(`the file has ${bytes.length} bytes, at most ${MOST_BYTES} are read`);
  return new TextDecoder().decode(bytes).split("\n").map((line) => line.trim()).filter((line) => line !== "");
}

function checkSizes(length: number, count: number): void {
  if (count >= length || length > MOST_BITS) {
    throw refusal(`${count} checks of ${length} bits are not fewer than the bits, or the bits more than ${MOST_BITS}`);
  }
}

/** The numbers of a line. */
function numbers(line: string | undefined, index: number, least: number, most: number): number[] {
  const found = line?.split(/\s+/) ?? [];
  return found.map((text) => {
    const value = /^(-1|\d{1,7})$/.test(text) ? Number(text) : NaN;
    if (!(value >= least && value <= most)) throw refusal(`line ${index + 1} has "${text.slice(0, 20)}"`);
    return value;
  });
}

/** As `numbers`, for a line with as many as `count`. */
function sizes(lines: readonly string[], index: number, count: number, least = 1, most = MOST_BITS): number[] {
  const found = numbers(lines[index], index, least, most);
  if (found.length !== count) throw refusal(`line ${index + 1} has ${found.length} numbers instead of ${count}`);
  return found;
}
