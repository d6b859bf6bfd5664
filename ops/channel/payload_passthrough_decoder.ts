/** Payload no-op decoder: forwards payload bits unchanged on the receive side. */
import { PAYLOAD_OR_BITS } from "../../lib/contract/kinds.ts";
import { passthrough } from "./_identity.ts";

export default passthrough(
  "channel.payload_passthrough_decoder",
  "Payload no-op decoder",
  "Forwards payload bits unchanged on the receive side",
  PAYLOAD_OR_BITS,
);
