/** The only import of the schema library. */
export { z } from "npm:zod@^4.6.7";
