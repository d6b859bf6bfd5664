/** How `svc benchmark export | plot | publish` show what they wrote: tables, figures and pages of a stored result. */
import type { WrittenFiles } from "../../study/report/reports.ts";
import { SvcError } from "../../contract/error.ts";
import { STYLE_NAMES } from "../../figure/style.ts";
import { FIGURE_TYPES } from "../../figure/types.ts";
import { benchmarks } from "../../api/calls/benchmarks.ts";
import { facesOf } from "../call_commands.ts";
import { list, text } from "../command.ts";

const documentOf = ({ result_id, result_sha256, directory, files }: WrittenFiles) => ({
  schema_version: 1,
  result_id,
  result_sha256,
  directory,
  files,
});

/** Prints the names of written files, and their folder. */
export const showFiles = {
  show: ({ files }: Pick<WrittenFiles, "files">) => files.join("\n"),
  remarks: { directory: ({ directory }: Pick<WrittenFiles, "directory">) => `written to ${directory}` },
};

/** A style by its name or file. @throws SvcError `file_not_found` */
export async function readStyle(wanted = "svc") {
  const { STYLES } = await import("../../figure/style.ts");
  const { styleOf } = await import("../../figure/style_file.ts");
  if (Object.hasOwn(STYLES, wanted)) return STYLES[wanted as keyof typeof STYLES];
  let source: string;
  try {
    source = await Deno.readTextFile(wanted);
  } catch (error) {
    throw new SvcError("file_not_found", `Cannot find a style or a file named ${wanted}`, {
      hint: `Styles: ${Object.keys(STYLES).join(", ")}`,
      cause: error,
    });
  }
  const { parseYaml } = await import("../../contract/yaml.ts");
  const { toPlain } = await import("../../contract/value.ts");
  return styleOf(toPlain(parseYaml(source)));
}

export const reportFaces = facesOf(benchmarks, {
  export: {
    examples: [
      "svc benchmark export 20260101T120000Z_ber_theory_v1 --out paper/tables",
      "svc benchmark export 20260101T120000Z_ber_theory_v1 --out paper/evidence --evidence",
    ],
    json: documentOf,
    ...showFiles,
  },
  plot: {
    choices: { type: FIGURE_TYPES },
    options: {
      recipe: list("--recipe <id>", "only this recipe; repeat for more"),
      style: text("--style <style>", `${STYLE_NAMES.join(", ")}, or a JSON or YAML file (default: svc)`),
    },
    notes: "A style file holds the differences from a built-in style: {extends: paper, width: 300, font_size: 9}",
    examples: [
      "svc benchmark plot 20260101T120000Z_ber_theory_v1",
      "svc benchmark plot 20260101T120000Z_ber_theory_v1 error-rate --where channel=awgn --style paper",
      "svc benchmark plot 20260101T120000Z_kodak rate-distortion --x rate.coded_bpp --where snr_db=10",
    ],
    means: async ({ options }) => ({ style: await readStyle(options.style) }),
    call: ({ options: { recipe } }, perform) => perform(recipe.length === 0 ? {} : { recipes: recipe }),
    json: (written) => {
      const { plot, x, y, group } = written.plot;
      return { ...documentOf(written), plot, x: x || null, y: y || null, group };
    },
    ...showFiles,
  },
  publish: {
    examples: ["svc benchmark publish 20260101T120000Z_ber_theory_v1 --slug ber --out site"],
    json: documentOf,
    ...showFiles,
  },
});
