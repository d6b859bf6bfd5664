/** The version of the program, as its configuration names it. */
import configuration from "../../deno.json" with { type: "json" };

export const version: string = configuration.version;
