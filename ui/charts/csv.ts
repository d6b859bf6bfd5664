/** Tables as CSV. Apart from the figures, so that a list of runs does not load them. */

/** A table as CSV with the quotes that it needs. */
export function csvText({ columns, rows }: { columns: readonly string[]; rows: readonly string[][] }): string {
  const cell = (text: string) => /[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
  return [columns, ...rows].map((row) => row.map(cell).join(",")).join("\r\n") + "\r\n";
}
