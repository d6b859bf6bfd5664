/** Tables as LaTeX for `\input`, with the rules of booktabs: \usepackage{booktabs}. */
import { escapeLatex, latexComment } from "../contract/escape.ts";

/** A table whose cells are LaTeX already; caption and label are plain text. */
export interface LatexTable {
  caption: string;
  label: string;
  /** Column specification of `tabular`. */
  align: string;
  head: readonly string[];
  rows: readonly (readonly string[])[];
}

/** A text as LaTeX, with the ratios Es/N0 and Eb/N0 as formulas. */
export const latexText = (text: string): string =>
  escapeLatex(text).replace(/E([sb])\/N0/g, (_, what) => `$E_\\mathrm{${what}}/N_0$`);

/** A caption for `\input` in a float: sentences, the digest of the result in short, and lines that follow as comments. */
export const latexCaption = (sentences: readonly string[], digest: string, comments: readonly string[]): string =>
  `\\caption{${sentences.map(latexText).join(" ")} \\texttt{${latexText(digest)}}.}\n` +
  comments.map((line) => `${latexComment(line)}\n`).join("");

/** A table as a float. */
export function latexTable({ caption, label, align, head, rows }: LatexTable): string {
  const line = (cells: readonly string[]) => `    ${cells.join(" & ")} \\\\\n`;
  return [
    "\\begin{table}\n  \\centering\n",
    `  \\caption{${escapeLatex(caption)}}\n`,
    `  \\label{tab:${label.replace(/[^A-Za-z0-9:.-]/g, "-")}}\n`,
    `  \\begin{tabular}{${align}}\n    \\toprule\n`,
    line(head),
    "    \\midrule\n",
    ...rows.map(line),
    "    \\bottomrule\n  \\end{tabular}\n\\end{table}\n",
  ].join("");
}
