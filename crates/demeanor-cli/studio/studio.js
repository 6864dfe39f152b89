// The studio: which file and machine is open, its text and its version, and how the parts of the page work together.

import { showDetails } from "./details.js";
import { byId, dismiss, later, notice } from "./elements.js";
import { Forms } from "./forms.js";
import { Game } from "./game.js";
import { Picture } from "./picture.js";
import { Proofs } from "./proof.js";
import { Run } from "./run.js";
import { searchable } from "./search.js";
import { News, Refused, ask } from "./server.js";
import { Text } from "./text.js";

/** The open file: `saved` is the text of the version `hash`, with `\n` at the end of each line; in the file, this can be `end`. */
const open = { path: null, machine: null, saved: "", hash: null, end: "\n", folded: new Set(), unfolded: new Set(), isBroken: false };
let files = [];
let lastFiles = "";
/** Whether the server has been reached. It then says which game to watch. */
let hasBegun = false;
let isAlive = false;
let problems = [];
/** The exits of the machine in the picture. */
let exits = [];

const source = () => ({ path: open.path, text: text.text, machine: open.machine });
const isEdited = () => open.hash !== null && text.text !== open.saved;

const picture = new Picture();
const text = new Text({ onEdit: edited, onCursor: follow, onSave: () => save() });
const run = new Run(source, picture);
const forms = new Forms({ change, attempt: edit => ask("change", { ...source(), edit }), act: changeOrTell, names: completions, remove });
const proofs = new Proofs(source, { onProof: found => { marksOf(problems, found); }, show: showProblem, play: playWitness });

const game = new Game({
    watch: wish => news.watch(wish), picture, choose: name => choose(name),
    machine: () => ({ states: new Set(names()), exits, isEdited: isEdited() }),
});

// ---- Files

/** Reads a file. The ends of its lines are remembered, and written again when it is saved. */
async function readFile(path) {
    const { text, hash } = await ask("file", { path });
    return taken({ text, hash });
}

function taken({ text, hash }) {
    return { text: text.replaceAll("\r\n", "\n"), hash, end: text.includes("\r\n") ? "\r\n" : "\n" };
}

async function openFile(path) {
    let file;
    try {
        file = await readFile(path);
    } catch (error) {
        notice("file", error instanceof Refused ? error.message : "The studio's server does not answer.", [["Close", null]]);
        byId("files").value = open.path ?? "";
        return;
    }
    dismiss("outside");
    Object.assign(open, { path, machine: null, saved: file.text, hash: file.hash, end: file.end, folded: new Set(), unfolded: new Set() });
    byId("files").value = path;
    document.title = `${path} – demeanor studio`;
    text.open(file.text);
    picture.clear();
    await drawNow(false);
}

/** The files of the folder have changed. */
async function takeFiles(told) {
    const isFirst = lastFiles === "";
    // The page has asked for the news of a game, too.
    if (!isFirst && JSON.stringify(told) === lastFiles) return;
    lastFiles = JSON.stringify(told);
    files = told.files;
    byId("files").replaceChildren(...files.map(({ path }) => new Option(path, path, false, path === open.path)));
    if (isFirst && open.path === null) {
        if (files.length) await openFile(files[0].path);
        return;
    }
    const now = files.find(({ path }) => path === open.path);
    if (!now) {
        if (open.path) notice("outside", `${open.path} is no longer there, or is no definition. Its text is still here.`);
        return;
    }
    if (now.hash !== open.hash && open.hash !== null && !isSaving) await takeOver();
    else drawLater(true);
}

/** The file has another text than the one that the page began with. */
async function takeOver() {
    const { path, hash } = open;
    const file = await readFile(path);
    // If this page has saved or opened a text in the meantime, what was read may be older. The news of this text come next.
    if (isSaving || open.path !== path || open.hash !== hash || file.hash === hash) return;
    if (isEdited() && file.text !== text.text) return conflict(file);
    dismiss("outside");
    Object.assign(open, { saved: file.text, hash: file.hash, end: file.end });
    text.replace(file.text);
    proofs.forget();
    await drawNow(true);
}

function conflict(file) {
    notice("outside", `${open.path} was changed outside while you edited it here.`, [
        ["Take the file's text", () => {
            Object.assign(open, { saved: file.text, hash: file.hash, end: file.end });
            text.replace(file.text);
            proofs.forget();
            drawNow(true);
        }],
        ["Keep mine, and replace the file", () => {
            Object.assign(open, { saved: file.text, hash: file.hash, end: file.end });
            save();
        }],
    ]);
    showStatus();
}

// ---- Edits and saving

function edited() {
    proofs.forget();
    showStatus();
    drawLater(true);
}

/** Makes an edit of the picture or of a form, after those before it. Fails if it is refused. */
let changes = Promise.resolve();
function change(edit) {
    const made = changes.then(() => changeNow(edit));
    changes = made.catch(() => {});
    return made;
}

async function changeNow(edit) {
    const before = text.text;
    const told = await ask("change", { ...source(), edit });
    // The text was edited in the meantime.
    if (text.text !== before) return changeNow(edit);
    if (told.text === before) return;
    if (edit.act === "rename_state") rename(edit.state, edit.name);
    text.change(told.text);
    await redraw();
}

/** A state that is renamed stays selected, folded, and where it is. */
function rename(from, part) {
    const state = picture.byName.get(from);
    const to = from.slice(0, from.length - state.part.length) + part;
    state.name = to;
    if (picture.selected?.name === from) picture.selected.name = to;
    for (const names of [open.folded, open.unfolded]) if (names.delete(from)) names.add(to);
}

function completions() {
    const { values = [], messages = [], behaviors = [], actions = [] } = run.words ?? {};
    return { states: names(), values: values.map(value => value.name), messages: messages.map(message => message.name), behaviors, actions };
}

/** Makes an edit that no form shows. If it is refused, this is told above the page, with buttons. */
async function changeOrTell(edit, buttonsOf = () => [["Close", null]]) {
    dismiss("edit");
    try {
        await change(edit);
        return true;
    } catch (error) {
        notice("edit", error instanceof Refused ? error.message : "The studio's server does not answer.", buttonsOf(error));
        return false;
    }
}

/** Deletes a state; if something refers to it, after a question. */
async function remove(state, with_exits = false) {
    const isUsed = refused => refused.told?.uses?.length;
    const isMade = await changeOrTell({ act: "delete_state", state, with_exits },
        refused => isUsed(refused) ? [["Delete these, too", () => remove(state, true)], ["Keep it", null]] : [["Close", null]]);
    if (isMade) await choose(null);
}

function stepBack(back) {
    if (back ? text.undo() : text.redo()) redraw();
}

/** Draws the text after an edit that was not typed. */
function redraw() {
    proofs.forget();
    showStatus();
    return drawNow(true);
}

let isSaving = false;
async function save(isSure = false) {
    if (isSaving || !isEdited()) return;
    isSaving = true;
    const written = text.text;
    try {
        const saved = await ask("save", { path: open.path, text: written.replaceAll("\n", open.end), hash: open.hash, even_broken: isSure });
        Object.assign(open, { saved: written, hash: saved.hash });
        dismiss("save");
        dismiss("outside");
    } catch (error) {
        if (error.status === 409) conflict(taken(error.told));
        else if (error.status === 422 && error.told.problems) askBroken(error.told.problems);
        else notice("save", `Not saved: ${error instanceof Refused ? error.message : "the studio's server does not answer"}. The text is still here.`, [["Close", null]]);
    } finally {
        isSaving = false;
        showStatus();
    }
}

function askBroken(found) {
    const dialog = byId("broken");
    byId("broken-why").textContent = found[0]?.message ?? "";
    dialog.returnValue = "";
    dialog.onclose = () => { if (dialog.returnValue === "save") save(true); };
    dialog.showModal();
}

function showStatus() {
    const [status, button] = [byId("status"), byId("save")];
    const [kind, told] = !isAlive ? ["gone", "The server has ended"]
        : open.isBroken ? ["broken", isEdited() ? "Edited, with a mistake" : "With a mistake"]
            : isEdited() ? ["edited", "Edited"] : ["saved", "Saved"];
    if (status.textContent !== told) status.textContent = told;
    status.className = kind;
    button.disabled = !isEdited() || !isAlive;
    byId("undo").disabled = !text.canUndo;
    byId("redo").disabled = !text.canRedo;
}

// ---- The picture

const drawLater = later(200, isSame => drawNow(isSame));
let drawn = 0;
async function drawNow(isSame, keepsPlaces = isSame) {
    if (open.path === null) return;
    const mine = drawn += 1;
    const wanted = { ...source(), folded: [...open.folded], unfolded: [...open.unfolded], former: keepsPlaces ? picture.places : {},
        is_new: !isSame && !open.folded.size && !open.unfolded.size };
    try {
        const told = await ask("picture", wanted);
        if (mine !== drawn) return;
        open.isBroken = false;
        const isSameMachine = picture.drawing !== undefined && isSame && (told.machine === open.machine || open.machine === null);
        open.machine = told.machine;
        showMachines(told.machines);
        for (const state of told.picture.states) if (state.is_folded && !state.machine) open.folded.add(state.name);
        Object.assign(told.picture, { like: told.like, words: told.written_words });
        picture.show(told.picture, isSameMachine);
        problems = told.problems;
        text.setProblems(problems);
        marksOf(problems, proofs.proof?.problems ?? []);
        exits = told.exits;
        game.redraw();
        run.setMachine(told.words, told.tick, isSameMachine);
        showPicturesNote("");
        details();
    } catch (error) {
        if (mine !== drawn) return;
        if (!(error instanceof Refused)) return showStatus();
        open.isBroken = true;
        problems = error.told.problems ?? [];
        text.setProblems(problems);
        if (!wanted.text.trim()) picture.clear();
        const note = picture.drawing ? "The picture is that of the last text without a mistake. " : "";
        showPicturesNote(!wanted.text.trim() ? "There are no states yet." : problems.length ? `${note}${problems[0].message}` : error.message);
        if (!picture.drawing) details();
    }
    showStatus();
}

function showPicturesNote(told) {
    byId("picture-note").hidden = !told;
    byId("picture-note").textContent = told;
}

function showMachines(machines) {
    byId("machine-chooser").hidden = machines.length < 2;
    byId("machines").replaceChildren(...machines.map(machine => new Option(machine, machine, false, machine === open.machine)));
}

/** Marks what the check and the proof have found. */
function marksOf(...lists) {
    const here = lists.flat().flatMap(problem => problem.places.filter(place => place.machine === open.machine)
        .map(({ state, exit }) => ({ state, exit, kind: problem.severity, text: problem.message })));
    picture.mark(here);
}

function toggle(state) {
    const [here, there] = state.is_folded ? [open.unfolded, open.folded] : [open.folded, open.unfolded];
    here.add(state.name);
    there.delete(state.name);
    return drawNow(true);
}

/** Selects a state, also one in a folded state, which is then opened. */
async function choose(name, exit = null, how = {}) {
    const hidden = picture.drawing?.hidden.find(state => state.name === name);
    for (const around of hidden?.around ?? []) {
        open.folded.delete(around);
        open.unfolded.add(around);
    }
    if (hidden) await drawNow(true);
    picture.select(name, exit, how);
}

function foldAll(isFolded) {
    const all = picture.drawing?.states.filter(state => state.can_open && state.is_folded !== isFolded) ?? [];
    for (const state of all) {
        (isFolded ? open.folded : open.unfolded).add(state.name);
        (isFolded ? open.unfolded : open.folded).delete(state.name);
    }
    if (all.length) drawNow(true).then(() => { if (!isFolded) foldAll(false); });
}

// ---- Selection

let shown = "";
function details() {
    showDetails(picture, { choose, read, toggle, forms, mistake: open.isBroken && text.text.trim() ? problems[0] : null });
    const chosen = `${picture.selected?.name} ${picture.selected?.exit}`;
    if (chosen !== shown && picture.selected?.exit !== null) byId("details").querySelector(".chosen")?.scrollIntoView({ block: "nearest" });
    shown = chosen;
}

function read(at) {
    showTab("text");
    text.reveal(at, true);
}

/** Selects the state in whose lines the cursor is. */
function follow(at) {
    if (open.isBroken) return;
    if (!picture.drawing) return;
    const before = picture.drawing.states.filter(state => state.at && state.at[0] <= at);
    const state = before.reduce((last, state) => !last || state.at[0] > last.at[0] ? state : last, null);
    if (!state) return;
    const exit = state.exits.findIndex(exit => exit.at[0] <= at && at <= exit.at[1]);
    picture.select(state.name, exit < 0 ? null : exit, { tells: false });
    details();
}

picture.addEventListener("select", () => {
    details();
    game.select(picture.selected?.name);
    const state = picture.selectedState;
    const at = state && (state.exits[picture.selected.exit]?.at ?? state.at);
    if (at && !byId("panel-text").hidden && !open.isBroken) text.reveal(at, false);
});
picture.addEventListener("fold", event => toggle(event.detail));
picture.addEventListener("connect", async ({ detail: { from, to } }) => {
    if (!await changeOrTell({ act: "add_exit", state: from.name, to: to.name })) return;
    showTab("state");
    forms.chooseNew(from, choose);
});
picture.addEventListener("open", () => { showTab("state"); byId("panel-state").focus(); });

function addState() {
    showTab("state");
    byId("new-state").scrollIntoView({ block: "nearest" });
    byId("new-state").focus();
}

/** Deletes the selected exit, or the selected state. */
async function deleteSelected() {
    const { name, exit } = picture.selected ?? {};
    if (name === undefined) return;
    if (exit === null) return remove(name);
    if (await changeOrTell({ act: "delete_exit", state: name, exit })) await choose(name, null, { focuses: true });
}

// ---- Proofs

async function showProblem(problem) {
    const place = problem.places.find(place => place.machine === open.machine) ?? problem.places[0];
    if (place && place.machine !== open.machine) {
        open.machine = place.machine;
        await drawNow(false);
    }
    const state = place && (picture.states.get(place.state) ?? picture.drawing.hidden.find(state => state.id === place.state));
    if (state) await choose(state.name, place.exit);
    else if (problem.labels[0]) read(problem.labels[0].at);
}

async function playWitness(problem) {
    if (problem.machine !== open.machine && problem.machine) {
        open.machine = problem.machine;
        await drawNow(false);
    }
    showTab("run");
    await run.play(problem.witness);
}

// ---- Tabs and keys

const tabs = [...document.querySelectorAll("[role=tab]")];
function showTab(name) {
    for (const tab of tabs) {
        const isShown = tab.id === `tab-${name}`;
        tab.setAttribute("aria-selected", String(isShown));
        tab.tabIndex = isShown ? 0 : -1;
        byId(tab.getAttribute("aria-controls")).hidden = !isShown;
    }
    if (name === "text") text.view.requestMeasure();
    game.shown = name === "game";
    if (name === "run") run.show();
}
for (const [nth, tab] of tabs.entries()) {
    tab.onclick = () => showTab(tab.id.slice(4));
    tab.onkeydown = event => {
        const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
        if (!step) return;
        const next = tabs[(nth + step + tabs.length) % tabs.length];
        showTab(next.id.slice(4));
        next.focus();
    };
}

document.addEventListener("keydown", event => {
    // With Caps Lock on, the browser names the key in upper case.
    const key = event.key.toLowerCase();
    if ((event.ctrlKey || event.metaKey) && !event.shiftKey && key === "s") {
        event.preventDefault();
        return save();
    }
    if ((event.ctrlKey || event.metaKey) && !event.altKey && (key === "z" || key === "y")) {
        const field = event.target.closest?.("input, .cm-editor");
        // In a field, the browser undoes what is typed there.
        if (field && (field.matches(".cm-editor") || field.value !== (field.dataset.was ?? ""))) return;
        event.preventDefault();
        return stepBack(key === "z" && !event.shiftKey);
    }
    const isTyping = event.target.closest?.("input:not([type=range], [type=checkbox]), select, textarea, [contenteditable=true], dialog");
    if (event.key === "Escape" && !event.target.closest("#search, dialog")) byId("picture").querySelector("[tabindex='0']")?.focus();
    if (isTyping || event.ctrlKey || event.metaKey || event.altKey) return;
    const keys = {
        "f": () => picture.view.fit(),
        "+": () => picture.view.zoomBy(1.25),
        "=": () => picture.view.zoomBy(1.25),
        "-": () => picture.view.zoomBy(1 / 1.25),
        "/": () => byId("search").focus(),
        "s": () => { showTab("run"); run.step(); },
        "p": () => { showTab("run"); run.toggle(); },
        "n": () => addState(),
        "e": () => { showTab("state"); byId("new-exit")?.focus(); },
        "Delete": () => deleteSelected(),
    };
    const act = keys[event.key];
    if (act) {
        event.preventDefault();
        act();
    }
});

byId("save").onclick = () => save();
byId("undo").onclick = () => stepBack(true);
byId("redo").onclick = () => stepBack(false);
byId("add-state").onclick = () => addState();
byId("files").onchange = event => {
    const path = event.target.value;
    if (isEdited()) event.target.value = open.path;
    leave(() => openFile(path));
};
/** Opens another file; if there are edits that are not saved, after a question. */
function leave(act) {
    if (!isEdited()) return act();
    notice("leave", `${open.path} has edits that are not saved.`, [
        ["Save them", async () => { await save(); if (!isEdited()) act(); }],
        ["Drop them", act],
        ["Stay", null],
    ]);
}
byId("new-file").onclick = () => {
    byId("new-name").value = "";
    byId("new-why").hidden = true;
    byId("new").showModal();
};
byId("new-cancel").onclick = () => byId("new").close();
byId("new").querySelector("form").onsubmit = async event => {
    event.preventDefault();
    const path = byId("new-name").value.trim();
    try {
        await ask("create", { path });
    } catch (error) {
        byId("new-why").hidden = false;
        byId("new-why").textContent = error instanceof Refused ? error.message : "The studio's server does not answer.";
        return;
    }
    byId("new").close();
    leave(async () => { await openFile(path); addState(); });
};
byId("machines").onchange = event => { open.machine = event.target.value; drawNow(false); };
byId("tidy").onclick = () => drawNow(true, false);
byId("fold-all").onclick = () => foldAll(true);
byId("unfold-all").onclick = () => foldAll(false);
const names = () => [...picture.drawing?.states ?? [], ...picture.drawing?.hidden ?? []].map(state => state.name);
searchable(names, name => choose(name, null, { focuses: true }));
addEventListener("beforeunload", event => { if (isEdited()) event.preventDefault(); });

const live = alive => { isAlive = alive; showStatus(); };
const news = new News({
    hello: told => {
        live(true);
        game.version = told.version;
        if (told.game && !hasBegun) game.begin(told.game);
        hasBegun = true;
    },
    files: told => takeFiles(told),
    game: told => game.take(told),
    lost: () => live(false),
});
