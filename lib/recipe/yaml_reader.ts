/**
 * A YAML reader with typed numbers and positions.
 *
 * Language: YAML 1.2.2, core schema, one document. Keys are texts and unique; tags, merge keys, NaN and infinities are
 * refused, as are empty values; aliases are expanded up to a limit. `yes`, `no`, `on` and `off` are texts.
 */
import { didYouMean } from "../contract/nearest.ts";
import { cloneValue, float, integer, type Value } from "../contract/value.ts";
import { MAX_ALIAS_NODES, MAX_DEPTH } from "./limits.ts";
import { locator, Positions, type Spot } from "./positions.ts";
import { ReadProblems } from "./read_problems.ts";
import type { DecodedText } from "./types.ts";
import {
  type Alias,
  composeDocument,
  isAlias,
  isMap,
  isScalar,
  isSeq,
  type Node,
  type Scalar,
  type YAMLMap,
  type YAMLSeq,
} from "../contract/yaml_tree.ts";
import { sourceTags } from "./yaml_write.ts";

/**
 * Reads one YAML document.
 * @param file name for locations
 * @param emptyValues `null` where a text is edited or laid out, which must not depend on forgotten values
 * @throws SvcError `recipe_syntax_invalid`, `recipe_duplicate_key`, `recipe_value_empty`,
 *   `recipe_json_value_invalid` or `recipe_limit_exceeded`, with line and column in its diagnostics
 */
export function readYaml(text: string, file: string, emptyValues: EmptyValues = "refuse"): DecodedText {
  const positions = new Positions(text, file);
  const problems = new ReadProblems(positions);
  const document = composeDocument(text, problems, sourceTags);
  problems.throwAny();
  const { value, spot } = new YamlWalk(problems, emptyValues).root(document.contents as Node | null);
  problems.throwAny();
  return { value, locate: locator(positions, spot), document };
}

/** Treatment of `key:` and `-` without a value. */
export type EmptyValues = "refuse" | "null";

interface Read {
  value: Value;
  spot: Spot;
  /** Number of values, with expanded aliases and the value itself. */
  nodes: number;
  /** Levels of collections. */
  height: number;
}

/** Whether a value is missing: `key:` or `-` with nothing behind it; a written `null`, `~` or `""` is a value. */
const isEmpty = (node: Node | null): boolean =>
  node === null || (isScalar(node) && node.type === "PLAIN" && (node.source ?? "") === "" && node.tag === undefined);

/** Converts the library's tree to typed values, expanding aliases. */
class YamlWalk {
  /** Null while the anchored value is read. */
  readonly #anchors = new Map<string, Read | null>();
  #aliasNodes = 0;
  readonly #place: (string | number)[] = [];

  constructor(readonly problems: ReadProblems, readonly emptyValues: EmptyValues) {}

  root(contents: Node | null): Read {
    return this.#read(contents, 0);
  }

  #read(node: Node | null, fallback: number): Read {
    const at = node?.range?.[0] ?? fallback;
    const leaf = (value: Value): Read => ({ value, spot: { at }, nodes: 1, height: 0 });
    if (node === null) return leaf(null);
    if (isAlias(node)) return this.#alias(node, at);
    const anchor = (node as { anchor?: string }).anchor;
    if (anchor !== undefined) this.#anchors.set(anchor, null);
    const read = isMap(node)
      ? this.#map(node as YAMLMap<Node, Node | null>, at)
      : isSeq(node)
      ? this.#sequence(node as YAMLSeq<Node | null>, at)
      : leaf(isScalar(node) ? this.#scalar(node, at) : null);
    if (anchor !== undefined) this.#anchors.set(anchor, read);
    return read;
  }

  #refuse(at: number, message: string, hint?: string): void {
    this.problems.add("recipe_json_value_invalid", at, message, { place: this.#place, hint });
  }

  /** A forgotten value would silently mean null, which often selects a default. */
  #refuseEmpty(at: number, what: string): void {
    if (this.emptyValues === "null") return;
    this.problems.add("recipe_value_empty", at, `Cannot use the empty value of ${what}`, {
      place: this.#place,
      hint: "Write a value, or null where none is meant",
    });
  }

  #scalar(node: Scalar, at: number): Value {
    const { value } = node;
    switch (typeof value) {
      case "bigint":
        return integer(value);
      case "number":
        if (Number.isFinite(value)) return float(value);
        this.#refuse(at, `Cannot hold ${node.source ?? value} as a number`, "Only finite numbers; quotes make a text");
        return 0;
      case "string":
        if (!value.isWellFormed()) this.#refuse(at, "Cannot use a lone surrogate in a text");
        return value;
      case "boolean":
        return value;
    }
    return null;
  }

  #alias(node: Alias, at: number): Read {
    const target = this.#anchors.get(node.source);
    if (target === undefined) {
      return this.problems.stop("recipe_syntax_invalid", at, `Cannot find the anchor of *${node.source}`, {
        place: this.#place,
        hint: didYouMean(node.source, this.#anchors.keys()) ?? "An anchor precedes its aliases",
      });
    }
    if (target === null) {
      return this.problems.stop("recipe_json_value_invalid", at, `Cannot put *${node.source} inside itself`, {
        place: this.#place,
      });
    }
    this.#aliasNodes += target.nodes;
    if (this.#aliasNodes > MAX_ALIAS_NODES) {
      this.problems.stop("recipe_limit_exceeded", at, `Cannot expand aliases to more than ${MAX_ALIAS_NODES} values`, {
        place: this.#place,
      });
    }
    if (this.#place.length + target.height > MAX_DEPTH) this.problems.tooDeep(at, this.#place);
    return { ...target, value: cloneValue(target.value) };
  }

  #enter(at: number): void {
    if (this.#place.length >= MAX_DEPTH) this.problems.tooDeep(at, this.#place);
    this.#place.push("");
  }

  #sequence(node: YAMLSeq<Node | null>, at: number): Read {
    this.#enter(at);
    const value: Value[] = [], items: Spot[] = [];
    let nodes = 1, height = 0;
    for (const item of node.items) {
      this.#place[this.#place.length - 1] = value.length;
      if (isEmpty(item)) this.#refuseEmpty(item?.range?.[0] ?? at, `item ${value.length + 1} of a list`);
      const read = this.#read(item, at);
      value.push(read.value);
      items.push(read.spot);
      nodes += read.nodes;
      height = Math.max(height, read.height);
    }
    this.#place.pop();
    return { value, spot: { at, items }, nodes, height: height + 1 };
  }

  #map(node: YAMLMap<Node, Node | null>, at: number): Read {
    this.#enter(at);
    const entries: [string, Value][] = [];
    const members: NonNullable<Spot["members"]> = new Map();
    let nodes = 1, height = 0;
    for (const pair of node.items) {
      const key = pair.key?.range?.[0] ?? at;
      const name = this.#key(pair.key, key);
      this.#place[this.#place.length - 1] = name;
      const first = members.get(name);
      if (first !== undefined) this.problems.duplicateKey(name, key, first.key, this.#place);
      if (isEmpty(pair.value)) this.#refuseEmpty(key, `the key ${name}`);
      const read = this.#read(pair.value, pair.key?.range?.[1] ?? at);
      entries.push([name, read.value]);
      members.set(name, { key, value: read.spot });
      nodes += read.nodes;
      height = Math.max(height, read.height);
    }
    this.#place.pop();
    // Unlike assignment, fromEntries makes `__proto__` an ordinary field.
    return { value: Object.fromEntries(entries), spot: { at, members }, nodes, height: height + 1 };
  }

  #key(node: Node | null, at: number): string {
    this.#place[this.#place.length - 1] = "";
    const { value } = this.#read(node, at);
    if (typeof value !== "string") {
      const shown = isScalar(node) && node.source !== undefined ? node.source : "this key";
      this.#refuse(at, `Cannot use ${shown || "an empty key"} as a key: keys are texts`, "Put it in quotes");
      return `${shown}`;
    }
    if (value === "<<" && isScalar(node) && node.type === "PLAIN") {
      this.problems.add("recipe_syntax_invalid", at, "Cannot use the YAML merge key <<", {
        place: this.#place,
        hint: "Write all fields, or use an alias for the whole mapping",
      });
    }
    return value;
  }
}
