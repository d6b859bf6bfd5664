/** Records of a CSV file by RFC 4180, each with as many fields as the first. Empty lines are left out. */
// @ts-types="./csv_parse.d.ts"
import { CsvError, parse } from "npm:csv-parse@^7/sync";

const FAULTS: Readonly<Record<string, string>> = {
  INVALID_OPENING_QUOTE: "a quote inside a field; put the field in quotes, and double those inside",
  CSV_INVALID_CLOSING_QUOTE: "text after a closing quote; double quotes inside a field in quotes",
  CSV_QUOTE_NOT_CLOSED: "the end of the file inside of quotes",
  CSV_RECORD_INCONSISTENT_FIELDS_LENGTH: "another number of fields than the header; put fields with commas in quotes",
};

/** What the format does not permit, with its line. */
export class CsvFault extends Error {
  /** @param line from 1 */
  constructor(readonly line: number, message: string) {
    super(message);
  }
}

/**
 * Reads records.
 * @param most number of records after which reading ends
 * @throws CsvFault
 */
export function csvRecords(text: string, most: number): string[][] {
  try {
    return parse(text, { bom: true, skip_empty_lines: true, to: most });
  } catch (error) {
    if (!(error instanceof CsvError)) throw error;
    throw new CsvFault(error.lines, FAULTS[error.code] ?? `a fault: ${error.message}`);
  }
}
