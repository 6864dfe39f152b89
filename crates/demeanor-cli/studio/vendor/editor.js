// What the studio's page uses of CodeMirror.
export { EditorState, Compartment, StateEffect, StateField } from "@codemirror/state";
export { EditorView, keymap, lineNumbers, highlightActiveLine, highlightActiveLineGutter, drawSelection, Decoration } from "@codemirror/view";
export { defaultKeymap, history, historyKeymap, indentWithTab, isolateHistory, redo, redoDepth, undo, undoDepth } from "@codemirror/commands";
export { searchKeymap, search, highlightSelectionMatches } from "@codemirror/search";
export { StreamLanguage, HighlightStyle, syntaxHighlighting, bracketMatching } from "@codemirror/language";
export { closeBrackets, closeBracketsKeymap } from "@codemirror/autocomplete";
export { setDiagnostics, lintGutter } from "@codemirror/lint";
export { toml } from "@codemirror/legacy-modes/mode/toml";
export { tags } from "@lezer/highlight";
