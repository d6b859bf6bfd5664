/** What the conformance suite runs every operation with. An operation without an entry fails it; a skip says why. */
import { crc32 } from "node:zlib";
import { sha256Hex } from "../../lib/contract/hash.ts";
import { canonicalJson } from "../../lib/contract/json.ts";
import type { FileAccess } from "../../lib/contract/operation.ts";
import type { JsonObject, Value } from "../../lib/contract/value.ts";
import { packBits, unpackBits } from "../../lib/numeric/bit_packing.ts";
import type { GivenInput, Model } from "./harness.ts";
import { arrayInput, bitsInput, payloadInput, someBits, symbolsInput } from "./inputs.ts";
import { ALLOCATION_FIXTURES } from "./allocation_fixtures.ts";
import { AOA_FIXTURES } from "./aoa_fixtures.ts";
import { CHANNEL_ESTIMATION_FIXTURES } from "./channel_estimation_fixtures.ts";
import { CSI_FEEDBACK_FIXTURES } from "./csi_feedback_fixtures.ts";
import { DEEPJSCC_FIXTURES } from "./deepjscc_fixtures.ts";
import { ISAC_FIXTURES } from "./isac_fixtures.ts";
import { JPEG_FIXTURES } from "./jpeg_fixtures.ts";
import { LEO_FIXTURES } from "./leo_fixtures.ts";
import { LOCALIZATION_FIXTURES } from "./localization_fixtures.ts";
import { MEANING_FIXTURES } from "./meaning_fixtures.ts";
import { MEDIA_FIXTURES } from "./media_fixtures.ts";
import { NEAR_FIELD_FIXTURES } from "./near_field_fixtures.ts";
import { MODULATION_FIXTURES } from "./modulation_fixtures.ts";
import { NR_LDPC_FIXTURES } from "./nr_ldpc_fixtures.ts";
import { PHYSICAL_FIXTURES } from "./physical_fixtures.ts";
import { POWER_FIXTURES } from "./power_fixtures.ts";
  ...SEMANTIC_FIXTURES,
