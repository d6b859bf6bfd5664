/**
 * Link resource accounting: payload, framed and coded bits, symbols and overheads in one report.
 *
 * Bits: payload + framing = framed; framed + forward error correction = coded; coded + modulation padding =
 * transmitted. Symbols: pilot + header + data + grid padding = channel uses. The effective payload of a channel use counts the
 * items that arrived, by the receiver's bits in version 3. All counts are exact integers; if metadata
 * contain the codec's own bits, native codec bits + wire overhead = payload as well.
 */
import { type InputArtifact, type JsonObject, type Metrics, SvcError, z } from "../api.ts";
import { checkAccounting, type LinkAccounts } from "../../lib/artifact/accounting.ts";
import { defineReport, type Report } from "../_report.ts";
import { trustedShape } from "../../lib/artifact/image_payload.ts";
import { bitsOf, metadataCounts, metadataNumber, pixelsOf, symbolsOf } from "../../lib/artifact/values.ts";
import { BITS, CODED_BITS, FRAMED_BITS, PAYLOAD_BITS, PAYLOAD_OR_BITS, SYMBOLS } from "../../lib/contract/kinds.ts";

const ACCOUNTING_PARAMS = z.strictObject({
  pilot_symbol_count: z.int().nonnegative().default(0).describe("pilot symbols besides the data symbols"),
  physical_header_symbol_count: z.int().nonnegative().default(0).describe("header symbols besides the data symbols"),
  total_channel_use_count: z.int().nonnegative().default(0)
    .describe("channel uses of the whole grid, padding included; 0 counts pilots, header and data"),
});

interface LinkInputs {
  payload_bits: InputArtifact;
  framed_bits: InputArtifact;
  coded_bits: InputArtifact;
  symbols: InputArtifact;
  delivered_bits?: InputArtifact;
}

/** Reports the counts of a link. @throws SvcError `boundary_accounting_mismatch` for inconsistent counts */
function accountForLink(inputs: LinkInputs, params: z.output<typeof ACCOUNTING_PARAMS>): Report {
  const { metadata } = inputs.symbols;
  const payload = bitsOf(inputs.payload_bits).length;
  const framed = bitsOf(inputs.framed_bits).length;
  const coded = bitsOf(inputs.coded_bits).length;
  const data = symbolsOf(inputs.symbols).length / 2;
  const padding = metadataNumber(metadata, "modulation_padding_bits") ?? 0;
  const transmitted = coded + padding;
  const pilot = params.pilot_symbol_count, header = params.physical_header_symbol_count;
  const occupied = pilot + header + data;
  const uses = params.total_channel_use_count === 0 ? occupied : params.total_channel_use_count;
  const native = metadataNumber(inputs.payload_bits.metadata, "native_codec_bit_count");

  mustNotShrink("framing", payload, framed, "bits");
  mustNotShrink("channel coding", framed, coded, "bits");
  mustNotShrink("the resource grid", occupied, uses, "symbols");
  const perSymbol = metadataNumber(metadata, "bits_per_symbol");
  if (perSymbol !== undefined && perSymbol * data !== transmitted) {
    throw new SvcError(
      "boundary_accounting_mismatch",
      `Cannot carry ${transmitted} transmitted bits in ${data} symbols of ${perSymbol} bits`,
      { hint: "coded_bits must be the input of the modulator of these symbols" },
    );
  }
  const accounts: LinkAccounts = {
    ...(native === undefined ? {} : { native_codec_bits: native, wire_overhead_bits: payload - native }),
    payload_bits: payload,
    framing_bits: framed - payload,
    framed_bits: framed,
    fec_bits: coded - framed,
    coded_bits: coded,
    modulation_padding_bits: padding,
    transmitted_bits: transmitted,
    pilot_symbols: pilot,
    header_symbols: header,
    data_symbols: data,
    grid_padding_symbols: uses - occupied,
    channel_uses: uses,
  };
  checkAccounting(accounts);
  const delivered = deliveredBits(payload, inputs), pixels = pixelCount(inputs.payload_bits.metadata);
  const metrics: Metrics = {
    "channel.payload_bit_count": BigInt(payload),
    "channel.transmitted_bit_count": BigInt(transmitted),
    "channel.channel_use_count": BigInt(uses),
    ...ratio("channel.code_rate", framed, coded),
    ...ratio("channel.bits_per_symbol", transmitted, data),
    ...ratio("channel.pilot_overhead_fraction", pilot, uses),
    ...ratio("channel.effective_payload_bits_per_channel_use", delivered, uses),
    ...(pixels === undefined ? {} : {
      ...ratio("channel.uses_per_pixel", uses, pixels),
      ...ratio("rate.framed_bpp", framed, pixels),
      ...ratio("rate.coded_bpp", coded, pixels),
      ...ratio("rate.padded_bpp", transmitted, pixels),
    }),
  };
  const known: JsonObject = inputs.delivered_bits === undefined ? {} : { delivered_payload_bits: delivered };
  return { metrics, facts: { accounting: { ...accounts, ...known } } };
}

/** Payload bits of the items that arrived; of all items where no receiver is connected. */
function deliveredBits(payload: number, { payload_bits, delivered_bits }: LinkInputs): number {
  if (delivered_bits === undefined) return payload;
  const failed = metadataCounts(delivered_bits.metadata, "failed_item_indices");
  if (failed === undefined) {
    throw new SvcError(
      "input_metadata_missing",
      "Cannot account for the delivered payload: no failed items are listed",
      { hint: "Connect delivered_bits to channel.crc32_check, or use version 1 of this operation" },
    );
  }
  const counts = metadataCounts(payload_bits.metadata, "source_item_counts") ?? [payload];
  if (counts.reduce((sum, bits) => sum + bits, 0) !== payload || failed.some((item) => item >= counts.length)) {
    throw new SvcError(
      "boundary_accounting_mismatch",
      "Cannot account for the delivered payload: its items are not those of payload_bits",
      { hint: "delivered_bits must be what the receiver made of the same payload" },
    );
  }
  return failed.reduce((sum, item) => sum - counts[item], payload);
}

function mustNotShrink(stage: string, before: number, after: number, unit: string): void {
  if (after >= before) return;
  throw new SvcError("boundary_accounting_mismatch", `Cannot account for ${stage}: ${before} ${unit} became ${after}`);
}

/** Pixels of all images in the payload; rates up to the payload are those of the codec. */
function pixelCount(metadata: JsonObject): number | undefined {
  // Other payloads of images, such as those of adapters, may state no channels.
  const shape = trustedShape({ image_channels: 1, ...metadata });
  return shape === undefined ? undefined : pixelsOf(shape);
}

/** Omits a rate whose denominator is zero. */
function ratio(id: string, numerator: number, denominator: number): Metrics {
  return denominator === 0 ? {} : { [id]: numerator / denominator };
}

const LINK = {
  payload_bits: PAYLOAD_OR_BITS,
  framed_bits: PAYLOAD_OR_BITS,
  coded_bits: [CODED_BITS, BITS],
  symbols: [SYMBOLS],
};

export default [
  defineReport({
    id: "channel.communication_resource_accounting",
    name: "Link resource accounting",
    description: "Reports payload, framed and coded bits, symbols and overheads of a link",
    inputs: LINK,
    params: ACCOUNTING_PARAMS,
    run: ({ inputs, params }) => accountForLink(inputs, params),
  }),
  // Each input accepts a single kind.
  defineReport({
    id: "channel.communication_resource_accounting.v2",
    name: "Link resource accounting, strict",
    description: "Reports the resources of a link as version 1, with a separate kind for framed bits",
    inputs: { payload_bits: [PAYLOAD_BITS], framed_bits: [FRAMED_BITS], coded_bits: [CODED_BITS], symbols: [SYMBOLS] },
    params: ACCOUNTING_PARAMS,
    run: ({ inputs, params }) => accountForLink(inputs, params),
  }),
  // Knows which items arrived.
  defineReport({
    id: "channel.communication_resource_accounting.v3",
    name: "Link resource accounting with delivery",
    description:
      "Reports the resources of a link as version 1; payload of a channel use is that of the items that arrived",
    inputs: { ...LINK, delivered_bits: PAYLOAD_OR_BITS },
    inputMetadataRequirements: { delivered_bits: { all_of: ["failed_item_indices"] } },
    params: ACCOUNTING_PARAMS,
    run: ({ inputs, params }) => accountForLink(inputs, params),
  }),
];
