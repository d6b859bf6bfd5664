/** A text editor for JSON: numbers, folding, search, marks at problems, and completion. Its styles carry the page's nonce. */
import {
  autocompletion,
  bracketMatching,
  closeBrackets,
  closeBracketsKeymap,
  codeFolding,
  type CompletionContext,
  completionKeymap,
  type CompletionResult,
  defaultKeymap,
  drawSelection,
  EditorState,
  EditorView,
  foldGutter,
  foldKeymap,
  highlightActiveLine,
  highlightSelectionMatches,
  highlightSpecialChars,
  HighlightStyle,
  history,
  historyKeymap,
  indentOnInput,
  json,
  keymap,
  lineNumbers,
  lintGutter,
  lintKeymap,
  type Mark,
  search,
  searchKeymap,
  setDiagnostics,
  syntaxHighlighting,
  tags,
} from "../codemirror.ts";
import type { Diagnostic } from "../api.ts";
import { offersAt } from "../form/completion.ts";
import { rangeOf } from "../form/json_ranges.ts";
import { useEffect, useLayoutEffect, useRef } from "../preact.ts";
import { contracts } from "../state/contracts.ts";

interface Props {
  text: string;
  label: string;
  readOnly?: boolean;
  diagnostics?: readonly Diagnostic[];
  /** A place that is wrong before any meaning is asked for. */
  brokenAt?: number | null;
  onChange?(text: string): void;
}

const LOOK = EditorView.theme({
  "&": { height: "100%", color: "var(--ink)", backgroundColor: "var(--panel)", fontSize: "13px" },
  ".cm-scroller": { fontFamily: "var(--mono)", lineHeight: "1.5" },
  ".cm-gutters": { backgroundColor: "var(--bg)", color: "var(--ink-2)", borderRight: "1px solid var(--line)" },
  ".cm-activeLine, .cm-activeLineGutter": { backgroundColor: "var(--raised)" },
  ".cm-cursor": { borderLeftColor: "var(--ink)" },
  "&.cm-focused .cm-selectionBackground, .cm-selectionBackground": { backgroundColor: "var(--accent-soft) !important" },
  ".cm-selectionMatch, .cm-searchMatch": { backgroundColor: "var(--warn-soft)" },
  ".cm-tooltip, .cm-panels": {
    backgroundColor: "var(--panel)",
    color: "var(--ink)",
    border: "1px solid var(--line-strong)",
  },
  ".cm-tooltip-autocomplete ul li[aria-selected]": { backgroundColor: "var(--accent-soft)", color: "var(--ink)" },
  ".cm-foldPlaceholder": { backgroundColor: "var(--raised)", color: "var(--ink-2)", border: "none" },
  ".cm-panels button, .cm-panels input": { backgroundImage: "none", backgroundColor: "var(--panel)" },
});
const COLOURS = HighlightStyle.define([
  { tag: tags.propertyName, color: "var(--accent)" },
  { tag: tags.string, color: "var(--ok)" },
  { tag: [tags.number, tags.bool, tags.null], color: "var(--plane-measurement)" },
  { tag: tags.punctuation, color: "var(--ink-2)" },
]);

function complete(context: CompletionContext): CompletionResult | null {
  const word = context.matchBefore(/"?[\w.]*/);
  if (word === null || (word.from === word.to && !context.explicit)) return null;
  const options = offersAt(context.state.doc.toString(), context.pos, contracts.value);
  if (options.length === 0) return null;
  // A quote that closed by itself is written over.
  const to = context.state.sliceDoc(context.pos, context.pos + 1) === '"' ? context.pos + 1 : context.pos;
  return { from: word.from, to, options, validFor: /^"?[\w.]*$/ };
}

export default function Code({ text, label, readOnly = false, diagnostics = [], brokenAt = null, onChange }: Props) {
  const host = useRef<HTMLDivElement>(null), view = useRef<EditorView | null>(null);
  const changed = useRef(onChange), fromOutside = useRef(false);
  changed.current = onChange;
  useEffect(() => {
    const nonce = document.documentElement.dataset.nonce ?? "";
    view.current = new EditorView({
      parent: host.current!,
      state: EditorState.create({
        doc: text,
        extensions: [
          EditorView.cspNonce.of(nonce),
          EditorState.readOnly.of(readOnly),
          EditorView.contentAttributes.of({
            "aria-label": label,
            tabindex: "0",
            ...(readOnly ? { "aria-readonly": "true" } : {}),
          }),
          lineNumbers(),
          foldGutter(),
          codeFolding(),
          lintGutter(),
          highlightSpecialChars(),
          history(),
          drawSelection(),
          indentOnInput(),
          bracketMatching(),
          closeBrackets(),
          highlightActiveLine(),
          highlightSelectionMatches(),
          search({ top: true }),
          autocompletion({ override: [complete] }),
          json(),
          syntaxHighlighting(COLOURS),
          LOOK,
          keymap.of([
            ...closeBracketsKeymap,
            ...defaultKeymap,
            ...searchKeymap,
            ...historyKeymap,
            ...foldKeymap,
            ...completionKeymap,
            ...lintKeymap,
          ]),
          EditorView.updateListener.of((update) => {
            if (update.docChanged && !fromOutside.current) changed.current?.(update.state.doc.toString());
          }),
        ],
      }),
    });
    return () => view.current!.destroy();
  }, [readOnly, label]);
  // At once after the render: later, letters typed meanwhile would be taken back.
  useLayoutEffect(() => {
    const { current } = view;
    if (current === null || current.state.doc.toString() === text) return;
    fromOutside.current = true;
    current.dispatch({ changes: { from: 0, to: current.state.doc.length, insert: text } });
    fromOutside.current = false;
  }, [text]);
  useEffect(() => {
    const { current } = view;
    if (current === null) return;
    const shown = current.state.doc.toString(), end = shown.length;
    const marks: Mark[] = diagnostics.map((one) => {
      const { from, to } = rangeOf(shown, one.pointer ?? "");
      const severity = one.severity === "warning" ? "warning" : one.severity === "info" ? "info" : "error";
      return { from, to, severity, message: one.hint ? `${one.message}. ${one.hint}` : one.message };
    });
    if (brokenAt !== null) {
      const from = Math.min(brokenAt, end);
      marks.push({ from, to: Math.min(from + 1, end), severity: "error", message: "From here on this is no JSON" });
    }
    current.dispatch(setDiagnostics(current.state, marks.sort((a, b) => a.from - b.from)));
  }, [diagnostics, brokenAt, text]);
  return <div class="code" ref={host} />;
}
