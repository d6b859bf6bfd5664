/** The tasks of helper threads, by name. */
import { INTEGERS_DRAWN } from "./draw_chunks.ts";
import type { Task } from "./job.ts";
import { DEMODULATED, MODULATED } from "./modulation.ts";
import { NORMALS_DRAWN } from "./normal_segments.ts";
import { CODE_BLOCKS_DECODED } from "./nr_ldpc.ts";

const ALL: Task[] = [CODE_BLOCKS_DECODED, DEMODULATED, INTEGERS_DRAWN, MODULATED, NORMALS_DRAWN];

export const TASKS: ReadonlyMap<string, Task> = new Map(ALL.map((task) => [task.name, task]));
