/**
 * Attaches comments to the field or item that they precede.
 *
 * The library attaches those above the first part of a collection, and those on the line of its key, to the collection,
 * and those above a part to the part before it when that part ends with a comment of its own.
 */
import { type Document, isCollection, isPair, type Node, type Pair } from "../contract/yaml_library.ts";
import type { YAMLMap, YAMLSeq } from "../contract/yaml_library.ts";

/** A field or an item of a collection. */
export type Part = Pair<Node, Node | null> | Node | null;

/** The node whose `commentBefore` and `spaceBefore` are those of a part. */
export function commentHolder(part: Part): Node | null {
  return isPair(part) ? part.key as Node : part as Node | null;
}

/** Attaches the comments of a document; those at its head are its own. */
export function settleDocument(text: string, document: Document): void {
  const root = document.contents as Node | null;
  settleComments(text, root);
  const first = isBlock(root) ? commentHolder(root.items[0] as Part) : null;
  if (root === null || !first?.commentBefore) return;
  root.commentBefore = joined(root.commentBefore, first.commentBefore);
  first.commentBefore = undefined;
}

/** Attaches the comments of a tree. @param key the key of the node; without one, comments above it are its own */
function settleComments(text: string, node: Node | null, key?: Node): void {
  if (key !== undefined && node !== null) settleKey(text, key, node);
  if (!isBlock(node)) return;
  const parts = node.items as Part[], first = commentHolder(parts[0]);
  for (const part of parts) {
    if (isPair(part)) settleComments(text, part.value as Node | null, part.key as Node);
    else settleComments(text, part as Node | null);
  }
  if (key !== undefined && first !== null && node.commentBefore) {
    first.commentBefore = joined(node.commentBefore, first.commentBefore);
    node.commentBefore = undefined;
  }
  for (let at = 1; at < parts.length; at++) settleNext(text, parts[at - 1], parts[at]);
}

function isBlock(node: unknown): node is YAMLMap | YAMLSeq {
  return isCollection(node) && !node.flow && node.items.length > 0;
}

/** A comment on the line of a key belongs to the key. */
function settleKey(text: string, key: Node, value: Node): void {
  const between = text.slice(key.range![1], value.range![0]);
  if (!value.commentBefore || !/^[ \t]*:[^\n#]*[ \t]#/.test(between)) return;
  const [own, ...rest] = value.commentBefore.split("\n");
  key.comment = own;
  if (rest[0] === "") value.spaceBefore = true;
  value.commentBefore = rest.join("\n").replace(/^\n+/, "") || undefined;
}

/** Comments directly above a part, at its column, are not those of the part before it. */
function settleNext(text: string, part: Part, next: Part): void {
  const holder = lastComment(isPair(part) ? part.value as Node : part as Node), target = commentHolder(next);
  const from = commentHolder(part)?.range?.[0], start = target?.range?.[0];
  if (holder === null || !target || from === undefined || start === undefined) return;
  const above = text.slice(from, text.lastIndexOf("\n", start) + 1).split("\n").slice(0, -1);
  const column = /^[ ]*/.exec(text.slice(text.lastIndexOf("\n", start) + 1))![0].length;
  const comments = holder.comment!.split("\n");
  let at = comments.length, space = false;
  for (const line of above.reverse()) {
    if (line.trim() !== "" && (!/^[ \t]*#/.test(line) || line.search(/\S/) > column) || at === 0) break;
    if (line.trim() !== "" || comments[at - 1] === "") at--;
  }
  const moved = comments.slice(at);
  while (moved[0] === "") space = moved.shift() === "";
  if (moved.length === 0) return;
  const left = comments.slice(0, at);
  while (left.at(-1) === "") space = left.pop() === "";
  holder.comment = left.join("\n") || undefined;
  target.commentBefore = joined(moved.join("\n"), target.commentBefore);
  if (space) target.spaceBefore = true;
}

/** The block collection at the end of a value that has the comments below it. */
function lastComment(node: Node | null): YAMLMap | YAMLSeq | null {
  if (!isBlock(node)) return null;
  if (node.comment) return node;
  const last = node.items.at(-1);
  return lastComment(isPair(last) ? last.value as Node : last as Node);
}

function joined(a: string | null | undefined, b: string | null | undefined): string {
  return [a, b].filter((comment) => comment).join("\n");
}
