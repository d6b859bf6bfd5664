/** What became of a text, word by word: the longest common run of words stays, the rest was lost or came in. */

export interface TextPart {
  kind: "kept" | "lost" | "added";
  text: string;
}

const MOST_WORDS = 2000;

/** Parts in reading order; neighbours of one kind are joined. */
export function diffTexts(before: string, after: string): TextPart[] {
  const a = words(before), b = words(after);
  // lengths[i][j]: words that a[i…] and b[j…] have in common.
  const lengths = Array.from({ length: a.length + 1 }, () => new Uint16Array(b.length + 1));
  for (let i = a.length - 1; i >= 0; i--) {
    for (let j = b.length - 1; j >= 0; j--) {
      lengths[i][j] = a[i] === b[j] ? lengths[i + 1][j + 1] + 1 : Math.max(lengths[i + 1][j], lengths[i][j + 1]);
    }
  }
  const parts: TextPart[] = [];
  const put = (kind: TextPart["kind"], text: string) => {
    const last = parts.at(-1);
    if (last?.kind === kind) last.text += ` ${text}`;
    else parts.push({ kind, text });
  };
  let i = 0, j = 0;
  while (i < a.length || j < b.length) {
    if (i < a.length && j < b.length && a[i] === b[j]) {
      put("kept", a[i]);
      i++;
      j++;
    } else if (i < a.length && (j === b.length || lengths[i + 1][j] >= lengths[i][j + 1])) put("lost", a[i++]);
    else put("added", b[j++]);
  }
  return parts;
}

const words = (text: string) => text.split(/\s+/).filter(Boolean).slice(0, MOST_WORDS);
