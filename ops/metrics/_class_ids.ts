/** A label or class within a metric id: letters, digits and underscores. */
export const idName = (label: string): string => label.trim().replace(/[^\p{L}\p{N}]+/gu, "_");
