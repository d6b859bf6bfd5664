/** The one place that names the text editor. It is large, and loaded only where text is edited. */
export { autocompletion, type CompletionContext, type CompletionResult } from "npm:@codemirror/autocomplete@^6";
export { closeBrackets, closeBracketsKeymap, completionKeymap } from "npm:@codemirror/autocomplete@^6";
export { defaultKeymap, history, historyKeymap, indentWithTab } from "npm:@codemirror/commands@^6";
export { json } from "npm:@codemirror/lang-json@^6";
export {
  bracketMatching,
  codeFolding,
  ensureSyntaxTree,
  foldGutter,
  foldKeymap,
  HighlightStyle,
  indentOnInput,
  syntaxHighlighting,
} from "npm:@codemirror/language@^6";
export { type Diagnostic as Mark, lintGutter, lintKeymap, setDiagnostics } from "npm:@codemirror/lint@^6";
export { highlightSelectionMatches, search, searchKeymap } from "npm:@codemirror/search@^6";
export { Compartment, EditorState } from "npm:@codemirror/state@^6";
export {
  drawSelection,
  EditorView,
  highlightActiveLine,
  highlightSpecialChars,
  keymap,
  lineNumbers,
} from "npm:@codemirror/view@^6";
export { tags } from "npm:@lezer/highlight@^1";
