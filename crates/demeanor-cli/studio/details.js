// What the file says of the selected state: its behaviors, its exits, and the exits that lead to it.

import { byId, count, make } from "./elements.js";

/** Shows a state. `choose(name, exit)` selects another one, `read(at)` shows a place of the text. */
export function showDetails(picture, { choose, read, toggle }) {
    const state = picture.selectedState;
    const panel = byId("details");
    if (!state) {
        panel.replaceChildren(...overview(picture, choose));
        return;
    }
    const facts = [];
    const fact = (name, value) => { if (value) facts.push(make("dt", {}, name), make("dd", {}, value)); };
    fact("Note", state.note);
    fact("Behavior", state.behaviors.join(", "));
    fact("Script", state.script);
    fact("Enter when", state.enter_when);
    fact("Every", state.every);
    fact("Machine", state.machine);
    fact("Written in", state.file);
    const parent = picture.states.get(state.parent);
    if (parent) fact("Inside", link(parent.name, () => choose(parent.name)));
    const tags = [state.is_initial && "initial", state.is_global && "global", state.is_final && "final"].filter(Boolean);
    const buttons = [
        state.at && make("button", { onclick: () => read(state.at) }, "Show in the text"),
        state.can_open && make("button", { onclick: () => toggle(state) }, state.is_folded ? "Open" : "Fold"),
    ];
    const children = picture.drawing.states.filter(other => other.parent === state.id);
    const exits = state.exits.map((exit, nth) => exitLine(state, exit, nth, picture, choose, read));
    const into = picture.drawing.states.flatMap(other => other.exits
        .map((exit, nth) => ({ other, exit, nth }))
        .filter(({ exit }) => exit.to === state.name)
        .map(({ other, exit, nth }) => make("li", { onpointerenter: () => picture.hint([other.id, nth]), onpointerleave: () => picture.hint(null) },
            link(other.name, () => choose(other.name, nth)), " ", make("span", { class: "soft" }, exit.label))));
    panel.replaceChildren(
        make("h3", { class: "state-name" }, state.name, ...tags.map(tag => make("span", { class: "tag" }, tag))),
        make("div", { class: "buttons" }, buttons),
        facts.length ? make("dl", {}, facts) : "",
        ...(children.length ? [make("h4", {}, `States in it`), make("ul", { class: "chips" }, children.map(child => make("li", {}, link(child.name, () => choose(child.name)))))] : []),
        make("h4", {}, exits.length ? `${count(exits.length, "exit")}, tried in this order` : "No exits"),
        make("ol", { class: "exits" }, exits),
        make("h4", {}, into.length ? `${count(into.length, "exit")} to it` : "No exit leads to it"),
        make("ul", { class: "plain" }, into),
    );
}

function exitLine(state, exit, nth, picture, choose, read) {
    const to = exit.to ? link(exit.to, () => choose(exit.to)) : make("em", {}, exit.leads);
    const isSelected = picture.selected.exit === nth;
    return make("li", {
        class: isSelected ? "chosen" : null,
        onpointerenter: () => picture.hint([state.id, nth]),
        onpointerleave: () => picture.hint(null),
    },
    make("span", { class: "to" }, exit.leads && exit.to ? `${exit.leads} ` : "→ ", to),
    make("span", { class: "when" }, exit.label || "always"),
    exit.note ? make("span", { class: "soft" }, exit.note) : null,
    state.at ? make("button", { class: "small", "aria-label": `Show exit ${nth + 1} in the text`, onclick: () => read(exit.at) }, "Text") : null);
}

/** Shows all states while none is selected. */
function overview(picture, choose) {
    const drawing = picture.drawing;
    if (!drawing) return [];
    const line = state => make("li", {}, link(state.name, () => choose(state.name)),
        state.is_initial ? make("span", { class: "tag" }, "initial") : null, state.is_final ? make("span", { class: "tag" }, "final") : null,
        " ", make("span", { class: "soft" }, count(state.exits.length, "exit")));
    return [make("h3", {}, count(drawing.states.length, "state")),
        make("p", { class: "soft" }, "Select a state in the picture, or here."),
        make("ul", { class: "plain" }, drawing.states.map(line))];
}

const link = (name, act) => make("button", { class: "link", onclick: act }, name);
