/** The kind of importance maps, float32 [image, height, width], at least 0. */
import { artifactKind } from "../lib/contract/kinds.ts";

export const IMPORTANCE_MAP = "semantic.importance_map.numpy";
export const NAMED_IMPORTANCE_MAP = artifactKind(IMPORTANCE_MAP, { importance_method: "text" });
