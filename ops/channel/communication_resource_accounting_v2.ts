/** Link resource accounting in which each input accepts a single kind. See _accounting.ts. */
import { CODED_BITS, FRAMED_BITS, PAYLOAD_BITS, SYMBOLS } from "../../lib/contract/kinds.ts";
import { defineReport } from "../_report.ts";
import { accountForLink, ACCOUNTING_PARAMS } from "./_accounting.ts";

export default defineReport({
  id: "channel.communication_resource_accounting.v2",
  name: "Link resource accounting, strict",
  description: "Reports the resources of a link as version 1, with a separate kind for framed bits",
  inputs: {
    payload_bits: [PAYLOAD_BITS],
    framed_bits: [FRAMED_BITS],
    coded_bits: [CODED_BITS],
    symbols: [SYMBOLS],
  },
  params: ACCOUNTING_PARAMS,
  run: ({ inputs, params }) => accountForLink(inputs, params),
});
