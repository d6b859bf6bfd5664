/** Comma-separated values (RFC 4180) with line feeds, identical on every platform. */

/** A field, quoted if it has a comma, a quote or a line end. */
function csvField(text: string): string {
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** A table of texts; the first line has the column names. */
export function csvText(lines: readonly (readonly string[])[]): string {
  return lines.map((line) => line.map(csvField).join(",") + "\n").join("");
}
