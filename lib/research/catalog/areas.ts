/** Research areas, in display order. */
import type { AreaEntry } from "./types.ts";

export const AREAS: readonly AreaEntry[] = [
  { id: "physical_layer_resource_optimization", name: "Physical layer and resource optimisation", order: 10 },
  { id: "channel_estimation_feedback", name: "Channel estimation and feedback", order: 20 },
  { id: "antennas_positioning_sensing", name: "Antennas, positioning and sensing", order: 30 },
  { id: "semantic_goal_oriented_communication", name: "Semantic and goal-oriented communication", order: 40 },
];
