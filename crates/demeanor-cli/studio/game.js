// A running game that is watched: how many characters are in each state, where they go, and one of them.

import { make, refill, seconds } from "./elements.js";
import { Breakpoints } from "./breakpoints.js";
import { linesOf } from "./data.js";
import { Flow } from "./flow.js";
import { MessageList } from "./messages.js";
import { Past } from "./past.js";
import { Refused, ask } from "./server.js";

/** How many changes of a character are listed, and how many differences between the file and the game. */
const MOST_CHANGES = 12;
const MOST_DIFFERENCES = 4;
/** How many properties that failed are listed. */
const MOST_VIOLATED = 4;

const ADVICE = "A game that shows its characters with demeanor-inspector prints an address. Write it here: then the picture shows the characters of the running game.";
const grouped = new Intl.NumberFormat("en-US");
/** Returns a number per second as text. */
export const rateText = rate => `${rate >= 10 ? grouped.format(Math.round(rate)) : rate.toFixed(rate >= 1 ? 1 : 2)}/s`;

export class Game {
    /** `watch(wish)` asks the server for a game's news. `picture` shows them, `machine()` returns the names of the states and the exits
     * of the machine in the picture and whether its text was edited, and `choose(name)` selects a state. */
    constructor({ watch, picture, machine, choose }) {
        Object.assign(this, { watch, picture, machine, choose, address: null, wish: {}, crowds: new Map(), chosen: null, owner: null, isShown: false, selected: null, breakpoints: new Breakpoints(), reason: null, moment: null });
        this.#build();
    }

    #build() {
        const part = (name, attributes, ...children) => make(name, attributes, ...children);
        this.field = part("input", { id: "game-address", autocomplete: "off", spellcheck: "false", placeholder: "such as 127.0.0.1:7878" });
        this.button = part("button", { id: "game-watch" }, "Watch");
        const form = part("form", { class: "add", onsubmit: event => { event.preventDefault(); this.#toggle(); } },
            part("label", {}, part("span", {}, "Address of the game's inspector"), this.field), this.button);
        this.status = part("p", { id: "game-status", role: "status" });
        this.advice = part("p", { class: "soft" }, ADVICE);
        this.pause = part("button", { id: "game-pause", onclick: () => this.#command({ do: this.isPaused ? "resume" : "pause" }) }, "Pause");
        this.step = part("button", { id: "game-step", onclick: () => this.#command({ do: "step" }) }, "Step");
        this.commands = part("span", { class: "bar", hidden: true }, this.pause, this.step);
        this.stopped = part("button", { id: "game-stopped", class: "small", hidden: true }, "Follow it");
        this.breaks = part("ul", { id: "game-breaks", class: "chips", "aria-label": "Breakpoints", hidden: true });
        this.chooser = part("select", { id: "game-crowd", "aria-label": "Characters", onchange: () => this.#chooseCrowd(this.chooser.value) });
        this.figures = part("span", { id: "game-figures", class: "soft" });
        this.slider = part("input", { id: "game-moment", type: "range", min: 0, step: 1, "aria-label": "Moment that is shown", oninput: () => this.#goTo(Number(this.slider.value)) });
        this.then = part("output", { id: "game-then", for: "game-moment" });
        this.back = part("button", { id: "game-live", "aria-pressed": "true", onclick: () => this.#goTo(Infinity) }, "Live");
        this.match = part("p", { id: "game-match", role: "status" });
        this.differences = part("ul", { class: "plain", "aria-label": "What is different in the game" });
        this.list = part("button", { id: "game-list", type: "button", hidden: true });
        this.breakState = part("button", { id: "game-break", type: "button", "aria-pressed": "false", hidden: true, onclick: () => this.#toggleBreak({ crowd: this.crowd, state: this.selected }) });
        this.breakProperty = part("button", { id: "game-break-property", type: "button", "aria-pressed": "false", onclick: () => this.#toggleBreak({ crowd: this.crowd, property: null }) }, "Pause when a property fails");
        this.violated = part("ul", { id: "game-violated", class: "plain", "aria-label": "Properties that failed" });
        this.breaking = part("div", { hidden: true }, part("h3", {}, "Breakpoints"), part("div", { class: "bar" }, this.breakState, this.breakProperty), this.breaks, this.violated);
        this.text = part("input", { id: "game-search", type: "search", autocomplete: "off", spellcheck: "false" });
        const search = part("form", { class: "add", onsubmit: event => { event.preventDefault(); this.#search(this.text.value.trim()); } },
            part("label", {}, part("span", {}, "Key or name of a character"), this.text), part("button", {}, "Search"), this.list);
        this.found = part("ul", { id: "game-found", class: "plain", "aria-label": "Characters that were found" });
        this.foundNote = part("p", { id: "game-found-note", class: "soft", role: "status", hidden: true });
        this.about = part("div", { id: "game-owner" });
        this.filter = part("input", { id: "game-message-filter", type: "search", autocomplete: "off", spellcheck: "false", "aria-label": "Filter messages", placeholder: "Filter messages", oninput: () => this.#showMessages() });
        this.unhandled = part("input", { id: "game-unhandled", type: "checkbox", oninput: () => this.#showMessages() });
        this.messageNote = part("p", { class: "soft" });
        this.messages = part("ol", { id: "game-messages", class: "log", "aria-label": "Messages" });
        this.messaging = part("div", { hidden: true }, part("h3", {}, "Messages, the newest first"), part("div", { class: "bar" }, this.filter, part("label", { class: "check" }, this.unhandled, " only unhandled")), this.messageNote, this.messages);
        this.before = part("p", { id: "game-before", hidden: true });
        this.seen = part("div", { hidden: true }, part("div", { class: "bar" }, this.chooser, this.figures), part("div", { class: "bar moments" }, this.slider, this.then, this.back), this.match, this.differences,
            this.breaking, part("h3", {}, "One character"), search, this.foundNote, this.found, this.before, this.about, this.messaging);
        document.getElementById("panel-game").replaceChildren(form, this.advice, part("div", { class: "bar" }, this.status, this.stopped, part("span", { class: "spacer" }), this.commands), this.seen);
    }

    // ---- What the user does

    #toggle() {
        if (this.address) return this.stop();
        const address = this.field.value.trim();
        if (address) this.begin(address);
    }

    /** Watches a game. */
    begin(address) {
        this.field.value = this.address = address;
        this.button.textContent = "Stop watching";
        this.advice.hidden = true;
        this.chosen = null;
        this.#say("waiting", `Looking for a game at ${address}.`);
        this.#want({});
    }

    stop() {
        this.address = null;
        this.button.textContent = "Watch";
        this.advice.hidden = false;
        this.advice.textContent = ADVICE;
        this.#say("", "");
        this.#forget();
        this.#want({});
    }

    /** What is known of a game that has ended. */
    #forget() {
        Object.assign(this, { crowds: new Map(), owner: null, breakpoints: new Breakpoints(), reason: null, moment: null });
        this.seen.hidden = this.commands.hidden = this.stopped.hidden = true;
        this.picture.showGame(null);
    }

    /** Asks for the news of the game, with those of a character or with the results of a search. */
    #want(wish) {
        this.wish = wish;
        this.owner = null;
        this.found.replaceChildren();
        this.foundNote.hidden = true;
        this.about.replaceChildren();
        this.watch(this.address ? { game: this.address, ...wish } : {});
        this.#highlight();
    }

    #chooseCrowd(name) {
        this.chosen = name;
        this.moment = null;
        this.#want({});
        this.#show();
    }

    #search(text) {
        if (text) this.#want({ crowd: this.crowd, search: text });
    }

    /** Offers to list the characters in the selected state, and to pause when one enters it. */
    select(name) {
        this.selected = name;
        this.#showBreaks();
        this.list.hidden = !name;
        this.list.textContent = `Characters in ${name}`;
        this.list.onclick = () => this.#want({ crowd: this.crowd, state: name });
    }

    #follow(owner) {
        this.#want({ crowd: this.crowd, owner });
    }

    #toggleBreak(breakpoint) {
        return this.#command(this.breakpoints.toggle(breakpoint));
    }

    /** Breakpoints need the journal, which records who enters a state. */
    #showBreaks() {
        const crowd = this.crowds.get(this.crowd);
        this.breaking.hidden = this.commands.hidden || !crowd?.picture.flow;
        this.breakState.hidden = !this.selected;
        this.breakState.textContent = `Pause when one enters ${this.selected}`;
        this.breakState.setAttribute("aria-pressed", String(this.breakpoints.has({ crowd: this.crowd, state: this.selected })));
        this.breakProperty.setAttribute("aria-pressed", String(this.breakpoints.has({ crowd: this.crowd, property: null })));
        const { all } = this.breakpoints;
        this.breaks.hidden = !all.length;
        refill(this.breaks, all, () => all.map(breakpoint => make("li", {}, make("button", { class: "small", "aria-label": `Remove: ${Breakpoints.text(breakpoint)}`, onclick: () => this.#toggleBreak(breakpoint) }, `${Breakpoints.text(breakpoint)} ✕`))));
        const violated = (crowd?.picture.recent?.violated ?? []).slice(0, MOST_VIOLATED);
        refill(this.violated, violated, () => violated.map(({ owner, label, property, path, seconds: at }) => make("li", {},
            make("button", { class: "link", onclick: () => this.#follow(owner) }, named(label, owner)), ` fails ${property} in ${path} at ${at.toFixed(1)} s`)));
    }

    #showMessages() {
        const crowd = this.crowds.get(this.crowd);
        this.messaging.hidden = !crowd?.picture.messages;
        if (this.messaging.hidden) return;
        const { found, more } = crowd.messages.find(this.filter.value, this.unhandled.checked);
        const { lost } = crowd.messages;
        this.messageNote.textContent = [more ? `${grouped.format(more)} more match.` : "", lost ? `${grouped.format(lost)} came too fast to be listed.` : "", found.length ? "" : "None."].filter(Boolean).join(" ");
        const name = ({ owner, label }) => make("button", { class: "link", onclick: () => this.#follow(owner) }, named(label, owner));
        refill(this.messages, [this.crowd, found.map(({ number }) => number)], () => found.map(({ seconds: at, from, to, text, handled_by }) => make("li", {}, make("span", { class: "soft" }, `${at.toFixed(1)} s`),
            make("span", {}, from ? name(from) : "", from ? " to " : "to ", name(to), `: ${text}, `, make("span", { class: handled_by ? "soft" : "error-text" }, handled_by ? `handled by ${handled_by}` : "unhandled")))));
    }

    async #command(command) {
        try {
            await ask("game", { game: this.address, ...command });
        } catch (error) {
            this.#say("gone", error instanceof Refused ? error.message : "The studio's server does not answer.");
        }
    }

    // ---- News

    take({ kind, told }) {
        if (!this.address) return;
        const take = { gone: told => this.#gone(told), hello: told => this.#hello(told), status: told => this.#paused(told), picture: told => this.#picture(told),
            owner: told => this.#owner(told), found: told => this.#found(told) }[kind];
        take?.(told);
    }

    #gone(why) {
        this.#forget();
        this.#say("gone", `${why[0].toUpperCase()}${why.slice(1)}.`);
    }

    #hello({ commands, version }) {
        this.commands.hidden = !commands;
        const isOther = this.version !== version;
        this.advice.hidden = !isOther;
        this.advice.textContent = `The game has version ${version} of the inspector, and the studio ${this.version}: not everything may be shown.`;
        if (!this.crowds.size) this.#say("waiting", "The game is there, and has shown no characters yet.");
    }

    #paused({ paused, stop, breakpoints }) {
        this.isPaused = paused;
        this.reason = stop;
        this.breakpoints = new Breakpoints(breakpoints);
        this.stopped.hidden = !stop;
        if (stop) this.stopped.onclick = () => { this.chosen = stop.crowd; this.#want({ crowd: stop.crowd, owner: stop.owner }); this.#show(); };
        this.#showBreaks();
        this.pause.textContent = paused ? "Resume" : "Pause";
        this.step.disabled = !paused;
        if (this.crowds.size) this.#live();
    }

    #live() {
        this.#say(this.isPaused ? "waiting" : "live", this.isPaused ? `The game is paused${this.reason ? `: ${this.reason.why}` : ""}.` : "The game is running.");
    }

    #say(kind, told) {
        this.status.className = kind;
        if (this.status.textContent !== told) this.status.textContent = told;
    }

    #picture(picture) {
        const name = picture.crowd;
        let crowd = this.crowds.get(name);
        if (!crowd || picture.at < crowd.picture.at) {
            this.crowds.set(name, crowd = { flow: new Flow(), past: new Past(), messages: new MessageList(), since: null, isSame: null });
            this.#takePast(name, crowd);
        }
        crowd.picture = picture;
        crowd.flow.note(picture);
        crowd.past.note(picture);
        if (picture.messages) crowd.messages.note(picture.messages);
        this.#live();
        this.seen.hidden = false;
        this.#show();
    }

    /** Asks for what was before the game was watched. */
    async #takePast(name, crowd) {
        try {
            crowd.past.extend(await ask("history", { game: this.address, crowd: encodeURIComponent(name) }));
            if (this.crowds.get(name) === crowd) this.#show();
        } catch { /* A game with another version may not have it. */ }
    }

    /** The moment that is shown: only in the past. */
    #moment(crowd) {
        return this.moment === null || !crowd ? null : crowd.past.moments[crowd.past.place(this.moment)];
    }

    #goTo(nth) {
        const moments = this.crowds.get(this.crowd)?.past.moments ?? [];
        this.moment = nth < moments.length - 1 ? moments[nth].at : null;
        this.#show();
        this.#highlight();
    }

    #showMoment({ past }, then) {
        this.slider.max = past.moments.length - 1;
        this.slider.value = then ? past.place(this.moment) : past.moments.length - 1;
        this.then.textContent = then ? `At ${then.seconds.toFixed(1)} s` : "Now";
        this.slider.setAttribute("aria-valuetext", this.then.textContent);
        this.back.setAttribute("aria-pressed", String(!then));
    }

    /** The name of the characters that are shown: those that the user has chosen, or the first ones that have states of the picture. */
    get crowd() {
        if (this.crowds.has(this.chosen)) return this.chosen;
        const names = [...this.crowds.keys()];
        return names.find(name => this.#knows(this.crowds.get(name))) ?? names[0];
    }

    #knows({ picture }) {
        const { states } = this.machine();
        return picture.states.some(({ path }) => path.some(state => states.has(state)));
    }

    /** Shows the characters that are chosen, also after the machine in the picture has changed. */
    #show() {
        const names = [...this.crowds.keys()];
        if ([...this.chooser.options].map(option => option.value).join("\n") !== names.join("\n")) this.chooser.replaceChildren(...names.map(name => make("option", { value: name }, name)));
        this.chooser.value = this.crowd;
        const crowd = this.crowds.get(this.crowd);
        if (!crowd) return;
        const then = this.#moment(crowd);
        this.#showMoment(crowd, then);
        const picture = then ? { ...then, awake: null, states: crowd.past.states(then) } : crowd.picture;
        const awake = picture.awake === null ? "" : `, ${grouped.format(picture.awake)} awake`;
        this.figures.textContent = `${grouped.format(picture.owners)} ${picture.owners === 1 ? "character" : "characters"}${awake}, at ${picture.seconds.toFixed(1)} s`;
        this.#compare(crowd);
        this.#showBreaks();
        this.#showMessages();
        const isHere = this.#knows(crowd);
        this.picture.showGame(isHere ? { states: picture.states, owners: picture.owners, ways: then ? new Map() : crowd.flow.rates?.ways ?? new Map() } : null);
    }

    /** Says whether the game has the exits of the text. */
    #compare(crowd) {
        const { states, exits, isEdited } = this.machine();
        const say = (kind, text, differences = []) => {
            this.match.className = kind;
            if (this.match.textContent !== text) this.match.textContent = text;
            this.differences.replaceChildren(...differences.map(line => make("li", {}, line)));
        };
        const name = this.crowd;
        if (!this.#knows(crowd)) {
            crowd.isSame = null;
            return say("warning", `${name} have none of these states: they run another machine. Open its file above${this.crowds.size > 1 ? ", or choose other characters" : ""}.`);
        }
        const strange = new Set(crowd.picture.states.flatMap(({ path }) => path).filter(state => !states.has(state)));
        if (!crowd.picture.exits) {
            const rest = strange.size ? ` It has states that are not here: ${[...strange].slice(0, 3).join(", ")}.` : "";
            return say("soft", `The game does not say which exits ${name} have, so that the page cannot say whether it plays this text.${rest}`);
        }
        const line = ({ from, to, label }) => `${from ?? "global"} → ${to}${label ? `: ${label}` : ""}`;
        const [here, there] = [exits, crowd.picture.exits].map(list => list.map(line));
        const only = (list, other) => { const there = new Set(other); return list.filter(line => !there.has(line)); };
        const differences = [...only(here, there).map(line => `only here: ${line}`), ...only(there, here).map(line => `only in the game: ${line}`)];
        const isSame = !differences.length && here.length === there.length;
        if (crowd.isSame === false && isSame) crowd.since = crowd.picture.seconds;
        crowd.isSame = isSame;
        if (isSame) return say("good", crowd.since === null ? "The game plays this text." : `The game plays this text: it took it over at ${crowd.since.toFixed(1)} s.`);
        const rest = differences.length > MOST_DIFFERENCES ? [`… ${differences.length - MOST_DIFFERENCES} more`] : [];
        return say("warning", isEdited ? "The game plays the text before your edits. Save, and a game that watches its files plays this one." : "The game plays another text than this file has.",
            [...differences.slice(0, MOST_DIFFERENCES), ...rest]);
    }

    /** The machine in the picture has changed, or the text. */
    redraw() {
        if (this.crowds.size) this.#show();
        this.#highlight();
    }

    // ---- One character

    #found({ crowd, text, owners, matches, seen, of }) {
        if (crowd !== this.wish.crowd || text !== (this.wish.search ?? this.wish.state)) return;
        const exact = owners.find(([key]) => key === text);
        if (this.wish.search && (exact || owners.length === 1 && seen === of)) return this.#follow((exact ?? owners[0])[0]);
        this.foundNote.hidden = false;
        const where = this.wish.state ? ` in ${text}` : "";
        const some = matches > owners.length ? ` The first ${grouped.format(owners.length)} are listed, and ${grouped.format(matches - owners.length)} more are not.` : "";
        this.foundNote.textContent = `${grouped.format(matches)} ${matches === 1 ? "character" : "characters"} found${where}, among ${grouped.format(seen)} of ${grouped.format(of)}.${some}`;
        this.found.replaceChildren(...owners.map(([key, label]) => make("li", {}, make("button", { class: "link", onclick: () => this.#follow(key) }, named(label, key)))));
    }

    #owner(told) {
        if (told.owner !== this.wish.owner || told.crowd !== this.wish.crowd) return;
        this.owner = told.report ? told : null;
        this.foundNote.hidden = told.report !== null;
        this.foundNote.textContent = `There is no character ${told.owner}.`;
        this.about.replaceChildren(...this.owner ? this.#aboutOwner(told) : []);
        this.#highlight();
    }

    #aboutOwner({ report, owner, seconds: now, entries, exits, are_guards, is_asleep, data }) {
        const lines = data === undefined ? [] : linesOf(data);
        const parts = [report, ...report.regions ?? []];
        const path = parts.map(({ path }) => path.map(({ name, seconds: time }) => `${name} for ${seconds(Math.round(time * 10) / 10)}`).join(" › "));
        const timers = parts.flatMap(({ timers }) => timers).filter(timer => timer.due_in !== null).map(({ asks_for, due_in }) => make("li", {}, `In ${seconds(Math.round(due_in * 10) / 10)}: ${asks_for}`));
        const why = (exits ?? []).map(exit => make("li", { class: exit.is_taken ? "yes" : "no" },
            make("span", { class: "soft" }, `${exit.of} to `), exit.to, exit.on ? ` on ${exit.on}` : "", `: ${exit.verdict}`,
            exit.questions.length ? make("span", { class: "soft" }, ` ${exit.questions.map(([question]) => question).join(", ")}`) : null));
        const changes = (entries ?? []).slice(-MOST_CHANGES).reverse().map(entry => make("li", {}, make("span", { class: "soft" }, `${seconds(Math.round((now - entry.seconds) * 10) / 10)} ago`),
            make("span", {}, `${entry.from ?? "no state"} → ${entry.to ?? "no state"}${entry.refused ? `, refused by ${entry.refused}` : entry.ended ? `, ${entry.ended}` : ""}`)));
        return [
            make("div", { class: "bar" }, make("strong", {}, named(report.label, owner)), make("button", { class: "small", onclick: () => this.#want({}) }, "Stop following")),
            make("p", { id: "game-path" }, path.join("; "), is_asleep ? ", asleep" : ""),
            ...timers.length ? [make("ul", { class: "plain" }, timers)] : [],
            ...lines.length ? [make("h4", {}, "Data"), make("ul", { id: "game-data", class: "plain" }, lines.map(({ name, value, depth }) =>
                make("li", { class: `depth-${Math.min(depth, 6)}` }, name === null ? null : make("span", { class: "soft" }, value === null ? name : `${name}: `), value)))] : [],
            make("h4", {}, are_guards ? "What the guards say now" : "What becomes of each exit now"),
            exits ? make("ul", { id: "game-why", class: "why" }, why) : make("p", { class: "soft" }, "The game does not explain it."),
            make("h4", {}, "Changes, the newest first"),
            entries ? make("ol", { id: "game-changes", class: "log" }, changes) : make("p", { class: "soft" }, "The game writes no journal for these characters."),
        ];
    }

    /** Shows in the picture where the character is, and what it did last. */
    #highlight() {
        this.before.hidden = !this.owner || !this.#moment(this.crowds.get(this.wish.crowd));
        if (!this.isShown) return;
        const { report, entries } = this.owner ?? {};
        const then = this.#moment(this.crowds.get(this.wish.crowd));
        const before = report && then && this.crowds.get(this.wish.crowd).past.path(then.seconds, this.owner);
        if (then) this.before.textContent = `At ${then.seconds.toFixed(1)} s: ${before?.join(" › ") ?? "not known, the journal does not reach back so far"}`;
        const names = !report ? [] : then ? before ?? [] : [report, ...report.regions ?? []].flatMap(({ path }) => path.map(({ name }) => name));
        const last = (entries ?? []).filter(entry => !entry.refused && !entry.ended && (!then || entry.seconds <= then.seconds)).at(-1);
        this.picture.highlight(this.picture.ids(names), last ? this.picture.between(last.from, last.to).map(exit => ({ exit })) : []);
    }

    /** Whether the panel is shown: only then the picture shows the character. */
    set shown(isShown) {
        this.isShown = isShown;
        this.#highlight();
    }
}

const named = (label, key) => label && label !== key ? `${label} (${key})` : key;
