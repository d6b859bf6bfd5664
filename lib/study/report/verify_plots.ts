/** Checks the plots of a result: their records name its digest and those of their files. */
import { inside, readFile, readText } from "../../artifact/inside.ts";
import { entriesOf } from "../../artifact/path_kind.ts";
import { messageOf } from "../../contract/error.ts";
import { sha256Hex } from "../../contract/hash.ts";
import { asObject, parseJson } from "../../contract/json.ts";
import { isObject } from "../../contract/value.ts";
import { MAX_DOCUMENT_BYTES } from "../../run/read.ts";
import type { FindingCode, Findings } from "../../run/findings.ts";
import { MAX_RESULT_BYTES, RESULT_FILE } from "../pack/types.ts";

export const FIGURES_FOLDER = "figures";
const RECORD = ".plot.json";

const namesIn = (folder: string): string[] => entriesOf(folder).map(({ name }) => name).sort();

/** Checks every record in the folder of figures; a mismatch is a warning, because plots can be drawn again. */
export function checkPlots(directory: string, findings: Findings): void {
  const folder = inside(directory, FIGURES_FOLDER);
  const records = namesIn(folder).filter((name) => name.endsWith(RECORD));
  if (records.length === 0) return;
  const result = sha256Hex(readFile(inside(directory, RESULT_FILE), MAX_RESULT_BYTES));
  for (const name of records) {
    const path = `${FIGURES_FOLDER}/${name}`;
    const warn = (code: FindingCode, message: string) => findings.add("warning", code, path, "$", message);
    findings.looked();
    try {
      const { result_sha256, files } = asObject(parseJson(readText(inside(folder, name), MAX_DOCUMENT_BYTES)));
      if (result_sha256 !== result) warn("bundle_hash_mismatch", `${name} is of another result.json: plot it again`);
      for (const [file, entry] of Object.entries(isObject(files) ? files : {})) {
        const actual = sha256Hex(readFile(inside(folder, file), MAX_DOCUMENT_BYTES));
        if (!isObject(entry) || entry.sha256 !== actual) {
          warn("bundle_hash_mismatch", `${file} is not the file that ${name} names`);
        }
      }
    } catch (error) {
      warn("bundle_schema_invalid", `Cannot check ${name}: ${messageOf(error)}`);
    }
  }
}
