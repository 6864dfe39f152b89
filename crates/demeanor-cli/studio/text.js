// The text of the file, in CodeMirror.

import {
    Decoration, EditorState, EditorView, HighlightStyle, StateEffect, StateField, StreamLanguage, bracketMatching, closeBrackets,
    closeBracketsKeymap, defaultKeymap, drawSelection, highlightActiveLine, highlightActiveLineGutter, highlightSelectionMatches,
    history, historyKeymap, isolateHistory, keymap, lineNumbers, lintGutter, redo, redoDepth, search, searchKeymap, setDiagnostics,
    syntaxHighlighting, tags, toml, undo, undoDepth,
} from "./codemirror.js";
import { byId, make } from "./elements.js";

const colors = HighlightStyle.define([
    { tag: tags.comment, color: "var(--comment)", fontStyle: "italic" },
    { tag: tags.string, color: "var(--string)" },
    { tag: [tags.number, tags.bool, tags.atom], color: "var(--number)" },
    { tag: [tags.propertyName, tags.definition(tags.propertyName)], color: "var(--key)" },
    { tag: tags.bracket, color: "var(--soft)" },
]);

const look = EditorView.theme({
    "&": { height: "100%", backgroundColor: "var(--panel)", color: "var(--text)", fontSize: "0.875rem" },
    ".cm-scroller": { fontFamily: "var(--mono)", lineHeight: "1.5" },
    ".cm-gutters": { backgroundColor: "var(--panel)", color: "var(--soft)", borderRight: "1px solid var(--line)" },
    ".cm-activeLine, .cm-activeLineGutter": { backgroundColor: "var(--hover)" },
    ".cm-cursor": { borderLeftColor: "var(--text)" },
    ".cm-selectionBackground, &.cm-focused .cm-selectionBackground": { background: "var(--selection) !important" },
    ".cm-shown": { backgroundColor: "var(--mark)" },
    ".cm-panels, .cm-tooltip": { backgroundColor: "var(--panel)", color: "var(--text)", borderColor: "var(--line)" },
    ".cm-selectionMatch": { backgroundColor: "var(--mark)" },
});

/** Marks a range of the text, or nothing. */
const setShown = StateEffect.define();
const shown = StateField.define({
    create: () => Decoration.none,
    update(marks, change) {
        marks = marks.map(change.changes);
        for (const effect of change.effects) {
            if (effect.is(setShown)) marks = effect.value ? Decoration.set([Decoration.mark({ class: "cm-shown" }).range(...effect.value)]) : Decoration.none;
        }
        return marks;
    },
    provide: field => EditorView.decorations.from(field),
});

/** How many edits can be undone, at least. */
const MOST_UNDONE = 10_000;

export class Text {
    /** `onEdit(text)` is called after an edit of the user, `onCursor(at)` when the user moves the cursor. */
    constructor({ onEdit, onCursor, onSave }) {
        this.handlers = { onEdit, onCursor, onSave };
        this.view = new EditorView({ parent: byId("text"), state: this.#fresh("") });
    }

    #fresh(text) {
        const { onEdit, onCursor, onSave } = this.handlers;
        return EditorState.create({
            doc: text,
            extensions: [
                EditorView.cspNonce.of(document.querySelector("meta[name=style-nonce]").content),
                EditorView.lineWrapping, lineNumbers(), lintGutter(), history({ minDepth: MOST_UNDONE }), drawSelection(), bracketMatching(), closeBrackets(), highlightActiveLine(),
                highlightActiveLineGutter(), highlightSelectionMatches(), search({ top: true }), StreamLanguage.define(toml),
                syntaxHighlighting(colors), look, shown,
                EditorView.contentAttributes.of({ "aria-label": "Text of the file", spellcheck: "false" }),
                keymap.of([{ key: "Mod-s", run: () => { onSave(); return true; } }, ...closeBracketsKeymap, ...defaultKeymap, ...searchKeymap, ...historyKeymap]),
                EditorView.updateListener.of(update => {
                    if (this.isQuiet) return;
                    if (update.docChanged) onEdit(this.text);
                    else if (update.selectionSet && update.view.hasFocus) onCursor(update.state.selection.main.head);
                }),
            ],
        });
    }

    get text() { return this.view.state.sliceDoc(); }

    /** Shows another file: nothing can be undone. */
    open(text) {
        this.#quietly(() => this.view.setState(this.#fresh(text)));
    }

    /** Takes over the text of the same file. */
    replace(text) {
        this.#quietly(() => this.view.dispatch({ changes: this.#difference(text) }));
    }

    /** Makes an edit of the picture: one step to undo. */
    change(text) {
        this.#quietly(() => this.view.dispatch({ changes: this.#difference(text), annotations: isolateHistory.of("full") }));
    }

    /** Returns what is different in another text: only this is replaced, so that the cursor stays where it is. */
    #difference(text) {
        const old = this.text;
        let from = 0;
        while (from < old.length && from < text.length && old[from] === text[from]) from += 1;
        let end = 0;
        while (end < old.length - from && end < text.length - from && old[old.length - 1 - end] === text[text.length - 1 - end]) end += 1;
        return { from, to: old.length - end, insert: text.slice(from, text.length - end) };
    }

    undo() { return this.#quietly(() => undo(this.view)); }
    redo() { return this.#quietly(() => redo(this.view)); }
    get canUndo() { return undoDepth(this.view.state) > 0; }
    get canRedo() { return redoDepth(this.view.state) > 0; }

    /** Shows a place of the text. */
    reveal([from, to], focuses) {
        const most = this.view.state.doc.length;
        const range = [Math.min(from, most), Math.min(Math.max(to, from), most)];
        this.#quietly(() => this.view.dispatch({
            selection: focuses ? { anchor: range[0] } : undefined,
            effects: [EditorView.scrollIntoView(range[0], { y: "center" }), setShown.of(range[0] < range[1] ? range : null)],
        }));
        if (focuses) this.view.focus();
    }

    /** Shows the problems in the text, and as a list under it. */
    setProblems(problems) {
        const most = this.view.state.doc.length;
        const here = problems.filter(problem => problem.is_here && problem.labels.length);
        const diagnostics = here.map(problem => {
            const [from, to] = problem.labels[0].at.map(at => Math.min(at, most));
            const about = [problem.message, problem.labels[0].text, problem.help].filter(Boolean).join("\n");
            return { from, to: Math.max(from, to), severity: problem.severity, message: about };
        });
        this.#quietly(() => this.view.dispatch(setDiagnostics(this.view.state, diagnostics)));
        byId("problems").replaceChildren(...problems.map(problem => make("li", { class: problem.severity },
            make("button", { class: "link", onclick: () => this.reveal(problem.labels[0]?.at ?? [0, 0], true) }, problem.message),
            problem.help ? make("span", { class: "soft" }, ` ${problem.help}`) : null)));
    }

    #quietly(act) {
        this.isQuiet = true;
        try { return act(); } finally { this.isQuiet = false; }
    }
}
