/** `svc benchmark export | plot | publish`: tables, figures and pages of a stored result. */
import type { WrittenFiles } from "../../study/report/reports.ts";
import { SvcError } from "../../contract/error.ts";
import { FIGURE_TYPES, type FigureType, INTERVALS_OVER } from "../../figure/types.ts";
import { place } from "../call_commands.ts";
import { choice, command, type CommandSpec, flag, list, parsed, text } from "../command.ts";
import type { CliContext } from "../context.ts";

const commaList = (names: string): string[] => names.split(",").map((part) => part.trim()).filter(Boolean);

const documentOf = ({ result_id, result_sha256, directory, files }: WrittenFiles) => ({
  schema_version: 1,
  result_id,
  result_sha256,
  directory,
  files,
});

/** Prints the folder of written files and their names. */
export function showFiles({ directory, files }: WrittenFiles, { context }: { context: CliContext }): string {
  context.note(`written to ${directory}`);
  return files.join("\n");
}

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

const OUT = text("--out <folder>", "output folder (default: the result)");

export const reportCommands: CommandSpec[] = [
  command({
    usage: "benchmark export <result>",
    summary: "write the tables of a result again as CSV, Markdown and LaTeX (same bytes)",
    options: {
      out: OUT,
      evidence: flag("--evidence", "also write the documents of each run to runs/<run_id>/, as the rows name them"),
    },
    examples: [
      "svc benchmark export 20260101T120000Z_ber_theory_v1 --out paper/tables",
      "svc benchmark export 20260101T120000Z_ber_theory_v1 --out paper/evidence --evidence",
    ],
    call: ({ svc, args: [id], options }) => svc.benchmarks.export(id, options),
    json: documentOf,
    show: showFiles,
  }),
  command({
    usage: "benchmark plot <result> [type]",
    summary: "plot a result: Vega-Lite specification, SVG, PNG, CSV and a record of their digests",
    choices: { type: FIGURE_TYPES },
    options: {
      x: text("--x <id>", "metric or coordinate along x (default: channel.snr_db)"),
      y: text("--y <id>", "metric along y"),
      group: text("--group <by>", "group curves by method, recipe, role or metric:<id> (default: method)"),
      methodOrder: parsed("--method-order <names>", "comma-separated order of the series", commaList),
      recipe: list("--recipe <id>", "only this recipe; repeat for more"),
      where: parsed("--where <id=value>", "only recipes with this value of a metric or coordinate; repeat", place, {}),
      bound: text("--bound <id>", "metric drawn as a dashed line, a bound of the metric along y"),
      intervals: choice(
        "--intervals <over>",
        "unit of the confidence intervals; items are images or texts",
        INTERVALS_OVER,
        "replicates",
      ),
      style: text("--style <style>", "svc, paper, compact or a JSON or YAML file (default: svc)"),
      out: text("--out <folder>", "output folder (default: figures/ of the result)"),
      name: text("--name <name>", "name of the files, without extension"),
    },
    notes: "A style file holds the differences from a built-in style: {extends: paper, width: 300, font_size: 9}",
    examples: [
      "svc benchmark plot 20260101T120000Z_ber_theory_v1",
      "svc benchmark plot 20260101T120000Z_ber_theory_v1 error-rate --where channel=awgn --style paper",
      "svc benchmark plot 20260101T120000Z_kodak rate-distortion --x rate.coded_bpp --where snr_db=10",
    ],
    async call({ svc, args: [id, type], options: { recipe, style, out, name, ...request } }) {
      const recipes = recipe.length === 0 ? undefined : recipe;
      const wanted = { ...request, plot: type as FigureType | undefined, recipes };
      return await svc.benchmarks.plot(id, wanted, { style: await readStyle(style), out, name });
    },
    json: (written) => {
      const { plot, x, y, group } = written.plot;
      return { ...documentOf(written), plot, x: x || null, y: y || null, group };
    },
    show: (written, call) => showFiles(written, call),
  }),
  command({
    usage: "benchmark publish <result>",
    summary: "write a result as a static page with figures, tables, protocol and digests",
    options: {
      slug: text("--slug <slug>", "name of its folder (default: the id of the pack)"),
      out: text("--out <folder>", "output folder (default: published/ of the result)"),
    },
    examples: ["svc benchmark publish 20260101T120000Z_ber_theory_v1 --slug ber --out site"],
    call: ({ svc, args: [id], options }) => svc.benchmarks.publish(id, options),
    json: documentOf,
    show: showFiles,
  }),
];
