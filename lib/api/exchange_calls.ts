/** Push and pull of the items of a noun between the state directory and an object store. */
import type { ExchangeOptions, Group } from "../exchange/exchange.ts";
import { z } from "../contract/zod.ts";
import { call, camelKeys } from "./call.ts";
import { flag, text } from "./fields.ts";

const STORE = {
  endpoint: text("address of the store (default: $AWS_ENDPOINT_URL, or AWS)", "url"),
  allow_http: flag("accept an endpoint without TLS on another machine"),
  dry_run: flag("report what would be transferred, and change nothing"),
};
const IDS = { store: z.string(), ids: z.array(z.string()).default([]) };
/** How items are sent. */
export const PUSH = {
  ...STORE,
  replace: flag("replace an item of the same name with other contents"),
  check: flag("compare the bytes of items that the store already has"),
  repair: flag("check, and send missing and damaged objects again"),
};
export const PUSH_EXITS = "exit 6 when it has another or a damaged one of a name";
/** What an exchange takes besides its fields. */
export type Transfer = Omit<ExchangeOptions, "endpoint" | "allowHttp" | "dryRun">;

/** @param what the items, for the summaries */
export const pushCall = (group: Group, what: string) =>
  call(`Send ${what} to an S3-compatible object store; all without ids`, {
    fields: { ...IDS, ...PUSH },
    args: ["store", "ids"],
    cli: { usage: "<store> [ids...]", exits: PUSH_EXITS },
    run: async ({ workspace }, { store, ids, ...fields }, means: Transfer) =>
      await (await import("../exchange/exchange.ts")).push(workspace, group, store, ids, {
        ...camelKeys(fields),
        ...means,
      }),
  });

/** @param what the items, for the summaries */
export const pullCall = (group: Group, what: string) =>
  call(`Receive ${what} from an S3-compatible object store, verified before they appear`, {
    fields: { ...IDS, ...STORE },
    args: ["store", "ids"],
    cli: { usage: "<store> [ids...]", exits: "exit 6 when one differs or is damaged" },
    run: async ({ workspace }, { store, ids, ...fields }, means: Transfer) =>
      await (await import("../exchange/exchange.ts")).pull(workspace, group, store, ids, {
        ...camelKeys(fields),
        ...means,
      }),
  });
