/** Link resource accounting that knows which items arrived. See _accounting.ts. */
import { BITS, CODED_BITS, PAYLOAD_OR_BITS, SYMBOLS } from "../../lib/contract/kinds.ts";
import { defineReport } from "../_report.ts";
import { accountForLink, ACCOUNTING_PARAMS } from "./_accounting.ts";

export default defineReport({
  id: "channel.communication_resource_accounting.v3",
  name: "Link resource accounting with delivery",
  description:
    "Reports the resources of a link as version 1; payload of a channel use is that of the items that arrived",
  inputs: {
    payload_bits: PAYLOAD_OR_BITS,
    framed_bits: PAYLOAD_OR_BITS,
    coded_bits: [CODED_BITS, BITS],
    symbols: [SYMBOLS],
    delivered_bits: PAYLOAD_OR_BITS,
  },
  inputMetadataRequirements: { delivered_bits: { all_of: ["failed_item_indices"] } },
  params: ACCOUNTING_PARAMS,
  run: ({ inputs, params }) => accountForLink(inputs, params),
});
