/** A text that begins a line: with a capital, but for names in lower case such as `svc` or `a_b.yaml`. */
export const upperFirst = (text: string): string =>
  /^(?!svc\b)[a-z][a-z]*(?:[\s,;:]|-[a-z]|$)/.test(text) ? text[0].toUpperCase() + text.slice(1) : text;

/** A sentence or title in the middle of another; abbreviations keep their case. */
export const lowerFirst = (text: string): string =>
  /^[A-Z][a-z]*(?:[\s-]|$)/.test(text) ? text[0].toLowerCase() + text.slice(1) : text;
