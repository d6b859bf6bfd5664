/** Comma-separated values (RFC 4180) with bare line feeds, so that the same table is the same bytes everywhere. */

/** A field, in quotes when it holds a comma, a quote or a line end. */
export function csvField(text: string): string {
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** A table of texts; the first line names the columns. */
export function csvText(lines: readonly (readonly string[])[]): string {
  return lines.map((line) => line.map(csvField).join(",") + "\n").join("");
}
