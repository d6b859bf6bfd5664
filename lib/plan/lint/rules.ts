/** All lint rules, in the order of a report, and those that a run makes. */
import { DIRECTION_RULES } from "./direction_rules.ts";
import { FILE_RULES } from "./file_rules.ts";
import { FLOW_RULES } from "./flow_rules.ts";
import { LINK_RULES } from "./link_rules.ts";
import { POWER_RULES } from "./power_rules.ts";
import { RUNTIME_RULES } from "./runtime_rules.ts";
import { SIDE_CHANNEL_RULES } from "./side_channel_rules.ts";
import { STREAM_RULES } from "./stream_rules.ts";
import { TEXT_RULES } from "./text_rules.ts";
import { VALUE_RULES } from "./value_rules.ts";
import type { Rule } from "./view.ts";
import { WIRING_RULES } from "./wiring.ts";

export const RULES: readonly Rule[] = [
  ...WIRING_RULES,
  ...POWER_RULES,
  ...RUNTIME_RULES,
  ...STREAM_RULES,
  ...LINK_RULES,
  ...TEXT_RULES,
  ...DIRECTION_RULES,
  ...SIDE_CHANNEL_RULES,
  ...VALUE_RULES,
  ...FLOW_RULES,
  ...FILE_RULES,
];

/** The lint of links: mistakes that would give a number without meaning. */
export const LINK_CHECKS: readonly Rule[] = [
  ...POWER_RULES,
  ...STREAM_RULES,
  ...LINK_RULES,
  ...TEXT_RULES,
  ...SIDE_CHANNEL_RULES,
  ...VALUE_RULES,
];
