/** The one place that names the schema library. */
export { z } from "npm:zod@^4.6.7";
