/** Units of the catalogue for display: `pixel²`, `°`; fractions have none. */
export function unitText(unit: string): string {
  const plain: Record<string, string> = { fraction: "", ratio: "", count: "", "pixel^2": "pixel²", degree: "°" };
  return plain[unit] ?? unit.replaceAll("_", " ");
}
