/** Payload no-op encoder: forwards payload bits unchanged on the transmit side. */
import { PAYLOAD_OR_BITS } from "../../lib/contract/kinds.ts";
import { passthrough } from "./_identity.ts";

export default passthrough(
  "channel.payload_passthrough_encoder",
  "Payload no-op encoder",
  "Forwards payload bits unchanged on the transmit side",
  PAYLOAD_OR_BITS,
);
