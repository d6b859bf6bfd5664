/** How `push` and `pull` of runs, results, models and datasets are shown. */
import type { pullCall, pushCall } from "../api/exchange_calls.ts";
import type { ExchangeReport } from "../exchange/exchange.ts";
import type { FaceOf } from "./call_commands.ts";
import { fetchProgress } from "./fetch_progress.ts";
import { EXIT } from "./problem.ts";
import { formatBytes, formatTable, right } from "./table.ts";

const UNEQUAL: ReadonlySet<string> = new Set(["differs", "damaged", "damaged_here"]);

const FACE = {
  notes: "Credentials come from AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and AWS_SESSION_TOKEN, the region from " +
    "AWS_REGION.\nAn interrupted transfer continues: bytes that have arrived are not sent again.",
  cancellable: true,
  show: (report: ExchangeReport) => reportTable(report),
  exit: ({ items }: ExchangeReport) => items.some(({ status }) => UNEQUAL.has(status)) ? EXIT.differs : EXIT.ok,
};

/**
 * The faces of the two calls of a group.
 * @param group first word of the commands
 * @param example id of an item
 */
export const exchangeFaces = (
  group: string,
  example: string,
): { push: FaceOf<ReturnType<typeof pushCall>>; pull: FaceOf<ReturnType<typeof pullCall>> } => ({
  push: {
    ...FACE,
    examples: ["", ` ${example}`, " --repair"].map((words) => `svc ${group} push s3://lab/study${words}`),
    means: ({ context, options: { check, repair } }) => (
      { onProgress: fetchProgress(context, check || repair ? "checking" : "sending") }
    ),
  },
  pull: {
    ...FACE,
    examples: ["--dry-run", example].map((words) => `svc ${group} pull s3://lab/study ${words}`),
    means: ({ context }) => ({ onProgress: fetchProgress(context, "receiving") }),
  },
});

function reportTable({ store, items, moved_bytes }: ExchangeReport): string {
  const rows = items.map(({ id, status, files, size_bytes }) => ({
    name: id,
    status: status.replaceAll("_", " "),
    files: files || "",
    size: files === 0 ? "" : formatBytes(size_bytes),
  }));
  const table = rows.length === 0 ? "" : formatTable(rows, ["name", "status", right("files"), right("size")]);
  const problems = items.flatMap(({ id, problem }) => problem === undefined ? [] : `${id}: ${problem}\n`).join("");
  return `${table}${problems}${store}: ${rows.length === 1 ? "1 item" : `${rows.length} items`}, ` +
    `${formatBytes(moved_bytes)} over the network`;
}
