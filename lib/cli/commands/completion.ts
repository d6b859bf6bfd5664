/** `svc completion`: scripts by which shells complete the command line. They ask the program itself what fits. */
import { Argument, type Command } from "../commander.ts";
import { contextOf } from "../context.ts";

export function completionCommand(program: Command): void {
  program.command("completion")
    .description("print the completion script of a shell")
    .addArgument(new Argument("<shell>", "the shell").choices(Object.keys(SCRIPTS)))
    .addHelpText(
      "after",
      "\nExamples\n" +
        "  source <(svc completion bash)                            in ~/.bashrc\n" +
        "  source <(svc completion zsh)                             in ~/.zshrc, behind compinit\n" +
        "  svc completion fish > ~/.config/fish/completions/svc.fish\n",
    )
    .action((shell: string, _options: unknown, command: Command) => {
      const context = contextOf(command);
      context.emit({ schema_version: 1, shell, script: SCRIPTS[shell] });
      context.print(SCRIPTS[shell]);
    });
}

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
