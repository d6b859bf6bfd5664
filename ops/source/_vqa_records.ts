/**
 * Local visual questions: a JSON list, or a file with one JSON object per line, of records {id, image, question,
 * answer, answers}. The default `id` is the number of the record; several records may refer to one image. `answers` are
 * those of several annotators; without `answer` the most frequent one is the answer.
 */
import {
  type FileAccess,
  isObject,
  type JsonObject,
  messageOf,
  type OutputArtifact,
  parseJson,
  type Progress,
  SvcError,
  type Value,
} from "../api.ts";
import { imagesArtifact } from "../../lib/artifact/values.ts";
import { type Answer, answersArtifact, questionsArtifact } from "../_vqa.ts";
import { loadSquares } from "./_square_pictures.ts";

export interface VqaRecord extends Answer {
  image: string;
  question: string;
}

/**
 * Reads the text of a manifest.
 * @param name name of the file, for messages
 * @throws SvcError `boundary_value_invalid` for an invalid record, `pair_ids_mismatch` for repeated ids
 */
export function readVqaRecords(text: string, name: string): VqaRecord[] {
  const records = documentsOf(text, name).map((document, index): VqaRecord => {
    const { id = String(index), image, question, answers } = isObject(document) ? document : {};
    const several = Array.isArray(answers) && answers.length > 0 && answers.every((text) => typeof text === "string");
    const answer = isObject(document) && document.answer === undefined && several
      ? mostFrequent(answers)
      : isObject(document)
      ? document.answer
      : undefined;
    if (
      typeof image !== "string" || typeof question !== "string" || typeof answer !== "string" ||
      (answers !== undefined && !several)
    ) {
      throw new SvcError("boundary_value_invalid", `Cannot read record ${index + 1} of ${name}`, {
        hint: "A record is an object with the texts image, question and answer, an id, and a list of texts answers",
      });
    }
    return { id: String(id), image, question, answer, ...(several ? { answers } : {}) };
  });
  if (new Set(records.map(({ id }) => id)).size !== records.length) {
    throw new SvcError("pair_ids_mismatch", `Cannot use ${name}: its records have repeated ids`);
  }
  return records;
}

/** The most frequent text, the first of several. */
const mostFrequent = (texts: readonly string[]): string =>
  [...Map.groupBy(texts, (text) => text)].reduce((best, other) => other[1].length > best[1].length ? other : best)[0];

/** A list, or one object per line, distinguished by the first character. */
function documentsOf(text: string, name: string): Value[] {
  try {
    if (text.trimStart().startsWith("[")) return parseJson(text) as Value[];
    return text.split("\n").filter((line) => line.trim() !== "").map((line) => parseJson(line));
  } catch (error) {
    throw new SvcError("boundary_value_invalid", `Cannot read ${name}: ${messageOf(error)}`, {
      hint: "Write a JSON list of records, or one JSON object per line",
    });
  }
}

/** The artifacts of records; images are loaded once, in the order of the records. */
export async function vqaOutputs(
  records: readonly VqaRecord[],
  dataset: JsonObject,
  { folder, size, files, progress }: { folder: string; size: number; files: FileAccess; progress: Progress },
): Promise<{ images: OutputArtifact; questions: OutputArtifact; answers: OutputArtifact }> {
  if (records.length === 0) throw new SvcError("boundary_empty", "Cannot use a file without questions");
  const images = [...new Set(records.map(({ image }) => image))];
  const paths = images.map((image) => image.startsWith("/") || folder === "" ? image : `${folder}/${image}`);
  const { batch, sourceFiles } = await loadSquares(paths, size, { files, progress });
  const questions = records.map(({ id, image, question }) => ({ id, image_id: image, question }));
  return {
    images: imagesArtifact(batch, { dataset, image_ids: images, source_files: sourceFiles }),
    questions: questionsArtifact(questions, { dataset }),
    answers: answersArtifact(records.map(({ image: _, question: _question, ...answer }) => answer), { dataset }),
  };
}
