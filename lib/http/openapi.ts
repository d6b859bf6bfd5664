/** Generates OpenAPI 3.1 from the route declarations. */
import type { JsonObject } from "../contract/value.ts";
import { schemaOf } from "./answer.ts";
import type { ReplyDescription, Route } from "./route.ts";
import { PROBLEM } from "./schemas.ts";

const PROBLEM_REFERENCE = { $ref: "#/components/schemas/Problem" };

/** The description of a set of routes. */
export function openApi(routes: readonly Route[], options: { version: string; tokenNeeded: boolean }): JsonObject {
  const paths: JsonObject = {};
  for (const route of routes) {
    const path = route.path.replaceAll(/:(\w+)/g, "{$1}");
    paths[path] = { ...paths[path] as JsonObject | undefined ?? {}, [route.method]: operation(route) };
  }
  return {
    openapi: "3.1.0",
    info: {
      title: "svc",
      version: options.version,
      description:
        "Experiments for communication and semantic-communication research. JSON numbers keep their type: 1 and 1.0 are two values.",
      license: { name: "Apache-2.0", identifier: "Apache-2.0" },
    },
    paths,
    components: {
      schemas: { Problem: openSchema(schemaOf(PROBLEM)) },
      ...(options.tokenNeeded ? { securitySchemes: { token: { type: "http", scheme: "bearer" } } } : {}),
    },
    ...(options.tokenNeeded ? { security: [{ token: [] }] } : {}),
  };
}

function operation(route: Route): JsonObject {
  const parameters = [...pathParameters(route), ...queryParameters(route)];
  const responses: JsonObject = {};
  for (const [status, description] of Object.entries(route.replies)) responses[status] = response(description);
  responses.default = {
    description: "A check before the route refused the request, storage failed (503, 507), or the server did (500)",
    content: { "application/problem+json": { schema: PROBLEM_REFERENCE } },
  };
  return {
    operationId: operationId(route),
    summary: route.summary,
    ...(route.description === undefined ? {} : { description: route.description }),
    tags: [route.path.split("/")[2] ?? "server"],
    ...(parameters.length === 0 ? {} : { parameters }),
    ...(route.method === "post" ? { requestBody: requestBody(route) } : {}),
    responses,
    ...(route.access === "public" ? { security: [] } : {}),
  };
}

/** `get_api_runs_run_id`. */
function operationId({ method, path }: Route): string {
  return `${method}${path.replaceAll(/[^A-Za-z0-9]+/g, "_").replace(/_$/, "")}` || method;
}

function pathParameters({ path }: Route): JsonObject[] {
  return [...path.matchAll(/:(\w+)/g)].map(([, name]) => ({
    name,
    in: "path",
    required: true,
    schema: { type: "string" },
  }));
}

function queryParameters({ query }: Route): JsonObject[] {
  if (query === undefined) return [];
  const { properties = {}, required = [] } = schemaOf(query) as { properties?: JsonObject; required?: string[] };
  return Object.entries(properties as Record<string, JsonObject>).map(([name, { description, ...schema }]) => ({
    name,
    in: "query",
    required: required.includes(name),
    ...(description === undefined ? {} : { description }),
    schema,
  }));
}

function requestBody({ body, upload }: Route): JsonObject {
  if (upload !== undefined) {
    return {
      required: true,
      content: { "application/octet-stream": { schema: { type: "string", format: "binary" } } },
    };
  }
  const schema = body === undefined ? { type: "object", additionalProperties: false } : schemaOf(body);
  const required = Array.isArray(schema.required) && schema.required.length > 0;
  return { required, content: { "application/json": { schema } } };
}

function response({ description, schema, media }: ReplyDescription): JsonObject {
  if (schema === undefined && media === undefined) return { description };
  const body = schema === PROBLEM ? PROBLEM_REFERENCE : schema === undefined ? null : openSchema(schemaOf(schema));
  return { description, content: { [media ?? "application/json"]: body === null ? {} : { schema: body } } };
}

/** A reply may gain members in a later version; nothing of it is closed. */
function openSchema(schema: JsonObject): JsonObject {
  const { additionalProperties: _closed, ...open } = schema;
  return open;
}
