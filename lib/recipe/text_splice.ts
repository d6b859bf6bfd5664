/**
 * Inserts a changed value into its text: unchanged parts are copied, changed ones are rewritten in place. With unusual
 * notation the result may be wrong, so the caller reads it again.
 */
import { canonicalJson, sameValue } from "../contract/json.ts";
import { isObject, type JsonObject, type Value } from "../contract/value.ts";
import { matchItems } from "./match_items.ts";
import { chunksOf } from "./text_chunks.ts";
import { columnOf, type Part, type Piece, skipBlank } from "./text_pieces.ts";
import {
  jsonFlow,
  jsonLines,
  type Quotes,
  type Written,
  yamlBlock,
  yamlFlow,
  yamlItem,
  yamlMember,
  yamlText,
} from "./text_writer.ts";

export interface SpliceOptions {
  json: boolean;
  /** JSON pointers of values to rewrite as a whole. */
  rewrite: ReadonlySet<string>;
}

/**
 * Splices a value into a text.
 * @param root pieces of the text
 * @param old value of the text
 * @param next new value
 */
export function spliceText(text: string, root: Piece, old: Value, next: Value, options: SpliceOptions): string {
  return new Splicer(text, options).document(root, old, next);
}

/** A part of a new collection, and its old part if it has one. */
interface Slot {
  part: Part | undefined;
  old: Value | undefined;
  next: Value;
  name: string | null;
  pointer: string;
}

class Splicer {
  /** Values of anchors at the current place of the new text. */
  readonly #anchors = new Map<string, Value>();
  /** One level of indentation in JSON. */
  readonly #unit: string;

  constructor(readonly text: string, readonly options: SpliceOptions) {
    this.#unit = /^\s*[{[][ \t]*\n([ \t]+)/.exec(text)?.[1] ?? "  ";
  }

  document(root: Piece, old: Value, next: Value): string {
    const before = this.text.slice(0, root.start), after = this.text.slice(root.end);
    if (!root.block) return before + this.#inline(root, old, next, "") + after;
    if (this.#spliceable(root, next, "")) return before + this.#block(root, old, next, "", root.start) + after;
    const { line, below } = yamlBlock(next, columnOf(this.text, root.start));
    return before + line + below.trimStart() + after;
  }

  #spliceable(piece: Piece, next: Value, pointer: string): boolean {
    if (this.options.rewrite.has(pointer)) return false;
    if (piece.kind === "map") return isObject(next) && Object.keys(next).length > 0;
    return piece.kind === "list" && Array.isArray(next) && next.length > 0;
  }

  /** Whether a piece already has its new value. */
  #holds(piece: Piece, old: Value, next: Value, pointer: string): boolean {
    if (this.options.rewrite.has(pointer)) return false;
    if (piece.kind === "alias") {
      const meant = this.#anchors.get(piece.source!);
      return meant !== undefined && sameValue(meant, next);
    }
    // Linked values are visited, so that their anchors are known.
    return sameValue(old, next) && (!piece.linked || piece.parts.length === 0);
  }

  /** Records the value of the anchor of a kept piece. */
  #keep(piece: Piece, value: Value): void {
    if (piece.anchor !== undefined) this.#anchors.set(piece.anchor, value);
  }

  /** A piece within a line or in brackets, to its end. */
  #inline(piece: Piece, old: Value, next: Value, pointer: string): string {
    const own = this.text.slice(piece.start, piece.end);
    let written = own;
    if (!this.#holds(piece, old, next, pointer)) {
      const inside = piece.parts.length > 0 && this.#spliceable(piece, next, pointer);
      if (inside) written = this.#flow(piece, old, next as JsonObject | Value[], pointer);
      else written = this.options.json ? this.#json(next, piece.start, own.includes("\n")) : yamlLine(next, own);
    }
    this.#keep(piece, next);
    return written;
  }

  /** A value as JSON, on several lines if it is long or replaces several lines. */
  #json(value: Value, at: number, tall = false): string {
    const flow = jsonFlow(value);
    if (!tall && flow.length <= 80) return flow;
    const line = this.text.slice(this.text.lastIndexOf("\n", at - 1) + 1, at);
    return jsonLines(value, /^[ \t]*/.exec(line)![0], this.#unit);
  }

  /** A collection in brackets with added or removed parts. */
  #flow(piece: Piece, old: Value, next: JsonObject | Value[], pointer: string): string {
    const { text } = this, { parts } = piece;
    const slots = this.#slots(piece, old, next, pointer);
    const end = piece.end - 1;
    if (slots.length === parts.length && slots.every(({ part }, index) => part === parts[index])) {
      const pieces = slots.map((slot, index) =>
        this.#flowPart(slot) + text.slice(parts[index].end, parts[index + 1]?.start ?? end)
      );
      return text.slice(piece.start, parts[0].start) + pieces.join("") + text[end];
    }
    // Text before each part, and the comment at the end of its line, before or after the comma.
    const before = new Map<Part, string>(), notes = new Map<Part, string>();
    let at = piece.start + 1, previous: Part | undefined;
    const take = (to: number) => {
      const gap = text.slice(at, to), note = previous === undefined ? "" : /^[ \t]+#[^\n]*|/.exec(gap)![0];
      if (previous !== undefined) notes.set(previous, notes.get(previous)! + note);
      return gap.slice(note.length);
    };
    for (const part of parts) {
      before.set(part, take(part.start));
      const comma = skipBlank(text, part.end), found = text[comma] === ",";
      notes.set(part, found ? text.slice(part.end, comma).trimEnd() : "");
      at = found ? comma + 1 : part.end;
      previous = part;
    }
    const closing = take(end);
    const lead = before.get(parts[0])!, space = spaceOf(parts.length > 1 ? before.get(previous!)! : lead || " ");
    let written = text[piece.start], note = "";
    slots.forEach((slot, index) => {
      const own = slot.part === undefined ? space : before.get(slot.part)!;
      // In `{a: 1, b: 2}` the first part has no space before it.
      const first = lead.trim() === "" ? lead : spaceOf(lead);
      const gap = own.trim() !== "" ? own : index === 0 ? first : slot.part === parts[0] ? space : own;
      written += (note !== "" && !gap.includes("\n") ? "\n" : "") + gap;
      written += slot.part === undefined ? this.#newFlowPart(slot, space, piece) : this.#flowPart(slot);
      note = slot.part === undefined ? "" : notes.get(slot.part)!;
      written += (index < slots.length - 1 ? "," : "") + note;
    });
    return written + (note !== "" && !closing.includes("\n") ? "\n" : "") + closing + text[end];
  }

  #flowPart({ part, old, next, pointer }: Slot): string {
    const { start, open, value, bare, name } = part!;
    const head = this.text.slice(start, value?.start ?? open);
    if (value !== null) return head + this.#inline(value, old!, next, pointer);
    if (next === null && !this.options.rewrite.has(pointer)) return head;
    return `${head}${bare ? ":" : ""}${name === null ? "" : " "}${yamlFlow(next)}`;
  }

  #newFlowPart({ next, name }: Slot, space: string, piece: Piece): string {
    if (!this.options.json) return `${name === null ? "" : `${yamlText(name)}: `}${yamlFlow(next)}`;
    const body = space.includes("\n")
      ? jsonLines(next, space.slice(space.lastIndexOf("\n") + 1), this.#unit)
      : this.#json(next, piece.start);
    return `${name === null ? "" : `${canonicalJson(name)}: `}${body}`;
  }

  /**
   * A block collection, from the lines above its first part.
   * @param from start of the piece within a line: at the start of the text, or after a dash
   */
  #block(piece: Piece, old: Value, next: Value, pointer: string, from: number): string {
    const column = columnOf(this.text, piece.start), indent = " ".repeat(column);
    const slots = this.#slots(piece, old, next as JsonObject | Value[], pointer);
    const kept = new Set(slots.map(({ part }) => part));
    const chunks = new Map(chunksOf(this.text, piece, from).map((chunk) => [chunk.part, chunk]));
    // A comment separated by a blank line stays when the part below it is removed.
    let orphans: string[] = [];
    for (const chunk of chunks.values()) {
      if (kept.has(chunk.part)) {
        chunk.before = [...orphans, ...chunk.before];
        orphans = [];
      } else if (chunk.before.some((line) => line.trim() !== "")) {
        for (const line of chunk.before) orphans.push(line);
      }
    }
    const blocks: string[][] = [];
    for (const slot of slots) {
      if (slot.part === undefined) {
        const { name } = slot;
        blocks.push([indent + (name === null ? yamlItem(slot.next, column) : yamlMember(name, slot.next, column))]);
        continue;
      }
      const { before, above, after } = chunks.get(slot.part)!;
      const text = before.findIndex((line) => line.trim() !== "");
      blocks.push(blocks.length > 0 ? before : text < 0 ? [] : before.slice(text), above);
      const head = this.text.slice(slot.part.start, slot.part.open);
      blocks.push([indent + head + this.#slot(slot, column)], after);
    }
    const text = orphans.findLastIndex((line) => line.trim() !== "");
    const written = [...blocks.flat(), ...orphans.slice(0, text + 1)].join("\n");
    return from === piece.start ? written.replace(/^[ \t]+/, "") : written;
  }

  /** Text after the colon or the dash of a part in a block, to the end of its last line. */
  #slot({ part, old, next, name, pointer }: Slot, column: number): string {
    const { text } = this, { open, end, value: piece } = part!;
    const head = text.slice(open, piece?.start ?? open), tail = text.slice(piece?.end ?? open, end);
    if (piece === null) {
      if (next === null && !this.options.rewrite.has(pointer)) return tail;
    } else if (this.#holds(piece, old!, next, pointer)) {
      this.#keep(piece, next);
      return text.slice(open, end);
    } else if (this.#spliceable(piece, next, pointer) && piece.parts.length > 0) {
      if (!piece.block) return head + this.#inline(piece, old!, next, pointer) + tail;
      const below = head.indexOf("\n") + 1;
      const from = below > 0 ? open + below : piece.start;
      const written = text.slice(open, from) + this.#block(piece, old!, next, pointer, from);
      this.#keep(piece, next);
      return written;
    }
    const { line, below } = name === null ? itemBlock(next, column) : yamlBlock(next, column + 2);
    if (piece !== null && !piece.block && below === "" && !head.includes("&")) {
      return head + (typeof next === "string" ? yamlLine(next, text.slice(piece.start, piece.end)) : line) + tail;
    }
    // The comment on the line of the colon or the dash stays there.
    const comment = piece?.block ? /^[ \t]+#[^\n]*|/.exec(head)![0] : tail.trimEnd();
    return (line === "" ? "" : " ") + line + comment + below;
  }

  /** The parts of a new collection, in their order in the text. */
  #slots(piece: Piece, old: Value, next: JsonObject | Value[], pointer: string): Slot[] {
    if (Array.isArray(next)) {
      const items = old as Value[];
      return matchItems(items, next).map((from, index): Slot => ({
        part: from === null ? undefined : piece.parts[from],
        old: from === null ? undefined : items[from],
        next: next[index],
        name: null,
        pointer: `${pointer}/${index}`,
      }));
    }
    const slot = (name: string, part?: Part): Slot => ({
      part,
      old: part && (old as JsonObject)[name],
      next: next[name],
      name,
      pointer: `${pointer}/${name.replaceAll("~", "~0").replaceAll("/", "~1")}`,
    });
    const slots = piece.parts.filter(({ name }) => Object.hasOwn(next, name!)).map((part) => slot(part.name!, part));
    const place = new Map(slots.map(({ name }, index) => [name, index]));
    // A new field is inserted after its predecessor in the new value.
    const added: Slot[][] = slots.map(() => []), first: Slot[] = [];
    let into = first;
    for (const name of Object.keys(next)) {
      const standing = place.get(name);
      if (standing === undefined) into.push(slot(name));
      else into = added[standing];
    }
    return [...first, ...slots.flatMap((kept, index) => [kept, ...added[index]])];
  }
}

function itemBlock(value: Value, column: number): Written {
  const text = yamlItem(value, column).slice(2), first = text.indexOf("\n");
  return first < 0 ? { line: text, below: "" } : { line: text.slice(0, first), below: text.slice(first) };
}

/** A value on one line, with the quotes of the previous text. */
function yamlLine(value: Value, before: string): string {
  const quotes = /^['"]/.exec(before)?.[0] as Quotes | undefined;
  return typeof value === "string" ? yamlText(value, quotes) : yamlFlow(value);
}

/** The white space of a gap, without comments. */
function spaceOf(gap: string): string {
  const bare = gap.replace(/#[^\n]*/g, "");
  return bare.includes("\n") ? bare.slice(bare.lastIndexOf("\n")) : /^[ \t]*/.exec(bare)![0];
}
