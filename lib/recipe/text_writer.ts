/**
 * Writes values as hand-written YAML: short collections of scalars on one line, everything else in blocks of two
 * spaces, texts without quotes where unambiguous.
 */
import { canonicalJson, prettyJson } from "../contract/json.ts";
import { isObject, type Value } from "../contract/value.ts";

/** Text after a colon or a dash: the rest of its line, and the lines below, each after a line break. */
export interface Written {
  line: string;
  below: string;
}

const LINE_WIDTH = 100;

/** Words that the core schema or other YAML readers do not read as texts. */
const NO_TEXT = /^(?:null|true|false|yes|no|on|off|y|n|nan|inf)$/i;
/** Plain words without special characters of YAML, including those of flow collections. */
const PLAIN = /^[\p{L}_][\p{L}\p{N}_./+()@;=$%-]*(?: [\p{L}\p{N}_./+()@;=$%-]+)*$/u;
/** Characters that need an escape in double quotes besides those of JSON: non-printing ones and line breaks. */
const ESCAPED = /[\u007f-\u009f\u2028\u2029\ufeff\ufffe\uffff]/g;

/** Quotes of a text; default plain where possible. */
export type Quotes = "'" | '"';

/** A text as a YAML scalar on one line. */
export function yamlText(text: string, quotes?: Quotes): string {
  if (quotes === undefined && PLAIN.test(text) && !NO_TEXT.test(text)) return text;
  // deno-lint-ignore no-control-regex -- single quotes hold nothing that needs an escape
  if (quotes === "'" && !/[\u0000-\u001f\u007f-\u009f\u2028\u2029\ufeff\ufffe\uffff]/.test(text)) {
    return `'${text.replaceAll("'", "''")}'`;
  }
  const escape = (character: string) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;
  return canonicalJson(text).replace(ESCAPED, escape);
}

export function yamlFlow(value: Value): string {
  if (typeof value === "string") return yamlText(value);
  if (Array.isArray(value)) return `[${value.map(yamlFlow).join(", ")}]`;
  if (!isObject(value)) return canonicalJson(value);
  return `{${Object.entries(value).map(([key, item]) => `${yamlText(key)}: ${yamlFlow(item)}`).join(", ")}}`;
}

/**
 * A value as YAML after a colon or a dash.
 * @param column first column of the lines below
 */
export function yamlBlock(value: Value, column: number): Written {
  if (typeof value === "string" && isPage(value)) return literal(value, column);
  if (isShort(value, column)) return { line: yamlFlow(value), below: "" };
  const indent = "\n" + " ".repeat(column);
  const below = Array.isArray(value)
    ? value.map((item) => indent + yamlItem(item, column)).join("")
    : Object.entries(value as object).map(([key, item]) => indent + yamlMember(key, item, column)).join("");
  return { line: "", below };
}

/** A field of a block mapping with keys at a column. */
export function yamlMember(key: string, value: Value, column: number): string {
  const { line, below } = yamlBlock(value, column + 2);
  return `${yamlText(key)}:${line === "" ? "" : " "}${line}${below}`;
}

/** An item of a block list with dashes at a column; a mapping begins on the line of its dash. */
export function yamlItem(value: Value, column: number): string {
  if (isObject(value) && Object.keys(value).length > 0) {
    const members = Object.entries(value).map(([key, item]) => yamlMember(key, item, column + 2));
    return `- ${members.join("\n" + " ".repeat(column + 2))}`;
  }
  const { line, below } = yamlBlock(value, column + 2);
  return line === "" ? `- ${below.slice(column + 3)}` : `- ${line}${below}`;
}

/** A value as JSON over several lines. @param unit one level of indentation */
export function jsonLines(value: Value, prefix: string, unit: string): string {
  return prettyJson(value).trimEnd().split("\n")
    .map((line, index) => {
      const levels = /^(?: {2})*/.exec(line)![0].length;
      return (index === 0 ? "" : prefix) + unit.repeat(levels / 2) + line.slice(levels);
    }).join("\n");
}

export function jsonFlow(value: Value): string {
  if (Array.isArray(value)) return `[${value.map(jsonFlow).join(", ")}]`;
  if (!isObject(value)) return canonicalJson(value);
  return `{${Object.entries(value).map(([key, item]) => `${canonicalJson(key)}: ${jsonFlow(item)}`).join(", ")}}`;
}

function isShort(value: Value, column: number): boolean {
  if (!Array.isArray(value) && !isObject(value)) return true;
  const flat = (item: Value) =>
    Array.isArray(item)
      ? item.every((inner) => !Array.isArray(inner) && !isObject(inner))
      : !isObject(item) || isEmpty(item);
  const items = Object.values(value);
  return items.every(flat) && (items.length === 0 || column + yamlFlow(value).length <= LINE_WIDTH);
}

function isEmpty(value: Value): boolean {
  return Object.keys(value as object).length === 0;
}

/** Whether a text has several lines that fit a literal block. */
function isPage(text: string): boolean {
  // deno-lint-ignore no-control-regex -- characters that a block cannot hold
  return /^[^\s\u0000-\u001f\u007f-\u009f\u2028\u2029\ufeff\ufffe\uffff][^\u0000-\u0009\u000b-\u001f\u007f-\u009f\u2028\u2029\ufeff\ufffe\uffff]*[^\s]\n?$/
    .test(text) && text.trimEnd().includes("\n");
}

function literal(text: string, column: number): Written {
  const kept = text.endsWith("\n");
  const lines = (kept ? text.slice(0, -1) : text).split("\n");
  return {
    line: kept ? "|" : "|-",
    below: lines.map((line) => line === "" ? "\n" : `\n${" ".repeat(column)}${line}`).join(""),
  };
}
