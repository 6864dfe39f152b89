// The selected state: the forms that change it and its exits, and the exits that lead to it.

import { byId, count, make } from "./elements.js";
import { rebuild } from "./forms.js";

/** Shows a state. `choose(name, exit)` selects another one, `read(at)` shows a place of the text. */
export function showDetails(picture, { choose, read, toggle, forms, mistake }) {
    const state = picture.selectedState;
    const panel = byId("details");
    const all = [...picture.drawing?.states ?? [], ...picture.drawing?.hidden ?? []];
    if (mistake && !picture.drawing) return rebuild(panel, whatIsWrong(mistake, read));
    if (!state) return rebuild(panel, [...overview(picture, choose), forms.addState(all, null, choose), picture.drawing && forms.words(picture.drawing.words)]);
    const parent = picture.states.get(state.parent) ?? null;
    const tags = [state.is_initial && "initial", state.is_global && "global", state.is_final && "final",
        state.inherited && !Object.keys(state.keys).length && Object.keys(state.inherited).length + state.inherits_exits > 0 && `from ${picture.drawing.like}`].filter(Boolean);
    const buttons = [
        state.at && make("button", { onclick: () => read(state.at) }, "Show in the text"),
        state.can_open && make("button", { onclick: () => toggle(state) }, state.is_folded ? "Open" : "Fold"),
    ];
    const children = picture.drawing.states.filter(other => other.parent === state.id);
    const exits = state.exits.map((exit, nth) => exitLine(state, exit, nth, { picture, choose, read, forms }));
    const into = picture.drawing.states.flatMap(other => other.exits
        .map((exit, nth) => ({ other, exit, nth }))
        .filter(({ exit }) => exit.to === state.name)
        .map(({ other, exit, nth }) => make("li", { onpointerenter: () => picture.hint([other.id, nth]), onpointerleave: () => picture.hint(null) },
            link(other.name, () => choose(other.name, nth)), " ", make("span", { class: "soft" }, exit.label))));
    const parents = all.filter(other => !isInside(picture, other, state));
    return rebuild(panel, [
        make("h3", { class: "state-name" }, state.name, ...tags.map(tag => make("span", { class: "tag" }, tag))),
        make("div", { class: "buttons" }, buttons),
        ...(state.keys ? forms.state(state, { parents, children, parent }) : facts(state, parent, choose)),
        ...(children.length ? [make("h4", {}, "States in it"), make("ul", { class: "chips" }, children.map(child => make("li", {}, link(child.name, () => choose(child.name)))))] : []),
        make("h4", {}, exits.length ? `${count(exits.length, "exit")}, tried in this order` : "No exits"),
        make("ol", { class: "exits" }, exits),
        state.inherits_exits ? forms.takeExits(state) : state.keys && forms.addExit(state, choose),
        make("h4", {}, into.length ? `${count(into.length, "exit")} to it` : "No exit leads to it"),
        make("ul", { class: "plain" }, into),
        make("h4", {}, "Another state"),
        forms.addState(all, parent, choose),
    ]);
}

/** Whether a state is in another one, or is this one. */
function isInside(picture, state, around) {
    for (let at = state; at; at = picture.states.get(at.parent)) if (at === around) return true;
    return false;
}

/** What the file says of a state that is written elsewhere. */
function facts(state, parent, choose) {
    const all = [["Note", state.note], ["Behavior", state.behaviors.join(", ")], ["Script", state.script], ["Enter when", state.enter_when], ["Every", state.every],
        ["Machine", state.machine], ["Written in", state.file ?? "another machine"], ["Inside", parent && link(parent.name, () => choose(parent.name))]];
    return [make("dl", {}, all.filter(([, value]) => value).flatMap(([name, value]) => [make("dt", {}, name), make("dd", {}, value)]))];
}

function exitLine(state, exit, nth, { picture, choose, read, forms }) {
    const to = exit.to ? link(exit.to, () => choose(exit.to)) : make("em", {}, exit.leads);
    const isSelected = picture.selected.exit === nth;
    const canChange = state.written_exits?.length === state.exits.length && !state.inherits_exits;
    return make("li", {
        class: isSelected ? "chosen" : null,
        onpointerenter: () => picture.hint([state.id, nth]),
        onpointerleave: () => picture.hint(null),
    },
    make("span", { class: "to" }, exit.leads && exit.to ? `${exit.leads} ` : "→ ", to),
    make("span", { class: "when" }, exit.label || "always"),
    exit.note && !isSelected ? make("span", { class: "soft" }, exit.note) : null,
    make("span", { class: "acts" },
        canChange ? make("button", { class: "small", "aria-label": `Change exit ${nth + 1}`, "aria-expanded": String(isSelected), "data-keep": `${state.name} change ${nth}`,
            onclick: () => choose(state.name, isSelected ? null : nth) }, isSelected ? "Close" : "Change") : null,
        state.at ? make("button", { class: "small", "aria-label": `Show exit ${nth + 1} in the text`, onclick: () => read(exit.at) }, "Text") : null),
    isSelected && canChange ? forms.exit(state, nth, choose) : null);
}

/** What the panel shows of a file that has never been read without a mistake. */
function whatIsWrong({ message, help, labels }, read) {
    const [place] = labels;
    return [make("h3", {}, "The text has a mistake"), make("p", { class: "error-text" }, message),
        ...(help ? [make("p", { class: "soft" }, help)] : []),
        make("p", { class: "soft" }, "When it is mended, the picture is here."),
        ...(place ? [make("div", { class: "buttons" }, make("button", { onclick: () => read(place.at) }, "Show in the text"))] : [])];
}

/** Shows all states while none is selected. */
function overview(picture, choose) {
    const drawing = picture.drawing;
    if (!drawing) return [make("h3", {}, "No states yet"), make("p", { class: "soft" }, "Add the state in which a character begins.")];
    const line = state => make("li", {}, link(state.name, () => choose(state.name)),
        state.is_initial ? make("span", { class: "tag" }, "initial") : null, state.is_final ? make("span", { class: "tag" }, "final") : null,
        " ", make("span", { class: "soft" }, count(state.exits.length, "exit")));
    return [make("h3", {}, count(drawing.states.length, "state")),
        make("p", { class: "soft" }, "Select a state in the picture, or here."),
        make("ul", { class: "plain" }, drawing.states.map(line))];
}

const link = (name, act) => make("button", { class: "link", onclick: act }, name);
