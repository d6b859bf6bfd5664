/** Character ranges of the parts of a JSON text, by JSON pointer, and the pointer of a place in the text. */

export interface Range {
  from: number;
  to: number;
}

interface Part extends Range {
  pointer: string;
  /** Range of the member's name; null for items and for the root. */
  key: Range | null;
}

/**
 * The parts of a text by pointer, as far as it can be read.
 *
 * @returns also the offset of the first syntax error; null for valid JSON
 */
export function jsonParts(text: string): { parts: ReadonlyMap<string, Part>; brokenAt: number | null } {
  const parts = new Map<string, Part>();
  let at = 0, brokenAt: number | null = null;
  const space = () => {
    while (/\s/.test(text[at] ?? "")) at++;
  };
  const broken = (): never => {
    throw new SyntaxError(String(at));
  };
  const string = (): string => {
    // deno-lint-ignore no-control-regex -- the characters that JSON obliges writers to escape
    const match = /"(?:[^"\\\u0000-\u001f]|\\.)*"/y;
    match.lastIndex = at;
    const found = match.exec(text);
    if (found === null) return broken();
    at += found[0].length;
    return JSON.parse(found[0]);
  };
  const value = (pointer: string, key: Range | null): void => {
    space();
    const part: Part = { pointer, from: at, to: at, key };
    parts.set(pointer, part);
    if (text[at] === "{") members(pointer, "}");
    else if (text[at] === "[") members(pointer, "]");
    else if (text[at] === '"') string();
    else {
      const match = /true|false|null|-?\d[\d.eE+-]*/y;
      match.lastIndex = at;
      const found = match.exec(text);
      if (found === null) return broken();
      at += found[0].length;
    }
    part.to = at;
  };
  const members = (pointer: string, end: "}" | "]"): void => {
    at++;
    space();
    if (text[at] === end) return void at++;
    for (let index = 0;; index++) {
      space();
      if (end === "]") value(`${pointer}/${index}`, null);
      else {
        const from = at, name = text[at] === '"' ? string() : broken();
        const key = { from, to: at };
        space();
        if (text[at++] !== ":") (at--, broken());
        value(`${pointer}/${escaped(name)}`, key);
      }
      space();
      if (text[at] === ",") at++;
      else if (text[at] === end) return void at++;
      else broken();
    }
  };
  try {
    value("", null);
    space();
    if (at < text.length) brokenAt = at;
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    brokenAt = Math.min(at, text.length);
  }
  return { parts, brokenAt };
}

/** The range of a pointer, or of its nearest existing parent. */
export function rangeOf(text: string, pointer: string): Range {
  const { parts } = jsonParts(text);
  for (let wanted = pointer;; wanted = wanted.slice(0, wanted.lastIndexOf("/"))) {
    const part = parts.get(wanted);
    // For a long value, its name is marked.
    if (part !== undefined) return part.key !== null && text.slice(part.from, part.to).includes("\n") ? part.key : part;
    if (wanted === "") return { from: 0, to: Math.min(1, text.length) };
  }
}

/** The pointer of the smallest part that contains a place. */
export function pointerAt(text: string, offset: number): string {
  let best: Part | null = null;
  for (const part of jsonParts(text).parts.values()) {
    const from = part.key?.from ?? part.from, to = Math.max(part.to, part.from);
    // An incomplete part has no end.
    const open = part.to === part.from;
    if (from <= offset && (offset <= to || open) && (best === null || part.from >= best.from)) best = part;
  }
  return best?.pointer ?? "";
}

const escaped = (name: string) => name.replaceAll("~", "~0").replaceAll("/", "~1");
