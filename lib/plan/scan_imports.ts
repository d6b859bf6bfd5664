/**
 * Finds the files that a module names: import and export-from specifiers, literal dynamic imports, and assets and
 * workers in `new URL("./x", import.meta.url)`. Only specifiers that start with a dot are local and returned.
 *
 * A scanner, not a parser: comments are removed first, so that examples in docstrings do not count. A string literal
 * that looks like an import can only add an existing file, and adds the same one everywhere.
 */

/** The rest of a specifier behind its first quote, and that of the URL of an asset behind its second. */
const SPECIFIER = /\.[^"'\n]*(?=["'])/y, ASSET_END = /\s*,\s*import\.meta\.url\s*,?\s*\)/y;

const LINE_END = /[\n\r\u2028\u2029]/g;

/** Ends of comments: the index behind them, or -1 without an end. */
const COMMENTS: Readonly<Record<string, (source: string, at: number) => number>> = {
  "/*"(source, at) {
    const end = source.indexOf("*/", at + 2);
    return end < 0 ? -1 : end + 2;
  },
  "//"(source, at) {
    LINE_END.lastIndex = at;
    return LINE_END.exec(source)?.index ?? source.length;
  },
};

/**
 * Removes the comments of a form that begin a line. The search for the mark takes a tenth of the time of a pattern, which is
 * tried at every line.
 */
function withoutComments(source: string, mark: string): string {
  let kept = "", from = 0, at = source.indexOf(mark);
  while (at >= 0) {
    let start = at;
    while (start > from && (source[start - 1] === " " || source[start - 1] === "\t")) start--;
    const begins = start === 0 || "\n\r\u2028\u2029".includes(source[start - 1]);
    const end = begins ? COMMENTS[mark](source, at) : -1;
    if (end >= 0) {
      kept += source.slice(from, start);
      from = end;
    }
    at = source.indexOf(mark, Math.max(at + 1, end));
  }
  return kept + source.slice(from);
}

/** The index behind the last character before a place that is no white space. */
function beforeSpace(code: string, at: number): number {
  while (at > 0 && /\s/.test(code[at - 1])) at--;
  return at;
}

/** Whether a word ends at a place. */
const endsWord = (code: string, word: string, end: number): boolean =>
  code.startsWith(word, end - word.length) && !/\w/.test(code[end - word.length - 1] ?? "");

/** Whether the text whose quote stands at a place names a file, by what stands before it and from `after` on. */
function namesFile(code: string, quote: number, after: number): boolean {
  const end = beforeSpace(code, quote);
  if (code[end - 1] !== "(") return endsWord(code, "from", end) || endsWord(code, "import", end);
  const called = beforeSpace(code, end - 1);
  if (endsWord(code, "import", called)) return true;
  if (!code.startsWith("URL", called - 3)) return false;
  const space = beforeSpace(code, called - 3);
  ASSET_END.lastIndex = after;
  return space < called - 3 && endsWord(code, "new", space) && ASSET_END.test(code);
}

/** The relative specifiers of a module, each once. */
export function localSpecifiers(source: string): string[] {
  const code = withoutComments(withoutComments(source, "/*"), "//");
  const found = new Set<string>();
  // Few texts begin with a dot: a search for them takes a fraction of the time of patterns for what stands before them.
  for (const start of ['".', "'."]) {
    for (let at = code.indexOf(start); at >= 0; at = code.indexOf(start, at + 1)) {
      SPECIFIER.lastIndex = at + 1;
      const specifier = SPECIFIER.exec(code)?.[0];
      if (specifier !== undefined && namesFile(code, at, at + 2 + specifier.length)) found.add(specifier);
    }
  }
  return [...found];
}

/** Whether a file can name other files. */
export function isModule(path: string): boolean {
  return /\.(?:[cm]?[jt]s|[jt]sx)$/.test(path);
}
