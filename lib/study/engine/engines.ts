/** The engines by their names. */
import type { Engine, EngineName } from "./types.ts";

export async function engineOf(name: EngineName): Promise<Engine> {
  return name === "slurm" ? (await import("./slurm.ts")).slurm : (await import("./parallel.ts")).parallel;
}
