/** The commands `push` and `pull` of runs, results, models and datasets. */
import type { ExchangeOptions, ExchangeReport, PushOptions } from "../exchange/exchange.ts";
import type { RunSelection } from "../run/select.ts";
import type { Session } from "../api/session.ts";
import { command, type CommandSpec, flag, type OptionSpec, text } from "./command.ts";
import { fetchProgress } from "./fetch_progress.ts";
import { EXIT } from "./problem.ts";
import { formatBytes, formatTable, right } from "./table.ts";

const STORE = {
  endpoint: text("--endpoint <url>", "address of the store (default: $AWS_ENDPOINT_URL, or AWS)"),
  allowHttp: flag("--allow-http", "accept an endpoint without TLS on another machine"),
  dryRun: flag("--dry-run", "print what would be transferred, and change nothing"),
};
const NOTES = "Credentials come from AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and AWS_SESSION_TOKEN, the region from " +
  "AWS_REGION.\nAn interrupted transfer continues: bytes that have arrived are not sent again.";

const UNEQUAL: ReadonlySet<string> = new Set(["differs", "damaged", "damaged_here"]);

interface Exchanging {
  push(svc: Session, store: string, selection: RunSelection, options: PushOptions): Promise<ExchangeReport>;
  pull(svc: Session, store: string, ids: readonly string[], options: ExchangeOptions): Promise<ExchangeReport>;
}

/**
 * The two commands of a group.
 * @param group first word of the commands
 * @param what the items, for the help
 * @param example id of an item
 * @param selection options that select runs
 */
export function exchangeCommands(
  group: string,
  what: string,
  example: string,
  { push, pull }: Exchanging,
  selection: Readonly<Record<string, OptionSpec<string | undefined>>> = {},
): CommandSpec[] {
  const moved = (report: ExchangeReport) => ({ schema_version: 1, ...report });
  const exit = ({ items }: ExchangeReport) => items.some(({ status }) => UNEQUAL.has(status)) ? EXIT.differs : EXIT.ok;
  return [
    command({
      usage: `${group} push <store> [ids...]`,
      summary: `send ${what} to an S3-compatible object store; exit 6 when it has another or a damaged one of a name`,
      notes: NOTES,
      options: {
        ...STORE,
        replace: flag("--replace", "replace an item of the same name with other contents"),
        check: flag("--check", "compare the bytes of items that the store already has"),
        repair: flag("--repair", "check, and send missing and damaged objects again"),
        ...selection,
      },
      examples: [
        `svc ${group} push s3://lab/study`,
        `svc ${group} push s3://lab/study ${example}`,
        `svc ${group} push s3://lab/study --repair`,
      ],
      cancellable: true,
      call({ svc, args: [store, ids], options, ...call }) {
        const { endpoint, allowHttp, dryRun, replace, check, repair, ...chosen } = options;
        const { cancellation } = call, onProgress = fetchProgress(call.context, check ? "checking" : "sending");
        const given = { endpoint, allowHttp, dryRun, replace, check: check || repair, repair };
        return push(svc, store, { ids, ...chosen }, { ...given, cancellation, onProgress });
      },
      json: moved,
      show: (report) => reportTable(report),
      exit,
    }),
    command({
      usage: `${group} pull <store> [ids...]`,
      summary:
        `receive ${what} from an S3-compatible object store, verified before they appear; exit 6 when one differs or is damaged`,
      notes: NOTES,
      options: STORE,
      examples: [`svc ${group} pull s3://lab/study --dry-run`, `svc ${group} pull s3://lab/study ${example}`],
      cancellable: true,
      call: ({ svc, args: [store, ids], options, cancellation, context }) =>
        pull(svc, store, ids, { ...options, cancellation, onProgress: fetchProgress(context, "receiving") }),
      json: moved,
      show: (report) => reportTable(report),
      exit,
    }),
  ];
}

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
