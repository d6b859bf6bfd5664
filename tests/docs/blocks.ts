/** The code blocks of a Markdown text with one language, in order. */
export function codeBlocks(text: string, language: string): string[] {
  return [...text.matchAll(/^```(\S*)\n([\s\S]*?)\n```$/gm)].filter(([, of]) => of === language).map(([, , body]) =>
    body
  );
}
