/** Templates: recipes to start from. */
import { templates } from "../../api/calls/templates.ts";
import { routesOf } from "../call_routes.ts";

export const templateRoutes = routesOf("templates", templates);
