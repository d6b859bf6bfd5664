import { endThread } from "../../../lib/contract/end_thread.ts";
import { needs } from "../../support/needs.ts";
import { until } from "../../support/until.ts";
import { workerThreads } from "../../support/worker_threads.ts";

for (const module of ["execute/worker", "http/jobs/worker", "http/threads/worker", "onnx/sandbox"]) {
  Deno.test({
    name: `an idle worker of lib/${module}.ts ends even when the wake of its termination is lost`,
    ...needs("Linux", Deno.build.os === "linux"),
    async fn() {
      const worker = new Worker(new URL(`../../../lib/${module}.ts`, import.meta.url), { type: "module" });
      worker.terminate = () => {};
      endThread(worker);
      await until(`${module} ends`, () => workerThreads() === 0);
    },
  });
}
