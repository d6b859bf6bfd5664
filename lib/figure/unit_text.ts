/** Units of the catalogue as they are read: `pixel²`, `°`; shares have none. */
export function unitText(unit: string): string {
  const plain: Record<string, string> = { fraction: "", ratio: "", count: "", "pixel^2": "pixel²", degree: "°" };
  return plain[unit] ?? unit.replaceAll("_", " ");
}
