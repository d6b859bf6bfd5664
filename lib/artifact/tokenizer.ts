/**
 * Tokenizers of published models, from tokenizer.json. The only import of the library, which is plain JavaScript
 * without permissions.
 */
import { Tokenizer } from "npm:@huggingface/tokenizers@^0.2.0";
import { messageOf, SvcError } from "../contract/error.ts";

/** Token ids of a text or a pair of texts, with the model's special tokens. */
export interface Encoding {
  ids: number[];
  /** 0 for tokens of the first text and 1 for those of the second. */
  types: number[];
}

export interface TextTokenizer {
  /** Encodes a text with special tokens. */
  encode(text: string): Encoding;
  /** The id of a token, or undefined for one outside the vocabulary. */
  idOf(token: string): number | undefined;
  /** The token of an id in the vocabulary. */
  tokenOf(id: number): string | undefined;
  /** Tokens as text, without special tokens. */
  decode(ids: readonly number[]): string;
  /** Whether a token is an added special one, such as a mask or padding. */
  isSpecial(id: number): boolean;
  /** A special token by its role in tokenizer_config.json (`mask_token`, `pad_token`, …), when it names one. */
  named(role: string): string | undefined;
}

/**
 * Opens a tokenizer.
 * @param tokenizer bytes of tokenizer.json
 * @param config bytes of tokenizer_config.json, if present
 * @throws SvcError `model_unavailable` for unreadable files
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { openTokenizer } from "./tokenizer.ts";
 *
 * const model = { type: "WordPiece", unk_token: "[UNK]", continuing_subword_prefix: "##", max_input_chars_per_word: 100, vocab: { "[UNK]": 0, "red": 1, "disc": 2 } };
 * const document = { added_tokens: [], normalizer: null, pre_tokenizer: { type: "Whitespace" }, post_processor: null, decoder: null, model };
 * const tokenizer = openTokenizer(new TextEncoder().encode(JSON.stringify(document)));
 * assert.deepEqual(tokenizer.encode("red disc").ids, [1, 2]);
 * ```
 */
export function openTokenizer(tokenizer: Uint8Array, config?: Uint8Array): TextTokenizer {
  const parse = (bytes: Uint8Array) => JSON.parse(new TextDecoder().decode(bytes));
  let inner: Tokenizer, settings: Record<string, unknown>;
  try {
    settings = config === undefined ? {} : parse(config);
    inner = new Tokenizer(parse(tokenizer), settings);
  } catch (error) {
    throw new SvcError("model_unavailable", `Cannot read the tokenizer of the model: ${messageOf(error)}`);
  }
  const special = new Set([...inner.get_added_tokens_decoder()].filter(([, { special }]) => special).map(([id]) => id));
  return {
    encode(text) {
      const { ids, token_type_ids } = inner.encode(text, { return_token_type_ids: true });
      return { ids: [...ids], types: [...token_type_ids ?? ids.map(() => 0)] };
    },
    idOf: (token) => inner.token_to_id(token),
    tokenOf: (id) => inner.id_to_token(id),
    // The package refuses an empty list.
    decode: (ids) => ids.length === 0 ? "" : inner.decode([...ids], { skip_special_tokens: true }),
    isSpecial: (id) => special.has(id),
    named(role) {
      const value = settings[role];
      if (typeof value === "string") return value;
      const content = (value as { content?: unknown } | null | undefined)?.content;
      return typeof content === "string" ? content : undefined;
    },
  };
}

/**
 * tokenizer.json of a CLIP tokenizer saved as vocab.json and merges.txt, as in exports of diffusion pipelines.
 * @param vocab bytes of vocab.json
 * @param merges bytes of merges.txt: a version line, then two pieces per line, the most frequent pair first
 * @throws SvcError `model_unavailable` for unreadable files, or a vocabulary without the start and end tokens
 */
export function clipTokenizer(vocab: Uint8Array, merges: Uint8Array): Uint8Array {
  const text = (bytes: Uint8Array) => new TextDecoder().decode(bytes);
  const [start, end] = ["<|startoftext|>", "<|endoftext|>"];
  let numbers: Record<string, number> = {};
  try {
    numbers = JSON.parse(text(vocab));
  } catch {
    // Reported below.
  }
  if (typeof numbers?.[start] !== "number" || typeof numbers[end] !== "number") {
    throw new SvcError("model_unavailable", `Cannot read vocab.json of the model: it lacks ${start} or ${end}`);
  }
  const special = (content: string) => ({
    id: numbers[content],
    content,
    single_word: false,
    lstrip: false,
    rstrip: false,
    normalized: true,
    special: true,
  });
  const words = "'s|'t|'re|'ve|'m|'ll|'d|[\\p{L}]+|[\\p{N}]|[^\\s\\p{L}\\p{N}]+";
  const document = {
    version: "1.0",
    added_tokens: [special(start), special(end)],
    normalizer: {
      type: "Sequence",
      normalizers: [
        { type: "NFC" },
        { type: "Replace", pattern: { Regex: "\\s+" }, content: " " },
        { type: "Lowercase" },
      ],
    },
    pre_tokenizer: {
      type: "Sequence",
      pretokenizers: [
        { type: "Split", pattern: { Regex: words }, behavior: "Removed", invert: true },
        { type: "ByteLevel", add_prefix_space: false, trim_offsets: true },
      ],
    },
    post_processor: {
      type: "RobertaProcessing",
      sep: [end, numbers[end]],
      cls: [start, numbers[start]],
      trim_offsets: false,
      add_prefix_space: false,
    },
    decoder: { type: "ByteLevel", add_prefix_space: true, trim_offsets: true },
    model: {
      type: "BPE",
      dropout: null,
      unk_token: end,
      continuing_subword_prefix: "",
      end_of_word_suffix: "</w>",
      fuse_unk: false,
      vocab: numbers,
      merges: text(merges).split("\n").map((line) => line.trimEnd()).filter((line) =>
        line !== "" && !line.startsWith("#version")
      ),
    },
  };
  return new TextEncoder().encode(JSON.stringify(document));
}
