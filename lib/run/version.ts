/** The program version from its configuration file. */
import configuration from "../../deno.json" with { type: "json" };

export const version: string = configuration.version;
