/** Shapes of documents that calls and routes reply with. Replies are open: a later version may add members. */
import { z } from "../contract/zod.ts";

/** Any JSON object, its numbers typed. */
export const OBJECT = z.record(z.string(), z.unknown());

/** A value of the library in a field: `T` is its type for callers. */
export const valueOf = <T>(description: string): z.ZodType<T, T> =>
  z.unknown().describe(description) as unknown as z.ZodType<T, T>;

/** A document of the library: `T` is its type for clients, `shape` is what the description publishes of it. */
export const documentOf = <T>(shape: z.ZodType = OBJECT): z.ZodType<T> => shape as z.ZodType<T>;
