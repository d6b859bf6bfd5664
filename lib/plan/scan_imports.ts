/**
 * Finds the files that a module names: import and export-from specifiers, literal dynamic imports, and assets and
 * workers in `new URL("./x", import.meta.url)`. Only specifiers that start with a dot are local and returned.
 *
 * A scanner, not a parser: comments are removed first, so that examples in docstrings do not count. A string literal
 * that looks like an import can only add an existing file, and adds the same one everywhere.
 */

const SPECIFIERS = [
  /\bfrom\s*["'](\.[^"'\n]*)["']/g,
  /\bimport\s*\(?\s*["'](\.[^"'\n]*)["']/g,
];
/** Looked for only in a module with `import.meta.url`. */
const ASSETS = /\bnew\s+URL\s*\(\s*["'](\.[^"'\n]*)["']\s*,\s*import\.meta\.url\s*,?\s*\)/g;

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

/** The relative specifiers of a module, each once, in order of first appearance per form. */
export function localSpecifiers(source: string): string[] {
  const code = withoutComments(withoutComments(source, "/*"), "//");
  const found = new Set<string>();
  for (const pattern of code.includes("import.meta.url") ? [...SPECIFIERS, ASSETS] : SPECIFIERS) {
    for (const match of code.matchAll(pattern)) found.add(match[1]);
  }
  return [...found];
}

/** Whether a file can name other files. */
export function isModule(path: string): boolean {
  return /\.(?:[cm]?[jt]s|[jt]sx)$/.test(path);
}
