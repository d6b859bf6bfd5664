/**
 * Inspections of packages whose files have not changed: the artifact of a slot is looked up for every row of a benchmark
 * and for every recipe of a list. Whoever loads a component still checks its digest.
 */
import { type BigIntStats, lstatSync } from "node:fs";
import { isRacy } from "../artifact/file_age.ts";
import { canonicalJson } from "../contract/json.ts";
import type { OperationContract } from "../contract/operation.ts";
import { type InspectedPackage, inspectPackage } from "./inspect.ts";
import type { PackageSource } from "./source.ts";

interface Kept {
  inspected: InspectedPackage;
  contract: OperationContract;
  /** Files of the folder, null where only a manifest was named. */
  members: string;
  /** Identity and time of change of each file that was read, by place. */
  files: ReadonlyMap<string, string>;
}

const kept = new Map<string, Kept>();
const MAX_KEPT = 64;

const lookAt = (place: string) => lstatSync(place, { bigint: true, throwIfNoEntry: false });
const stampOf = (info: BigIntStats | undefined) => info && [info.dev, info.ino, info.size, info.mtimeNs].join();

/**
 * Inspects a package in a folder for one operation, or answers with the last inspection while the same files are there.
 * Only packages that can run are kept.
 */
export function inspectOnce(source: PackageSource, contract: OperationContract, imported: boolean): InspectedPackage {
  const key = canonicalJson([source.placeOf(source.manifestName), source.name, contract.id, imported]);
  const members = canonicalJson([...source.members ?? [null]]), before = kept.get(key);
  if (
    before?.contract === contract && before.members === members &&
    [...before.files].every(([place, stamp]) => stampOf(lookAt(place)) === stamp)
  ) return before.inspected;
  kept.delete(key);
  const started = Date.now();
  const contractOf = (id: string) => id === contract.id ? contract : undefined;
  const inspected = inspectPackage(source, { contractOf, only: contract.id, imported });
  if (inspected.status !== "ready") return inspected;
  const files = new Map<string, string>();
  for (const path of inspected.files.keys()) {
    const place = source.placeOf(path)!, info = lookAt(place), stamp = stampOf(info);
    // A file that changes while it is inspected, or in the same tick of the clock, must be read again.
    if (stamp === undefined || isRacy(Number(info!.mtimeMs), started)) return inspected;
    files.set(place, stamp);
  }
  if (kept.size >= MAX_KEPT) kept.clear();
  kept.set(key, { inspected, contract, members, files });
  return inspected;
}
