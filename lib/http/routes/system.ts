/** The server itself: its health, its description and its counters. */
import { z } from "../../contract/zod.ts";
import { nativeExtension } from "../../numeric/native/extension.ts";
import { diagnose } from "../../run/doctor.ts";
import { version } from "../../run/version.ts";
import { JOB_STATES } from "../jobs/types.ts";
import { openApi } from "../openapi.ts";
import { Answer, json, route, threadRoute } from "../route.ts";
import { OBJECT } from "../schemas.ts";

export const systemRoutes = [
  route({
    method: "get",
    path: "/api/health",
    summary: "Whether the server answers, and what it can do",
    replies: {
      200: {
        description: "It answers",
        schema: z.object({
          status: z.enum(["ok", "shutting_down"]),
          version: z.string(),
          workspace: z.string(),
          execution_controls: OBJECT,
          native: OBJECT,
          auth_required: z.boolean(),
          read_only: z.boolean(),
        }),
      },
    },
    handle({ service }) {
      const { available, reason } = nativeExtension();
      return {
        status: service.draining ? "shutting_down" : "ok",
        version,
        workspace: service.workspace.stateDir,
        execution_controls: {
          parallel_workers: { min: 1, max: 32, default: 1 },
          use_plan_cache: { default: true },
        },
        native: { available, reason },
        auth_required: service.options.token !== null,
        read_only: service.options.readOnly,
      };
    },
  }),
  route({
    method: "get",
    path: "/api/openapi.json",
    summary: "This interface, described in OpenAPI 3.1",
    constant: true,
    replies: { 200: { description: "The description", schema: z.object({ openapi: z.string(), paths: OBJECT }) } },
    handle: async ({ service }) => {
      const { ROUTES } = await import("./index.ts");
      return openApi(ROUTES, { version, tokenNeeded: service.options.token !== null });
    },
  }),
  threadRoute({
    method: "get",
    path: "/api/doctor",
    summary: "What is in order on this machine, and what helps where it is not",
    replies: { 200: { description: "The checks", schema: z.object({ status: z.string(), checks: z.array(OBJECT) }) } },
    handle: async ({ service }) => json(await diagnose(service.workspace)),
  }),
  route({
    method: "get",
    path: "/metrics",
    summary: "Counters for Prometheus",
    replies: { 200: { description: "The text form", media: "text/plain" } },
    handle({ service }) {
      const { counters, index, jobs, events } = service;
      const states = JOB_STATES.map((state): [Record<string, string>, number] => [
        { state },
        jobs.list().filter(({ document }) => document.state === state).length,
      ]);
      const { rss, heapUsed } = Deno.memoryUsage();
      const text = counters.text({
        svc_jobs: { help: "Remembered jobs by state", values: states },
        svc_runs: {
          help: "Runs in the index by status",
          values: Object.entries(index.countByStatus()).map(([status, count]) => [{ status }, count]),
        },
        svc_event_streams: { help: "Event streams that are open", values: [[{}, events.streams]] },
        svc_resident_memory_bytes: { help: "Memory of the process", values: [[{}, rss]] },
        svc_heap_used_bytes: { help: "Heap of the main thread in use", values: [[{}, heapUsed]] },
      });
      return new Answer(text, { headers: { "content-type": "text/plain; version=0.0.4; charset=utf-8" } });
    },
  }),
] as const;
