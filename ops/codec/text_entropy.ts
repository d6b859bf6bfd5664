/** Texts as arithmetic-coded or Huffman-coded payload bits, and back. */
import { defineOperation, type InputArtifact, sha256Json, SvcError, type Value, z } from "../api.ts";
import { HuffmanCode } from "../../lib/numeric/coding/huffman.ts";
import { END, SYMBOLS, TextModel } from "../../lib/numeric/coding/text_model.ts";
import { PAYLOAD_BITS, PAYLOAD_OR_BITS, TEXTS } from "../../lib/contract/kinds.ts";
import { bitsArtifact, bitsOf, textsArtifact, textsOf, travel } from "../../lib/artifact/values.ts";
import { packBits, unpackBits } from "../../lib/numeric/array/bit_packing.ts";
import { decodeUtf8, payloadItems, trustedIds, unreadable } from "../_utf8_payload.ts";
import corpus from "./_english_corpus.json" with { type: "json" };

/** Most bytes of one text. */
const TEXT_BYTES = 1 << 16;

/** A corpus that both ends have, with the name that goes into `payload_format`. */
interface Corpus {
  name: string;
  texts: readonly string[];
}

const ENGLISH: Corpus = {
  name: corpus.version,
  texts: corpus.paragraphs.flatMap((paragraph) => paragraph.split(/(?<=[.!?]) /)),
};

/** The corpus of a step: that of its input, else English prose. */
function corpusOf(input: InputArtifact | undefined): Corpus {
  if (input === undefined) return ENGLISH;
  const texts = textsOf(input).map(({ text }) => text);
  return { name: `corpus-${sha256Json(texts).slice(0, 16)}`, texts };
}

type Code = { encode(text: string): Uint8Array; decode(message: Uint8Array): Uint8Array | undefined };

/** The codes of a corpus by `payload_format`. */
function codesOf({ name, texts }: Corpus): Map<string, () => Code> {
  const found = new Map([[`text_huffman_${name}`, () => huffmanOf(texts)]]);
  for (const order of [0, 1, 2, 3, 4, 5, 6]) {
    found.set(formatOf(name, "arithmetic", order), () => arithmeticOf(texts, order));
  }
  return found;
}

const formatOf = (name: string, code: typeof CODES[number], order: number): string =>
  code === "huffman" ? `text_huffman_${name}` : `text_entropy_${name}_order_${order}`;

const CODES = ["arithmetic", "huffman"] as const;
/** The latest codes by `payload_format`; that of a large corpus takes tens of megabytes. */
const latest = new Map<string, Code>(), MOST = 4;

/** The code of a payload. @throws SvcError `boundary_value_invalid` for a format that the corpus does not have */
function codeOf(format: Value | undefined, corpus: Corpus): Code {
  const make = typeof format === "string" ? codesOf(corpus).get(format) : undefined;
  if (typeof format !== "string" || make === undefined) {
    throw new SvcError(
      "boundary_value_invalid",
      `Cannot decode a payload of the format ${JSON.stringify(format ?? null)}`,
      {
        hint: "Decode payload bits of model.text_entropy_encode with its corpus, over a link that keeps their metadata",
      },
    );
  }
  if (!latest.has(format) && latest.size >= MOST) latest.delete(latest.keys().next().value!);
  return latest.getOrInsertComputed(format, make);
}

function arithmeticOf(texts: readonly string[], order: number): Code {
  const model = new TextModel(texts, order);
  return { encode: (text) => model.encode(text), decode: (message) => model.decode(message, TEXT_BYTES) };
}

/** Single bytes and the end by their frequencies, each counted once more than it stands in the corpus. */
function huffmanOf(texts: readonly string[]): Code {
  const counts = Array<number>(SYMBOLS).fill(1), utf8 = new TextEncoder();
  for (const text of texts) for (const symbol of [...utf8.encode(text), END]) counts[symbol]++;
  const code = new HuffmanCode(counts);
  return {
    encode(text) {
      const bits = code.encode([...utf8.encode(text), END]);
      const whole = new Uint8Array(8 * Math.ceil(bits.length / 8));
      whole.set(bits);
      return packBits(whole);
    },
    decode: (message) => Uint8Array.from(code.decode(unpackBits(message), END)),
  };
}

/**
 * Texts as payload bits by arithmetic coding of their UTF-8 bytes with a context model of a corpus that both ends have:
 * English prose, or the texts of the input `corpus`. `code: huffman` is the Huffman code of single bytes in its place. Each
 * text is one source item of whole bytes, so that a lost packet or block loses only its text. The ids go into the trusted
 * metadata, the texts do not. Any text can be sent; a text unlike the corpus takes more bits than UTF-8.
 *
 * Model and codes: text_model.ts, range_coder.ts and huffman.ts of lib/numeric/coding.
 */
const textEntropyEncode = defineOperation({
  id: "model.text_entropy_encode",
  name: "Text to arithmetic-coded bits",
  description: "Codes each text with a context model of English, or of a corpus, and emits payload bits",
  inputs: { texts: [TEXTS] },
  optionalInputs: { corpus: [TEXTS] },
  outputs: { bits: PAYLOAD_BITS },
  params: z.strictObject({
    code: z.enum(CODES).default("arithmetic").describe("arithmetic code by context, or Huffman code of single bytes"),
    order: z.int().min(0).max(6).default(3).meta({ "x-svc-used-when": { code: "arithmetic" } })
      .describe("number of bytes that the probability of the next byte depends on"),
  }),
  outputMetadataGuarantees: {
    bits: {
      from: "texts",
      keys: ["boundary_contract", "bit_count", "text_ids", "payload_format", "source_item_counts"],
    },
  },
  timingMetric: "encoder.payload_encode",
  run({ inputs, params }) {
    const texts = textsOf(inputs.texts), corpus = corpusOf(inputs.corpus);
    const format = formatOf(corpus.name, params.code, params.order), code = codeOf(format, corpus);
    const utf8 = texts.map(({ text }) => new TextEncoder().encode(text).length);
    const long = utf8.findIndex((length) => length > TEXT_BYTES);
    if (long >= 0) {
      throw new SvcError("boundary_value_invalid", `Cannot code the text ${texts[long].id} of ${utf8[long]} bytes`, {
        hint: `Split it into texts of at most ${TEXT_BYTES} bytes`,
      });
    }
    const messages = texts.map(({ text }) => code.encode(text));
    const bytes = Uint8Array.from(messages.flatMap((message) => [...message])), bits = unpackBits(bytes);
    const metadata = travel(inputs.texts.metadata, {
      payload_format: format,
      text_ids: texts.map(({ id }) => id),
      source_item_counts: messages.map((message) => 8 * message.length),
    });
    return {
      outputs: { bits: bitsArtifact(bits, metadata, "payload.bits") },
      metrics: {
        "codec.bit_count": BigInt(bits.length),
        "codec.bytes": BigInt(bytes.length),
        "codec.native_bit_count": BigInt(8 * utf8.reduce((sum, length) => sum + length, 0)),
      },
    };
  },
});

/**
 * Payload bits of `model.text_entropy_encode` back to texts, with the same corpus. Ids and code come from the trusted metadata. Texts that the link
 * lost are empty; a damaged message without a checksum gives a wrong text, or none that ends, which is lost as well.
 */
const textEntropyDecode = defineOperation({
  id: "model.text_entropy_decode",
  name: "Arithmetic-coded bits to text",
  description: "Decodes texts with the context model or the Huffman code of the encoder",
  inputs: { bits: PAYLOAD_OR_BITS },
  optionalInputs: { corpus: [TEXTS] },
  outputs: { texts: TEXTS },
  params: z.strictObject({
    on_error: z.enum(["replace", "fail"]).default("replace")
      .describe("replace: empty texts for lost items, U+FFFD for bad bytes; fail: refuse the payload"),
  }),
  outputMetadataGuarantees: { texts: { from: "bits", keys: ["text_ids", "delivered", "failed_item_indices"] } },
  timingMetric: "decoder.payload_decode",
  run({ inputs, params }) {
    const { metadata } = inputs.bits, strict = params.on_error === "fail";
    const ids = trustedIds(metadata, "text_ids");
    if (ids === undefined) throw new SvcError("boundary_value_invalid", "Cannot decode texts without their ids");
    const code = codeOf(metadata.payload_format, corpusOf(inputs.corpus));
    const texts = payloadItems(bitsOf(inputs.bits), metadata, ids.length).map((message) =>
      message === undefined ? undefined : code.decode(message)
    );
    const lost = texts.flatMap((text, index) => text === undefined ? [index] : []);
    if (strict && lost.length > 0) throw unreadable(`the link lost the text ${ids[lost[0]]}`);
    const items = texts.map((text, index) => ({
      id: ids[index],
      text: text === undefined ? "" : decodeUtf8(text, strict),
    }));
    const delivery = {
      text_ids: ids,
      delivered: texts.map((text) => text !== undefined),
      failed_item_indices: lost,
    };
    const kept = travel(metadata, delivery, ["source_item_counts", "item_bit_counts"]);
    return { outputs: { texts: textsArtifact(items, kept) } };
  },
});

export default [textEntropyEncode, textEntropyDecode];
