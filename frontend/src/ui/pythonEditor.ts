/** CodeMirror for Python, in the console's colours. Loaded only where a user edits code. */
import { defaultKeymap, history, historyKeymap, indentWithTab } from "@codemirror/commands";
import { python } from "@codemirror/lang-python";
import { bracketMatching, HighlightStyle, indentOnInput, indentUnit, syntaxHighlighting } from "@codemirror/language";
import { Compartment, EditorState } from "@codemirror/state";
import { drawSelection, EditorView, highlightActiveLine, keymap, lineNumbers } from "@codemirror/view";
import { tags } from "@lezer/highlight";

const COLOURS = HighlightStyle.define([
  { tag: [tags.keyword, tags.bool, tags.null, tags.operatorKeyword], color: "var(--c-s0)" },
  { tag: [tags.string, tags.special(tags.string)], color: "var(--c-good)" },
  { tag: tags.number, color: "var(--c-s1)" },
  { tag: tags.comment, color: "var(--c-text-3)", fontStyle: "italic" },
  { tag: [tags.function(tags.definition(tags.variableName)), tags.definition(tags.className)], fontWeight: "600" },
]);

const LOOK = EditorView.theme({
  "&": {
    fontSize: "12.5px",
    color: "var(--c-text)",
    backgroundColor: "var(--c-surface)",
    border: "1px solid var(--c-border-strong)",
    borderRadius: "6px",
  },
  "&.cm-focused": { outline: "none", borderColor: "var(--c-accent)" },
  ".cm-scroller": { fontFamily: "var(--mantine-font-family-monospace)", lineHeight: "1.5", maxHeight: "480px" },
  ".cm-content": { caretColor: "var(--c-text)", minHeight: "120px" },
  ".cm-cursor": { borderLeftColor: "var(--c-text)" },
  ".cm-gutters": {
    backgroundColor: "var(--c-raised)",
    color: "var(--c-text-3)",
    borderRight: "1px solid var(--c-border)",
  },
  ".cm-activeLine, .cm-activeLineGutter": { backgroundColor: "var(--c-raised)" },
  "&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground": {
    backgroundColor: "var(--c-accent-soft)",
  },
  "&.cm-focused .cm-matchingBracket": { backgroundColor: "var(--c-accent-soft)", outline: "1px solid var(--c-accent)" },
});

export interface PythonEditor {
  /** Replaces the text where it is another, and keeps the cursor's place. */
  show: (text: string) => void;
  /** Attributes of the text field, for labels and faults. */
  describe: (attributes: Record<string, string>) => void;
  destroy: () => void;
}

/** @param onChange hears what people type, and nothing of what {@link PythonEditor.show} shows */
export function mountPythonEditor(
  parent: HTMLElement,
  text: string,
  attributes: Record<string, string>,
  onChange: (text: string) => void,
): PythonEditor {
  const described = new Compartment();
  let showing = false;
  const view = new EditorView({
    parent,
    state: EditorState.create({
      doc: text,
      extensions: [
        lineNumbers(),
        history(),
        drawSelection(),
        indentOnInput(),
        bracketMatching(),
        highlightActiveLine(),
        indentUnit.of("    "),
        EditorState.tabSize.of(4),
        EditorView.lineWrapping,
        python(),
        syntaxHighlighting(COLOURS),
        LOOK,
        keymap.of([indentWithTab, ...defaultKeymap, ...historyKeymap]),
        described.of(EditorView.contentAttributes.of(attributes)),
        EditorView.updateListener.of(update => {
          if (update.docChanged && !showing) onChange(update.state.doc.toString());
        }),
      ],
    }),
  });
  return {
    show: next => {
      if (next === view.state.doc.toString()) return;
      showing = true;
      const anchor = Math.min(view.state.selection.main.anchor, next.length);
      view.dispatch({ changes: { from: 0, to: view.state.doc.length, insert: next }, selection: { anchor } });
      showing = false;
    },
    describe: next => view.dispatch({ effects: described.reconfigure(EditorView.contentAttributes.of(next)) }),
    destroy: () => view.destroy(),
  };
}
