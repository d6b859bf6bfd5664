/** Link resource accounting in which each input accepts a single kind. See _accounting.ts. */
import { CODED_BITS, FRAMED_BITS, PAYLOAD_BITS, REPORT, SYMBOLS } from "../../lib/contract/kinds.ts";
import { defineOperation } from "../../lib/contract/define.ts";
import { accountForLink, ACCOUNTING_PARAMS } from "./_accounting.ts";

const ID = "channel.communication_resource_accounting.v2";

export default defineOperation({
  id: ID,
  name: "Link resource accounting, strict",
  description: "Reports the resources of a link as version 1, with a separate kind for framed bits",
  inputs: {
    payload_bits: [PAYLOAD_BITS],
    framed_bits: [FRAMED_BITS],
    coded_bits: [CODED_BITS],
    symbols: [SYMBOLS],
  },
  outputs: { report: REPORT },
  params: ACCOUNTING_PARAMS,
  threadSafe: true,
  run: ({ inputs, params }) => accountForLink(ID, inputs, params),
});
