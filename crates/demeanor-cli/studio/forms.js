// The forms that change a state and its exits. Each field shows what is wrong with its text while it is typed, and takes it over when
// Enter is pressed or the field is left.

import { later, make } from "./elements.js";
import { Refused } from "./server.js";

const KEYWORDS = ["and", "or", "not", "time_in_state", "in", "chance", "message.", "true", "false"];
/** The keys of a state and of an exit that have a field: key, label, what is completed in it. A flag is `true` or not there. */
const STATE = [["behavior", "Does", "behaviors"], ["note", "Note"]];
const MORE_OF_STATE = [["enter_when", "Enter only when", "condition"], ["every", "Decides every"], ["enter", "When entered, do", "actions"],
    ["exit", "When left, do", "actions"], ["ignore", "Ignores messages", "messages"], ["choose", "Chooses its exit", "ways"], ["region", "Region"],
    ["machine", "Runs machine"], ["script", "Script"], ["params", "Parameters"], ["final", "Is an end", "flag"], ["history", "Remembers where it was", "flag"], ["entry", "The game enters it", "flag"]];
const WHEN = [["when", "When", "condition"]];
const EXIT = [["on", "On message", "messages"], ["after", "After"], ["cooldown", "Cooldown"], ["weight", "Weight", "values"]];
const MORE_OF_EXIT = [["score", "Score", "values"], ["at", "At the time", "values"], ["do", "Do", "actions"], ["set", "Set"], ["note", "Note"],
    ["always", "Also at once", "flag"], ["restart", "Also if active", "flag"], ["even_final", "Also from an end", "flag"]];
const WIDE = new Set(["when", "enter_when", "note"]);
const PROPERTY = [["never", "Never", "condition"], ["always", "Always", "condition"], ["from", "From", "condition"], ["reach", "Reach", "condition"], ["within", "Within"]];
const EXAMPLES = { params: "{ speed = 2.0 }", within: "10 s", after: "2 s", every: "0.5 s", cooldown: "4 s", set: "{ alarm = true }", do: "roar", when: "health > 20", choose: "best" };

let made = 0;
let isRebuilding = false;

export class Forms {
    /** `change(edit)` makes an edit and `attempt(edit)` only asks; both fail with why not, which `act(edit)` tells. `names()` gives what
     * can be completed, and `remove(state)` deletes a state. */
    constructor({ change, attempt, act, names, remove }) {
        Object.assign(this, { change, attempt, act, names, remove });
        this.completions = make("datalist", { id: "completions" });
        document.body.append(this.completions);
    }

    // ---- A field

    /** A text field. `edit(text)` is the edit that takes its text over; an empty text is `null`. */
    #field({ name, keep, value = "", inherited, completes, edit, example, isWide }) {
        const error = this.#error();
        const input = make("input", {
            value, "data-keep": keep, "data-was": value, "aria-describedby": error.id, autocomplete: "off", spellcheck: "false", placeholder: inherited ?? (example ? `such as ${example}` : null),
            list: completes ? "completions" : null,
        });
        const text = () => input.value.trim() || null;
        const isSame = () => input.value === input.dataset.was;
        const attempt = later(150, async () => {
            const tried = input.value;
            const why = isSame() || !input.isConnected ? null : await whyNot(this.attempt(edit(text())));
            if (input.value === tried) tell(input, error, isSame() ? null : why);
        });
        input.addEventListener("focus", () => this.#complete(input, completes));
        input.addEventListener("input", () => { this.#complete(input, completes); attempt(); });
        // There is no event `change` in a field that was put into the place of another while it was typed in.
        const take = async () => {
            if (isSame() || isRebuilding) return;
            const was = input.dataset.was;
            input.dataset.was = input.value;
            if (!await this.#make(edit(text()), input, error)) input.dataset.was = was;
        };
        input.addEventListener("blur", take);
        input.addEventListener("keydown", event => {
            if (event.key === "Enter") take();
            if (event.key !== "Escape") return;
            input.value = input.dataset.was;
            tell(input, error, null);
        });
        return make("div", { class: isWide ? "field wide" : "field" }, make("label", {}, make("span", {}, name), input), error);
    }

    #flag({ name, keep, value, inherited, edit }) {
        const error = this.#error();
        const is = () => String(input.checked);
        const input = make("input", { type: "checkbox", checked: (value ?? inherited) === "true", "data-keep": keep, "aria-describedby": error.id,
            onchange: () => this.#make(edit(is() === (inherited ?? "false") ? null : is()), input, error) });
        return make("div", { class: "field" }, make("label", { class: "flag" }, input, make("span", {}, name)), error);
    }

    #choice({ name, keep, value, options, edit }) {
        const error = this.#error();
        const input = make("select", { "data-keep": keep, "aria-describedby": error.id, onchange: () => this.#make(edit(input.value || null), input, error) },
            options.map(([value, label]) => make("option", { value }, label)));
        input.value = value ?? "";
        return make("div", { class: "field" }, make("label", {}, make("span", {}, name), input), error);
    }

    #error() {
        made += 1;
        return make("p", { class: "error-text", id: `why-${made}`, hidden: true });
    }

    async #make(edit, input, error, then) {
        const why = await whyNot(this.change(edit));
        // The panel may have been drawn again in the meantime.
        const again = input.isConnected ? null : find(document, input.dataset.keep);
        if (again) tell(again, errorOf(again), why);
        else tell(input, error, why);
        if (!why) await then?.();
        return !why;
    }

    /** A button that makes an edit. */
    #button(name, keep, edit, { label = null, then = null, disabled = false } = {}) {
        const act = async () => { if (await this.act(edit())) await then?.(); };
        return make("button", { "data-keep": keep, "aria-label": label, disabled, onclick: act }, name);
    }

    /** Offers what can follow at the end of a text. */
    #complete(input, completes) {
        const names = this.names();
        const all = {
            states: names.states, behaviors: names.behaviors, actions: names.actions, messages: names.messages, values: names.values,
            ways: ["first", "best", "random"], condition: [...names.values, ...names.states.map(state => `in(${state})`), ...KEYWORDS],
        }[completes] ?? [];
        const isList = completes === "messages" || completes === "condition";
        const start = isList ? input.value.search(/[\w.]*$/) : 0;
        const [before, begun] = [input.value.slice(0, start), input.value.slice(start)];
        const found = all.filter(name => name !== begun && name.toLowerCase().includes(begun.toLowerCase()));
        this.completions.replaceChildren(...[...new Set(found)].slice(0, 100).map(name => new Option("", before + name)));
    }

    /** The fields of some keys. One that is not written shows what it is without this: `inherited` has it by key. */
    #fields(keys, written, keep, edit, inherited = {}) {
        return keys.map(([key, name, completes]) => {
            const label = written[key] === undefined && inherited[key] !== undefined ? `${name} (inherited)` : name;
            const given = { name: label, keep: `${keep} ${key}`, value: written[key], inherited: inherited[key], edit: value => edit(key, value) };
            return completes === "flag" ? this.#flag(given) : this.#field({ ...given, completes, example: EXAMPLES[key], isWide: WIDE.has(key) });
        });
    }

    #more(keys, written, keep, edit, inherited = {}) {
        const used = keys.filter(([key]) => written[key] !== undefined || inherited[key] !== undefined).length;
        return make("details", { "data-open": keep, open: used > 0 }, make("summary", {}, used ? `More (${used} used)` : "More"),
            make("div", { class: "fields" }, this.#fields(keys, written, keep, edit, inherited)));
    }

    // ---- States

    /** The fields of a state. `parents` are the states in which it can be, `children` those in it. */
    state(state, { parents, children, parent }) {
        const name = state.name;
        const set = (key, value) => ({ act: "set_state", state: name, key, value });
        const begins = () => parent ? { act: "set_state", state: parent.name, key: "initial", value: state.part } : { act: "set_machine", key: "initial", value: name };
        const isFirst = parent ? [name, state.part].includes(parent.keys?.initial) : state.is_initial;
        const begun = children.find(child => [child.name, child.part].includes(state.keys.initial))?.part ?? "";
        return [
            make("div", { class: "fields" },
                this.#field({ name: "Name", keep: `${name} name`, value: state.part, edit: to => ({ act: "rename_state", state: name, name: to ?? "" }) }),
                this.#choice({ name: "Inside", keep: `${name} parent`, value: parent && place(parent, state.region), edit: to => ({ act: "move_state", state: name, ...placed(to) }), options: places(parents) }),
                children.length && !state.regions.length ? this.#choice({ name: "Begins with", keep: `${name} initial`, value: begun, edit: value => set("initial", value),
                    options: [...begun ? [] : [["", ""]], ...children.map(child => [child.part, child.part])] }) : null,
                this.#fields(STATE, state.keys, name, set, state.inherited)),
            this.#more(MORE_OF_STATE, state.keys, name, set, state.inherited),
            make("div", { class: "buttons" },
                !isFirst && !parent?.regions.length ? this.#button("Begin here", `${name} begin`, begins) : null,
                parent ? null : this.#button(state.is_global ? "Not global" : "Make global", `${name} global`, () => ({ act: "set_machine", key: "global", value: state.is_global ? null : name })),
                make("button", { "data-keep": `${name} delete`, onclick: () => this.remove(name) }, "Delete state")),
        ];
    }

    /** Tells why an edit cannot be made, a moment after it was typed, unless other text is typed meanwhile. */
    #check(field, error, edit) {
        return later(150, async () => {
            const typed = field.value;
            const why = typed.trim() ? await whyNot(this.attempt(edit())) : null;
            if (field.value === typed) tell(field, error, why);
        });
    }

    /** Adds a state, by name. */
    addState(states, around, choose) {
        const error = this.#error();
        const name = make("input", { "data-keep": "new state", "aria-describedby": error.id, autocomplete: "off", spellcheck: "false", id: "new-state" });
        const inside = make("select", { "data-keep": "new state inside" }, places(states).map(([value, label]) => make("option", { value }, label)));
        inside.value = around ? place(around, 0) : "";
        const edit = () => ({ act: "add_state", name: name.value.trim(), ...placed(inside.value) });
        name.addEventListener("input", this.#check(name, error, edit));
        const submit = event => {
            event.preventDefault();
            const added = name.value.trim();
            this.#make(edit(), name, error, async () => {
                // While the state is drawn, the next name may be typed already.
                const field = find(document, "new state");
                if (field?.value.trim() === added) field.value = "";
                await choose(added);
                focusOn("new state");
            });
        };
        return make("form", { class: "add", onsubmit: submit, "aria-label": "Add a state" }, make("label", {}, make("span", {}, "New state"), name),
            states.length ? make("label", {}, make("span", {}, "Inside"), inside) : null, make("button", { "data-keep": "new state add" }, "Add state"), error);
    }

    // ---- The words of the file

    /** The properties, the constants and the conditions. */
    words({ properties, constants, conditions }) {
        const set = (kind, name, value) => ({ act: "set_word", kind, name, value });
        const list = (kind, words, completes) => words.map(([name, value]) => this.#field({ name, keep: `${kind} ${name}`, value, completes, isWide: true, edit: value => set(kind, name, value) }));
        const property = ([name, keys]) => make("li", {}, make("h5", {}, name),
            make("div", { class: "fields" }, this.#fields(PROPERTY, Object.fromEntries(keys), `property ${name}`, (key, value) => ({ ...set("properties", name, value), key }))),
            make("div", { class: "buttons" }, this.#button("Delete property", `property ${name} delete`, () => set("properties", name, null), { label: `Delete property ${name}` })));
        const used = properties.length + constants.length + conditions.length;
        return make("details", { "data-open": "words", open: used > 0 }, make("summary", {}, used ? `Properties and words (${used})` : "Properties and words"),
            make("h4", {}, "Properties: what must hold"), make("ul", { class: "words" }, properties.map(property)),
            this.#addWord("property", "Never", "condition", (name, value) => ({ ...set("properties", name, value), key: "never" })),
            make("h4", {}, "Constants: numbers with a name"), list("constants", constants),
            this.#addWord("constant", "Value", null, (name, value) => set("constants", name, value)),
            make("h4", {}, "Conditions with a name"), list("conditions", conditions, "condition"),
            this.#addWord("condition", "When", "condition", (name, value) => set("conditions", name, value)));
    }

    /** Adds a word, by its name and its value. */
    #addWord(what, label, completes, edit) {
        const error = this.#error();
        const field = (keep, more) => make("input", { "data-keep": `new ${what}${keep}`, "data-stays": true, "aria-describedby": error.id, autocomplete: "off", spellcheck: "false", ...more });
        const name = field("", {});
        const value = field(" value", { list: completes ? "completions" : null });
        for (const event of ["focus", "input"]) value.addEventListener(event, () => this.#complete(value, completes));
        const submit = event => {
            event.preventDefault();
            this.#make(edit(name.value.trim(), value.value.trim()), value, error, () => {
                name.value = value.value = "";
                for (const keep of ["", " value"]) { const again = find(document, `new ${what}${keep}`); if (again) again.value = ""; }
            });
        };
        return make("form", { class: "add", onsubmit: submit, "aria-label": `Add a ${what}` }, make("label", {}, make("span", {}, `New ${what}`), name),
            make("label", {}, make("span", {}, label), value), make("button", { "data-keep": `new ${what} add` }, `Add ${what}`), error);
    }

    // ---- Exits

    /** Copies the exits that a state has from another machine, so that they can be changed here. */
    takeExits(state) {
        return this.#button("Write its exits here", `${state.name} take exits`, () => ({ act: "take_exits", state: state.name }));
    }

    /** The fields of the exit of a state. */
    exit(state, nth, choose) {
        const written = state.written_exits[nth];
        const keep = `${state.name} exit ${nth}`;
        const set = (key, value) => ({ act: "set_exit", state: state.name, exit: nth, key, value });
        const leads = ["to", "push", "resume"].find(key => written[key] !== undefined);
        const last = state.exits.length - 1;
        const shift = (name, to) => this.#button(name, `${state.name} exit ${to} ${name}`, () => ({ act: "move_exit", state: state.name, exit: nth, to }),
            { label: `Move exit ${nth + 1} ${name.toLowerCase()}`, then: () => { choose(state.name, to); focusOn(`${state.name} exit ${name === "Up" ? to - 1 : to + 1} ${name}`); }, disabled: to < 0 || to > last });
        return make("div", { class: "form" },
            make("div", { class: "fields" },
                this.#fields(WHEN, written, keep, set),
                leads ? this.#fields([[leads, { to: "Leads to", push: "Pushes", resume: "Resumes" }[leads], "states"]], written, keep, set) : null,
                this.#fields(EXIT, written, keep, set)),
            this.#more(MORE_OF_EXIT, written, keep, set),
            make("div", { class: "buttons" }, shift("Up", nth - 1), shift("Down", nth + 1),
                this.#button("Delete exit", `${keep} delete`, () => ({ act: "delete_exit", state: state.name, exit: nth }),
                    { label: `Delete exit ${nth + 1}`, then: () => { choose(state.name, null); focusOn("new exit"); } })));
    }

    /** Adds an exit to a state that is named. */
    addExit(state, choose) {
        const error = this.#error();
        const to = make("input", { id: "new-exit", "data-keep": "new exit", "aria-describedby": error.id, list: "completions", autocomplete: "off", spellcheck: "false" });
        const edit = () => ({ act: "add_exit", state: state.name, to: to.value.trim() });
        to.addEventListener("focus", () => this.#complete(to, "states"));
        to.addEventListener("input", () => this.#complete(to, "states"));
        to.addEventListener("input", this.#check(to, error, edit));
        const submit = event => {
            event.preventDefault();
            this.#make(edit(), to, error, () => { to.value = ""; return this.chooseNew(state, choose); });
        };
        return make("form", { class: "add", onsubmit: submit, "aria-label": "Add an exit" }, make("label", {}, make("span", {}, "New exit to"), to), make("button", { "data-keep": "new exit add" }, "Add exit"), error);
    }

    /** Selects the exit that has been added to a state, with the cursor in its condition. */
    async chooseNew(state, choose) {
        const nth = state.exits.length;
        await choose(state.name, nth);
        focusOn(`${state.name} exit ${nth} when`);
    }
}

/** Shows why a field cannot have its text, or that it can. */
function tell(field, error, why) {
    error.hidden = !why;
    error.textContent = why ?? "";
    if (why) field.setAttribute("aria-invalid", "true");
    else field.removeAttribute("aria-invalid");
}

async function whyNot(asked) {
    try {
        await asked;
        return null;
    } catch (error) {
        return reason(error);
    }
}

const reason = error => error instanceof Refused ? error.message : "The studio's server does not answer.";

/** Where a state can be, as the value and the text of an option: in no other state, or in a state, or in one of its regions. */
const places = states => [["", "no other state"], ...states.flatMap(state => state.regions?.length
    ? state.regions.map((region, nth) => [place(state, nth), `${state.name}: ${region}`]) : [[place(state, 0), state.name]])];
const place = (state, region) => JSON.stringify([state.name, state.regions?.[region] ?? null]);

function placed(value) {
    const [parent, region] = value ? JSON.parse(value) : [null, null];
    return { parent, region };
}

const errorOf = field => field.closest(".field, .add").querySelector(".error-text");
const find = (panel, keep) => [...panel.querySelectorAll("[data-keep]")].find(field => field.dataset.keep === keep);

function focusOn(keep) {
    const field = find(document, keep);
    field?.scrollIntoView({ block: "nearest" });
    field?.focus();
}

/** Replaces what a panel shows. The field with the focus, what is typed in fields and not taken over, and what is open stay. */
export function rebuild(panel, parts) {
    const focused = panel.contains(document.activeElement) ? document.activeElement : null;
    const isBegun = field => field === focused || field.getAttribute("aria-invalid") === "true" || field.dataset.stays !== undefined;
    const begun = [...panel.querySelectorAll("input[data-keep]:not([type=checkbox])")].filter(isBegun);
    const refused = [...panel.querySelectorAll(":is(select, [type=checkbox], [data-stays])[data-keep][aria-invalid=true]")].map(field => [field.dataset.keep, errorOf(field).textContent]);
    const inside = focused?.closest(".add")?.querySelector("select")?.value;
    const open = new Map([...panel.querySelectorAll("[data-open]")].map(part => [part.dataset.open, part.open]));
    const top = panel.parentElement.scrollTop;
    isRebuilding = true;
    panel.replaceChildren(...parts.filter(Boolean));
    isRebuilding = false;
    for (const part of panel.querySelectorAll("[data-open]")) part.open = open.get(part.dataset.open) || part.open;
    for (const field of begun) {
        const again = find(panel, field.dataset.keep);
        if (!again || again.value === field.value) continue;
        again.value = field.value;
        again.dispatchEvent(new Event("input"));
    }
    // What was chosen and refused is no longer chosen, but the page still says why.
    for (const [keep, why] of refused) {
        const again = find(panel, keep);
        if (again) tell(again, errorOf(again), why);
    }
    const select = panel.querySelector(".add select");
    if (inside !== undefined && select) select.value = inside;
    panel.parentElement.scrollTop = top;
    const again = focused?.dataset.keep && find(panel, focused.dataset.keep);
    if (!again) return;
    again.focus({ preventScroll: true });
    if (focused.selectionStart !== undefined && focused.selectionStart !== null && again.type !== "checkbox") again.setSelectionRange?.(focused.selectionStart, focused.selectionEnd);
}
