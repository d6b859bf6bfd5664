/** A sentence or title in the middle of another; abbreviations keep their case. */
export const lowerFirst = (text: string): string =>
  /^[A-Z][a-z]*(?:[\s-]|$)/.test(text) ? text[0].toLowerCase() + text.slice(1) : text;
