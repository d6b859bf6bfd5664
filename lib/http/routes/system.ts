/** The server itself: its health, its description and its counters. By hand: the state of this process. */
import { z } from "../../contract/zod.ts";
import { nativeExtension } from "../../numeric/native/extension.ts";
import { version } from "../../run/version.ts";
import { JOB_STATES } from "../jobs/types.ts";
import { Answer, get } from "../route.ts";
import { OBJECT, reply } from "../schemas.ts";

export const systemRoutes = [
  get("/api/health", "The state of the server, and its limits", {
    access: "public",
    replies: {
      200: reply(
        "It answers",
        z.object({
          status: z.enum(["ok", "degraded", "shutting_down"]),
          reason: z.object({ code: z.string(), message: z.string() }).optional().describe("why it is degraded"),
          version: z.string(),
          workspace: z.string(),
          execution_controls: OBJECT,
          native: OBJECT,
          auth_required: z.boolean(),
          read_only: z.boolean(),
        }),
      ),
    },
    handle({ service: { draining, options, session, storage: { fault } } }) {
      const { available, reason } = nativeExtension();
      return {
        status: draining ? "shutting_down" : fault === null ? "ok" : "degraded",
        ...(fault === null ? {} : { reason: { code: fault.code, message: fault.message } }),
        version,
        workspace: session.workspace.stateDir,
        execution_controls: {
          parallel_workers: { min: 1, max: 32, default: 1 },
          parallel_points: { min: 1, max: 32, default: 1 },
          use_plan_cache: { default: true },
        },
        native: { available, reason },
        auth_required: options.token !== null,
        read_only: options.readOnly,
      };
    },
  }),
  get("/api/openapi.json", "This interface, described in OpenAPI 3.1", {
    constant: true,
    replies: { 200: reply("The description", z.object({ openapi: z.string(), paths: OBJECT })) },
    handle: ({ service }) => service.openApi(),
  }),
  get("/metrics", "Counters for Prometheus", {
    replies: { 200: { description: "The text form", media: "text/plain" } },
    handle({ service: { counters, index, jobs, events } }) {
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
