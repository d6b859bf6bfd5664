/**
 * Suites: families of benchmark protocols. A suite has tasks, and packs that belong to it; the research catalogue
 * states which of its tasks can be run.
 */
import { SvcError } from "../contract/error.ts";
import { didYouMean } from "../contract/nearest.ts";
import type { JsonObject } from "../contract/value.ts";
import { findTask } from "../research/catalog.ts";
import { listBenchmarkPacks } from "./packs.ts";

/** A suite with its tasks and packs. */
export interface Suite extends JsonObject {
  id: string;
  name: string;
  status: "active" | "experimental";
  version: string;
  summary: string;
  /** Document of its protocol. */
  docs: string;
  /** Tasks that can be run, and tasks that are only planned in the catalogue. */
  supported_tasks: string[];
  planned_tasks: string[];
  /** `{id, path, status, task}`; the path is relative to `benchmarks/`. */
  benchmark_packs: JsonObject[];
}

interface SuiteEntry {
  id: string;
  name: string;
  status: Suite["status"];
  summary: string;
  tasks: string[];
}

const SUITES: readonly SuiteEntry[] = [
  {
    id: "semantic_comm",
    name: "Semantic communication",
    status: "active",
    summary: "Images, texts and answers over links that are scored by what arrives of their meaning",
    tasks: [
      "image_reconstruction",
      "text_semantic_similarity",
      "visual_question_answering",
      "object_detection",
      "segmentation",
      "image_text_retrieval",
      "image_generation",
      "classification",
    ],
  },
  {
    id: "neural_receiver",
    name: "Neural receiver",
    status: "experimental",
    summary: "Receivers and demappers, learned and classical, against the closed forms",
    tasks: ["neural_receiver_demapping", "automatic_modulation_recognition", "bit_transport"],
  },
  {
    id: "mimo_ofdm",
    name: "MIMO-OFDM",
    status: "experimental",
    summary: "Estimation and feedback over multi-carrier channels of several antennas",
    tasks: ["mimo_ofdm_channel_estimation", "csi_compression_feedback"],
  },
  {
    id: "channel_estimation",
    name: "Channel estimation",
    status: "experimental",
    summary: "Estimators from pilots, scored by their error and by the link behind them",
    tasks: ["pilot_channel_estimation", "mimo_ofdm_channel_estimation"],
  },
  {
    id: "beamforming_precoding",
    name: "Beamforming and precoding",
    status: "experimental",
    summary: "Beams and precoders, scored by the rate they reach",
    tasks: ["beamforming_precoding"],
  },
  {
    id: "localization_sensing",
    name: "Localisation and sensing",
    status: "experimental",
    summary: "Positions and angles from what antennas receive",
    tasks: ["wireless_localization", "aoa_estimation"],
  },
  {
    id: "resource_allocation",
    name: "Resource allocation",
    status: "experimental",
    summary: "Power and rate under perfect, delayed and learned channel state",
    tasks: ["resource_allocation"],
  },
  {
    id: "isac_near_field_ntn",
    name: "Joint sensing, near field and satellites",
    status: "experimental",
    summary: "Joint communication and sensing, focusing in the near field, beams of low orbits",
    tasks: ["joint_isac_resource_allocation", "near_field_range_angle_focusing", "leo_ntn_doppler_beam_tracking"],
  },
];

/**
 * The suites with their packs.
 * @param projectRoot absolute path; its packs come first
 */
export function listSuites(projectRoot: string): Suite[] {
  const packs = listBenchmarkPacks(projectRoot);
  return SUITES.map(({ tasks, ...suite }): Suite => {
    const planned = tasks.filter((id) => (findTask(id)?.status ?? "planned") === "planned");
    return {
      ...suite,
      version: "1",
      docs: "README.md",
      supported_tasks: tasks.filter((id) => !planned.includes(id)),
      planned_tasks: planned,
      benchmark_packs: packs.filter((pack) => pack.suite === suite.id).map((pack) => ({
        id: pack.id,
        path: pack.name,
        status: pack.problem === undefined ? "available" : "invalid",
        task: pack.task,
      })),
    };
  });
}

/** One suite. @throws SvcError `not_found` with the nearest id */
export function findSuite(id: string, projectRoot: string): Suite {
  const suites = listSuites(projectRoot);
  const found = suites.find((suite) => suite.id === id);
  if (found !== undefined) return found;
  throw new SvcError("not_found", `Cannot find a suite named ${id}`, {
    hint: didYouMean(id, suites.map((suite) => suite.id)) ?? `Suites: ${suites.map((suite) => suite.id).join(", ")}`,
  });
}
