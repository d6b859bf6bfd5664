/** The code blocks of Markdown texts, and the notes in their source about blocks that the tests of documents do not run. */

/** A fenced block. */
export interface Block {
  language: string;
  body: string;
  /**
   * `<!-- not run: reason -->` or `<!-- run by: test -->`, directly before the block, or below the heading of its section, where
   * it holds for all blocks of the section.
   */
  note?: { kind: "not run" | "run by"; text: string };
}

const NOTE = /^<!-- (not run|run by): (.+) -->$/;

/** The code blocks of a Markdown text, in order. */
export function blocksOf(text: string): Block[] {
  const blocks: Block[] = [], lines = text.split("\n");
  let section: Block["note"];
  for (let at = 0; at < lines.length; at++) {
    const match = NOTE.exec(lines[at]), note = match === null ? undefined : noteOf(match);
    if (lines[at].startsWith("## ")) section = undefined;
    else if (note !== undefined && /^## /.test(lines[at - 1] === "" ? lines[at - 2] : lines[at - 1])) section = note;
    if (!lines[at].startsWith("```")) continue;
    const end = lines.indexOf("```", at + 1), before = NOTE.exec(lines[at - 1] ?? "");
    blocks.push({
      language: lines[at].slice(3),
      body: lines.slice(at + 1, end).join("\n"),
      note: before === null ? section : noteOf(before),
    });
    at = end;
  }
  return blocks;
}

const noteOf = ([, kind, text]: RegExpExecArray) => ({ kind: kind as "not run" | "run by", text });

/** The code blocks of a Markdown text with one language, in order. */
export const codeBlocks = (text: string, language: string): string[] =>
  blocksOf(text).filter((block) => block.language === language).map(({ body }) => body);
