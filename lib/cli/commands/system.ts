/** `svc init`, `svc schema`, `svc doctor`, `svc index` and `svc completion`: the program itself and its machine. */
import { writeNewFile } from "../../artifact/write_file.ts";
import { messageOf, SvcError } from "../../contract/error.ts";
import { type SchemaName, SCHEMAS, system } from "../../api/calls/system.ts";
import { commandOf, commandsOf } from "../call_commands.ts";
import { command, type CommandSpec, text } from "../command.ts";
import { fetchProgress } from "../fetch_progress.ts";
import { EXIT } from "../problem.ts";
import { formatBytes } from "../table.ts";
import type { Style } from "../terminal.ts";
import { counted } from "./recipe.ts";

const PAINT: Record<string, Style> = { passed: "green", warning: "yellow", failed: "red" };

const ABOUT_SCHEMA: Record<SchemaName, { summary: string; notes?: string; example: string }> = {
  recipe: {
    summary: "recipes, with the parameters and inputs of every operation",
    notes: "An editor with a YAML language server completes and checks a recipe whose first line is\n" +
      "  # yaml-language-server: $schema=recipe.schema.json",
    example: "svc schema recipe > recipes/recipe.schema.json",
  },
  pack: { summary: "benchmark packs", example: "svc schema pack > benchmarks/pack.schema.json" },
  manifest: { summary: "image-dataset manifests", example: "svc schema manifest" },
  "text-lines-manifest": {
    summary: "manifests of lines of a text file",
    example: "svc schema text-lines-manifest",
  },
  "text-manifest": { summary: "text-dataset manifests", example: "svc schema text-manifest" },
  "trained-artifact": {
    summary: "trained_artifact.yaml, the manifest of a trained-artifact package",
    example: "svc schema trained-artifact",
  },
  "validation-card": {
    summary: "validation cards, published numbers beside the recipe that measures them",
    example: "svc schema validation-card",
  },
};

const { init, doctor, client, rebuildIndex } = system, calls = { init, doctor, client, rebuildIndex };

const callCommands = commandsOf("system", calls, {
  init: {
    notes:
      "Files that are there already stay; a .gitignore gets one line more. Recipes and packs of svc itself need no copy: they are found by\n" +
      "their names, behind those of the project.",
    examples: ["svc init", "svc init fading_study"],
    show({ folder, files }, { context }) {
      const place = context.shownPath(folder);
      const enter = place === "." ? [] : [`  cd ${place}`];
      return [
        `${context.paint("green", "made")}  ${place}: ${files.join(", ")}`,
        ...enter,
        "  svc recipe run quickstart",
      ].join("\n");
    },
  },
  doctor: {
    options: {
      report: text("--report <file>", "also write one file for a report of a problem, without private paths"),
    },
    examples: ["svc doctor", "svc doctor --json", "svc doctor --report problem.md"],
    async call({ svc, options: { report } }, perform) {
      const diagnosis = await perform();
      if (report !== undefined) {
        writeReport(report, (await svc.system.problemReport()).text);
      }
      return diagnosis;
    },
    json: (diagnosis, { options: { report = null } }) => ({ ...diagnosis, report }),
    remarks: {
      report: (_diagnosis, { options: { report } }) =>
        report === undefined ? null : `Wrote ${report}: read it, say what you did, and send it`,
    },
    show({ checks }, { context }) {
      const width = Math.max(...checks.map(({ id }) => id.length));
      return checks.flatMap(({ id, status, detail, hint }) => [
        `${context.paint(PAINT[status], status.padEnd(7))}  ${id.padEnd(width)}  ${detail}`,
        ...(hint !== null && status !== "passed" ? [`${"".padEnd(11 + width)}${hint}`] : []),
      ]).join("\n");
    },
    exit: ({ status }) => status === "failed" ? EXIT.missing : EXIT.ok,
  },
  client: {
    multiline: true,
    choices: { language: ["python"] },
    examples: ["svc client python > svc.py"],
    json: (text) => ({ schema_version: 1, language: "python", file: "svc.py", text }),
    show: (text) => text.trimEnd(),
  },
  rebuildIndex: {
    examples: ["svc index rebuild"],
    remarks: { damaged: ({ damaged }) => damaged === null ? null : `The damaged index was moved to ${damaged}` },
    show({ runs, benchmark_results }, { context }) {
      return `${context.paint("green", "rebuilt")}  ${counted(runs, "run")}, ` +
        counted(benchmark_results, "benchmark result");
    },
  },
});

/** Writes a new file. @throws SvcError `usage_invalid` where there is one, `file_write_failed` */
function writeReport(path: string, report: string): void {
  try {
    writeNewFile(path, new TextEncoder().encode(report));
  } catch (error) {
    if ((error as { code?: unknown }).code === "EEXIST") {
      throw new SvcError("usage_invalid", `Cannot write ${path}: the file exists`, { hint: "Choose another name" });
    }
    throw new SvcError("file_write_failed", `Cannot write ${path}: ${messageOf(error)}`, { cause: error });
  }
}

export const systemCommands: CommandSpec[] = [
  ...callCommands,
  ...SCHEMAS.map((name) => {
    const { summary, notes, example } = ABOUT_SCHEMA[name];
    return commandOf(system.schema, { name: `schema ${name}`, summary, fixed: { name } }, {
      notes,
      examples: [example],
      json: (schema) => schema,
    });
  }),
  ...(["check", "repair"] as const).map((verb) =>
    commandOf(system.checkStore, {
      name: `store ${verb}`,
      summary: verb === "check"
        ? "hash artifacts, fetched models and datasets again; exit 6 for damage"
        : "check, and replace what is damaged by intact copies or new downloads; exit 6 when something is lost",
      fixed: { repair: verb === "repair" },
    }, {
      examples: [`svc store ${verb}`, `svc store ${verb} --json`],
      cancellable: true,
      means({ cancellation, context }) {
        const abort = new AbortController();
        cancellation.onCancel(() => abort.abort(new SvcError("operation_canceled", "The check was canceled")));
        return { signal: abort.signal, onProgress: fetchProgress(context) };
      },
      show({ files, size_bytes, items }, { context }) {
        const lines = items.flatMap(({ what, id, status, files, hint }) => [
          `${context.paint(status === "repaired" ? "green" : "red", status)}  ${what} ${id}: ${files.join(", ")}`,
          ...(hint === null ? [] : [`  ${hint}`]),
        ]);
        return [...lines, `${counted(files, "file")} checked, ${formatBytes(size_bytes)}`].join("\n");
      },
      exit: ({ items }) => items.every(({ status }) => status === "repaired") ? EXIT.ok : EXIT.differs,
    })
  ),
  // The scripts of shells are texts of the command line alone.
  command({
    usage: "completion <shell>",
    multiline: true,
    summary: "print the completion script of a shell",
    choices: { shell: ["bash", "zsh", "fish"] },
    examples: [
      "source <(svc completion bash)                            in ~/.bashrc",
      "source <(svc completion zsh)                             in ~/.zshrc, after compinit",
      "svc completion fish > ~/.config/fish/completions/svc.fish",
    ],
    call: ({ args: [shell] }) => ({ shell, script: SCRIPTS[shell] }),
    show: ({ script }) => script,
  }),
];

// Bash splits words at = and : as well. The words are taken from the line, and what bash takes for finished is cut off
// the candidates.
const BASH = [
  "_svc_complete() {",
  "  local line=${COMP_LINE:0:COMP_POINT} part=${COMP_WORDS[COMP_CWORD]} words current prefix value rest",
  '  read -ra words <<< "$line"',
  '  [[ $line == *[[:space:]] ]] && words+=("")',
  "  current=${words[-1]}",
  '  if [[ $part == [=:] ]]; then prefix=$current; else prefix=${current%"$part"}; fi',
  "  COMPREPLY=()",
  "  while IFS=$'\\t' read -r value rest; do",
  '    COMPREPLY+=("${value#"$prefix"}")',
  "    [[ $value == *[/=.] ]] && compopt -o nospace",
  '  done < <("${words[0]}" __complete -- "${words[@]:1}" 2>/dev/null)',
  "}",
  "complete -F _svc_complete svc",
];

const ZSH = [
  "#compdef svc",
  "_svc() {",
  "  local line value",
  "  local -a ended ended_shown open open_shown",
  '  for line in "${(@f)$("${words[1]}" __complete -- "${(@)words[2,CURRENT]}" 2>/dev/null)}"; do',
  "    [[ -z $line ]] && continue",
  "    value=${line%%$'\\t'*}",
  "    if [[ $value == *[/=.] ]]; then",
  '      open+=("$value")',
  "      open_shown+=(\"${line/$'\\t'/  }\")",
  "    else",
  '      ended+=("$value")',
  "      ended_shown+=(\"${line/$'\\t'/  }\")",
  "    fi",
  "  done",
  "  (( ${#ended} )) && compadd -l -d ended_shown -a ended",
  "  (( ${#open} )) && compadd -l -S '' -d open_shown -a open",
  "}",
  'if [[ ${funcstack[1]:-} == _svc ]]; then _svc "$@"; else compdef _svc svc; fi',
];

const FISH = [
  "function __svc_complete",
  "    set -l words (commandline -opc)",
  "    $words[1] __complete -- $words[2..-1] (commandline -ct | string collect --allow-empty) 2>/dev/null",
  "end",
  "complete -c svc -f -a '(__svc_complete)'",
];

const script = (lines: readonly string[]) => lines.join("\n") + "\n";
const SCRIPTS: Record<string, string> = { bash: script(BASH), zsh: script(ZSH), fish: script(FISH) };
