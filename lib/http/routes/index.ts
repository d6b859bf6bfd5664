/** All routes. The order matters where a literal part and a parameter compete: the literal one comes first. */
import { research } from "../../api/calls/research.ts";
import { system } from "../../api/calls/system.ts";
import { templates } from "../../api/calls/templates.ts";
import { validation } from "../../api/calls/validation.ts";
import { SvcError } from "../../contract/error.ts";
import { routesOf } from "../call_routes.ts";
import { nameOf, type Route } from "../route.ts";
import { artifactRoutes } from "./artifacts.ts";
import { benchmarkRoutes } from "./benchmarks.ts";
import { dataRoutes } from "./data.ts";
import { figureRoutes } from "./figures.ts";
import { jobRoutes } from "./jobs.ts";
import { modelRoutes } from "./models.ts";
import { pageRoutes } from "./page.ts";
import { recipeRoutes } from "./recipes.ts";
import { runRoutes } from "./runs.ts";
import { systemRoutes } from "./system.ts";
import { trainingRoutes } from "./training.ts";

/** The routes with their types, for the client. */
export const TYPED_ROUTES = [
  ...pageRoutes,
  ...systemRoutes,
  ...routesOf("system", system),
  ...routesOf("research", research),
  ...routesOf("validation", validation),
  ...dataRoutes,
  ...routesOf("templates", templates),
  ...recipeRoutes,
  ...jobRoutes,
  ...runRoutes,
  ...artifactRoutes,
  ...benchmarkRoutes,
  ...figureRoutes,
  ...modelRoutes,
  ...trainingRoutes,
] as const;

export const ROUTES: readonly Route[] = TYPED_ROUTES as readonly Route[];

const BY_NAME = new Map(ROUTES.map((route) => [nameOf(route), route]));

/** The route of a name as `nameOf` writes it. */
export function routeNamed(name: string): Route {
  const route = BY_NAME.get(name);
  if (route === undefined) throw new SvcError("not_found", `Cannot find the route ${name}`);
  return route;
}
