/**
 * Escapes text for each target: terminals, JSON lines, XML and HTML, LaTeX, Markdown, CSV. Text of others can hold
 * controls of a terminal, bidirectional controls and invisible characters; every target gets them as `\uXXXX`.
 */

/** Controls, formats, separators and characters without a glyph; U+FE0F only selects the form of an emoji. */
const INVISIBLE = /(?![\ufe0f])[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{DI}\ufffe\uffff]/gu;
/** Most text: no search for the properties of its characters. */
const PLAIN = /^[ -~\n]*$/;

const unicodeEscape = (characters: string): string =>
  characters.replace(/[^]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`);

/**
 * Writes invisible characters except line feeds and tabs as `\uXXXX`. In a JSON text the result is the same value: there
 * these characters stand in strings only.
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { visible } from "./escape.ts";
 *
 * assert.equal(visible("\u001b]52;c\u0007 \u202eb\n"), "\\u001b]52;c\\u0007 \\u202eb\n");
 * ```
 */
export function visible(text: string): string {
  if (PLAIN.test(text)) return text;
  return text.toWellFormed().replace(
    INVISIBLE,
    (found) => found === "\n" || found === "\t" ? found : unicodeEscape(found),
  );
}

/** `visible` on one line: line breaks and tabs, with the white space after them, become a space. */
export function visibleLine(text: string): string {
  return visible(text.replace(/[\t\n\v\f\r\u0085\u2028\u2029]\s*/g, " "));
}

/** A document with all of its texts and names as `visibleLine`; what is not plain data stays as it is. */
export function visibleLines<T>(value: T): T {
  if (typeof value === "string") return visibleLine(value) as T;
  if (Array.isArray(value)) return value.map(visibleLines) as T;
  if (typeof value !== "object" || value === null || Object.getPrototypeOf(value) !== Object.prototype) return value;
  const copy = Object.fromEntries(Object.entries(value).map(([name, item]) => [visibleLine(name), visibleLines(item)]));
  for (const symbol of Object.getOwnPropertySymbols(value)) {
    Object.defineProperty(copy, symbol, Object.getOwnPropertyDescriptor(value, symbol)!);
  }
  return copy as T;
}

const XML: Record<string, string> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;" };

/** Escapes text for XML and HTML. */
export function escapeXml(text: string): string {
  return visible(text).replace(/[&<>"']/g, (character) => XML[character]);
}

const LATEX: Record<string, string> = {
  "\\": "\\textbackslash{}",
  "~": "\\textasciitilde{}",
  "^": "\\textasciicircum{}",
  "–": "--",
  "—": "---",
  "°": "$^\\circ$",
  "²": "$^2$",
  "±": "$\\pm$",
  "≤": "$\\le$",
  "×": "$\\times$",
  "−": "$-$",
  "µ": "$\\mu$",
};

/** Escapes text for LaTeX, on one line. */
export function escapeLatex(text: string): string {
  return visibleLine(text)
    .replace(/[\\~^–—°²±≤×−µ]|[&%$#_{}]/g, (character) => LATEX[character] ?? `\\${character}`);
}

/** A comment of LaTeX: one line of ASCII. */
export function latexComment(text: string): string {
  return `% ${visibleLine(text).replaceAll(/[^ -~]/g, "?")}`;
}

/** Escapes text for Markdown, on one line: it neither ends a cell of a table nor is read as markup. */
export function escapeMarkdown(text: string): string {
  return visibleLine(text).replace(/[\\`*_~[\]<>|]/g, "\\$&");
}

/** A table in GitHub Markdown, of texts and of cells that are Markdown already. */
export function markdownTable(
  columns: readonly { title: string; align?: "left" | "right" }[],
  rows: readonly (readonly (string | { readonly written: string })[])[],
): string {
  const titles = columns.map(({ title }) => title);
  const ruler = columns.map(({ align }) => ({ written: align === "right" ? "---:" : "---" }));
  return [titles, ruler, ...rows].map((line) =>
    `| ${line.map((cell) => typeof cell === "string" ? escapeMarkdown(cell) : cell.written).join(" | ")} |\n`
  ).join("");
}

/** What a spreadsheet reads as a formula, and the numbers that are none. */
const FORMULA = /^[=+\-@\t\r\n＝＋－＠]/, NUMBER = /^[+-](\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i;

/** A field, quoted if it has a comma, a quote or a line end; a text that a spreadsheet would compute gets a `'` in front. */
function csvField(text: string): string {
  const shown = FORMULA.test(text) && !NUMBER.test(text) ? `'${visible(text)}` : visible(text);
  return /[",\n]/.test(shown) ? `"${shown.replaceAll('"', '""')}"` : shown;
}

/** A table of texts as comma-separated values (RFC 4180) with line feeds; the first line has the column names. */
export function csvText(lines: readonly (readonly string[])[]): string {
  return lines.map((line) => line.map(csvField).join(",") + "\n").join("");
}
