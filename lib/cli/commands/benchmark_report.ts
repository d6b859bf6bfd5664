/** `svc benchmark export | plot | publish`: what others read of a stored result. */
import type { WrittenFiles } from "../../benchmark/reports.ts";
import type { PlotRequest } from "../../benchmark/figure_of.ts";
import type { JsonObject } from "../../contract/value.ts";
import { SvcError } from "../../contract/error.ts";
import { FIGURE_TYPES, type FigureType } from "../../figure/types.ts";
import { Argument, type Command, InvalidArgumentError, Option } from "../commander.ts";
import { type CliContext, contextOf } from "../context.ts";

/** Adds the verbs to `svc benchmark`. */
export function reportCommands(benchmark: Command): void {
  benchmark.command("export <result>")
    .description("make the tables of a result again: CSV, Markdown and LaTeX, byte for byte the same")
    .option("--out <folder>", "write there instead of into the result")
    .addHelpText("after", "\nExamples\n  svc benchmark export 20260101T120000Z_ber_theory_v1 --out paper/tables\n")
    .action(exportTables);

  benchmark.command("plot")
    .argument("<result>", "id of a result, or a unique beginning of it")
    .addArgument(new Argument("[type]", "what to draw (default: what the pack asks for)").choices(FIGURE_TYPES))
    .description("draw a result: Vega-Lite specification, SVG, PNG, CSV and a record that binds them to it")
    .option("--x <id>", "metric or coordinate along x (default: channel.snr_db)")
    .option("--y <id>", "metric along y")
    .option("--group <by>", "what makes a series: method, recipe, role or metric:<id> (default: method)")
    .option("--method-order <names>", "series in this order, separated by commas", commaList)
    .option("--recipe <id>", "only this recipe; repeat for more", collect, [])
    .option("--where <id=value>", "only recipes with this value of a metric or coordinate; repeat for more", place, {})
    .addOption(new Option("--interval <kind>", "interval of rates with counts").choices(["wilson", "student_t"]))
    .option("--bound <id>", "metric that bounds the one along y, drawn as a dashed line")
    .option("--style <style>", "svc, paper, compact or a JSON or YAML file (default: svc)")
    .option("--out <folder>", "write there instead of into figures/ of the result")
    .option("--name <name>", "name of the files, without ending")
    .addHelpText(
      "after",
      "\nExamples\n  svc benchmark plot 20260101T120000Z_ber_theory_v1\n" +
        "  svc benchmark plot 20260101T120000Z_ber_theory_v1 error-rate --where channel=awgn --style paper\n" +
        "  svc benchmark plot 20260101T120000Z_kodak rate-distortion --x rate.coded_bpp --where snr_db=10\n" +
        "\nA style file holds what differs from a built-in style: {extends: paper, width: 300, font_size: 9}\n",
    )
    .action(plot);

  benchmark.command("publish <result>")
    .description("write a result as a static page with figures, tables, protocol and digests")
    .option("--slug <slug>", "name of its folder (default: the id of the pack)")
    .option("--out <folder>", "put the folder there instead of into published/ of the result")
    .addHelpText("after", "\nExamples\n  svc benchmark publish 20260101T120000Z_ber_theory_v1 --slug ber --out site\n")
    .action(publish);
}

const commaList = (text: string): string[] => text.split(",").map((part) => part.trim()).filter((part) => part !== "");
const collect = (text: string, before: string[]): string[] => [...before, text];

function place(text: string, before: Record<string, string>): Record<string, string> {
  const [id, value] = [text.slice(0, text.indexOf("=")), text.slice(text.indexOf("=") + 1)];
  if (!text.includes("=") || id === "" || value === "") throw new InvalidArgumentError("Write it as snr_db=10.");
  return { ...before, [id]: value };
}

interface PlotOptions {
  x?: string;
  y?: string;
  group?: string;
  methodOrder?: string[];
  recipe: string[];
  where: Record<string, string>;
  interval?: PlotRequest["interval"];
  bound?: string;
  style?: string;
  out?: string;
  name?: string;
}

function report(context: CliContext, written: WrittenFiles, extra: JsonObject = {}): void {
  const { result_id, result_sha256, directory, files } = written;
  context.emit({ schema_version: 1, result_id, result_sha256, directory, files, ...extra });
  for (const file of files) context.print(file);
  context.note(`written to ${directory}`);
}

async function exportTables(wanted: string, options: { out?: string }, command: Command): Promise<void> {
  const context = contextOf(command);
  const { exportBenchmark } = await import("../../benchmark/reports.ts");
  report(context, exportBenchmark(await context.workspace(), wanted, options));
}

async function plot(
  wanted: string,
  type: FigureType | undefined,
  options: PlotOptions,
  command: Command,
): Promise<void> {
  const context = contextOf(command);
  const { plotBenchmark } = await import("../../benchmark/reports.ts");
  const { recipe, style, out, name, ...rest } = options;
  const request: PlotRequest = { ...rest, plot: type, recipes: recipe.length === 0 ? undefined : recipe };
  const written = await plotBenchmark(await context.workspace(), wanted, request, {
    style: await readStyle(style),
    out,
    name,
  });
  const { plot, x, y, group } = written.plot;
  report(context, written, { plot, x: x || null, y: y || null, group });
}

async function readStyle(wanted = "svc") {
  const { STYLES } = await import("../../figure/style.ts");
  const { styleOf } = await import("../../figure/style_file.ts");
  if (Object.hasOwn(STYLES, wanted)) return STYLES[wanted as keyof typeof STYLES];
  let text: string;
  try {
    text = await Deno.readTextFile(wanted);
  } catch (error) {
    throw new SvcError("file_not_found", `Cannot find a style or a file named ${wanted}`, {
      hint: `Styles: ${Object.keys(STYLES).join(", ")}`,
      cause: error,
    });
  }
  const { parseYaml } = await import("../../contract/yaml.ts");
  const { toPlain } = await import("../../contract/value.ts");
  return styleOf(toPlain(parseYaml(text)));
}

async function publish(wanted: string, options: { slug?: string; out?: string }, command: Command): Promise<void> {
  const context = contextOf(command);
  const { publishBenchmark } = await import("../../benchmark/reports.ts");
  report(context, await publishBenchmark(await context.workspace(), wanted, options));
}
