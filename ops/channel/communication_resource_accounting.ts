/** Link resource accounting: payload, framed and coded bits, symbols and overheads in one report. See _accounting.ts. */
import { BITS, CODED_BITS, PAYLOAD_OR_BITS, REPORT, SYMBOLS } from "../../lib/contract/kinds.ts";
import { defineOperation } from "../../lib/contract/define.ts";
import { accountForLink, ACCOUNTING_PARAMS } from "./_accounting.ts";

const ID = "channel.communication_resource_accounting";

export default defineOperation({
  id: ID,
  name: "Link resource accounting",
  description: "Reports payload, framed and coded bits, symbols and overheads of a link",
  inputs: {
    payload_bits: PAYLOAD_OR_BITS,
    framed_bits: PAYLOAD_OR_BITS,
    coded_bits: [CODED_BITS, BITS],
    symbols: [SYMBOLS],
  },
  outputs: { report: REPORT },
  params: ACCOUNTING_PARAMS,
  threadSafe: true,
  run: ({ inputs, params }) => accountForLink(ID, inputs, params),
});
