/** Escapes text for markup. */

const XML: Record<string, string> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;" };

/** Escapes text for XML and HTML; characters outside XML become U+FFFD. */
export function escapeXml(text: string): string {
  return text.toWellFormed()
    // deno-lint-ignore no-control-regex -- characters that XML 1.0 excludes
    .replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g, "\ufffd")
    .replace(/[&<>"']/g, (character) => XML[character]);
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
  return text.replace(/[\\~^–—°²±≤×−µ]|[&%$#_{}]/g, (character) => LATEX[character] ?? `\\${character}`)
    .replace(/\s*[\r\n]+\s*/g, " ");
}
