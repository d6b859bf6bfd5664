/** Keeps the layout of a text in a new version of it: what is equal in both is copied from the text. */

/** Cells of the table of a comparison; longer differences count as one. */
const MOST_CELLS = 4_000_000;

/**
 * A longest common subsequence of two lists, as index pairs; equal items at both ends come first.
 *
 * Source: Wagner and Fischer, The string-to-string correction problem, JACM 21(1), 1974.
 */
export function commonItems(a: readonly string[], b: readonly string[]): [number, number][] {
  const most = Math.min(a.length, b.length);
  let head = 0, tail = 0;
  while (head < most && a[head] === b[head]) head++;
  while (tail < most - head && a.at(-1 - tail) === b.at(-1 - tail)) tail++;
  const pairs: [number, number][] = Array.from({ length: head }, (_, at) => [at, at]);
  const rows = a.length - head - tail, columns = b.length - head - tail;
  if (rows * columns <= MOST_CELLS) {
    // length[i][j]: common items after the first i and j.
    const length = Array.from({ length: rows + 1 }, () => new Uint32Array(columns + 1));
    for (let i = rows - 1; i >= 0; i--) {
      for (let j = columns - 1; j >= 0; j--) {
        length[i][j] = a[head + i] === b[head + j]
          ? 1 + length[i + 1][j + 1]
          : Math.max(length[i + 1][j], length[i][j + 1]);
      }
    }
    for (let i = 0, j = 0; i < rows && j < columns;) {
      if (a[head + i] === b[head + j]) pairs.push([head + i++, head + j++]);
      else if (length[i + 1][j] >= length[i][j + 1]) i++;
      else j++;
    }
  }
  for (; tail > 0; tail--) pairs.push([a.length - tail, b.length - tail]);
  return pairs;
}

/**
 * The lines of a text with the changes between two printed versions of it.
 * @param before the printed text
 * @param after the printed text with changes
 */
export function keepLines(text: string, before: string, after: string): string {
  const [own, old, next] = [text, before, after].map((lines) => lines.split("\n"));
  const bare = (line: string) => line.replace(/\s/g, "");
  const kept = new Map(commonItems(old.map(bare), own.map(bare)));
  const anchors = commonItems(old, next).filter(([at]) => kept.has(at));
  const lines: string[] = [];
  let [i, j, k] = [0, 0, 0];
  for (const [at, to] of [...anchors, [old.length, next.length]]) {
    const changed = old.slice(i, at).join("\n") !== next.slice(j, to).join("\n") || at - i !== to - j;
    const from = kept.get(at) ?? own.length;
    for (const line of changed ? next.slice(j, to) : own.slice(k, from)) lines.push(line);
    if (from < own.length) lines.push(own[from]);
    [i, j, k] = [at + 1, to + 1, from + 1];
  }
  return lines.join("\n");
}

const TOKEN = /(\s*)("(?:[^"\\]|\\.)*"|[^\s"[\]{}:,]+|[[\]{}:,])/g;

/** The tokens of a JSON text with the white space that a text with some of them has. */
export function keepSpace(text: string, after: string): string {
  const own = [...text.matchAll(TOKEN)], next = [...after.matchAll(TOKEN)];
  const tokens = (matches: RegExpExecArray[]) => matches.map((match) => match[2]);
  const kept = new Map(commonItems(tokens(next), tokens(own)));
  return next.map((match, at) => kept.has(at) ? own[kept.get(at)!][0] : match[0]).join("") + /\s*$/.exec(text)![0];
}
