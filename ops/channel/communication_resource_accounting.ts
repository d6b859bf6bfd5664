/** Link resource accounting: payload, framed and coded bits, symbols and overheads in one report. See _accounting.ts. */
import { BITS, CODED_BITS, PAYLOAD_OR_BITS, SYMBOLS } from "../../lib/contract/kinds.ts";
import { defineReport } from "../_report.ts";
import { accountForLink, ACCOUNTING_PARAMS } from "./_accounting.ts";

export default defineReport({
  id: "channel.communication_resource_accounting",
  name: "Link resource accounting",
  description: "Reports payload, framed and coded bits, symbols and overheads of a link",
  inputs: {
    payload_bits: PAYLOAD_OR_BITS,
    framed_bits: PAYLOAD_OR_BITS,
    coded_bits: [CODED_BITS, BITS],
    symbols: [SYMBOLS],
  },
  params: ACCOUNTING_PARAMS,
  run: ({ inputs, params }) => accountForLink(inputs, params),
});
