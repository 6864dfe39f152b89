// A run of the machine: the server plays it as `demeanor run` does. Each tick that was played can be seen again.

import { messageControls, updateControls, valueControls } from "./controls.js";
import { byId, count, later, make, notice, seconds } from "./elements.js";
import { Refused, ask } from "./server.js";

const SPEEDS = [["¼×", 0.25], ["1×", 1], ["4×", 4], ["16×", 16], ["64×", 64]];
/** How many lines of the log are shown. */
const MOST_LINES = 200;

export class Run {
    /** `source()` returns the path, the text and the machine; `picture` shows where the run is. */
    constructor(source, picture) {
        Object.assign(this, { source, picture, words: null, tick: 0.1, speed: 1, isPlaying: false, frames: [], inputs: [], at: -1, from: null, ownTick: null, version: 0 });
        this.panel = byId("panel-run");
        this.explainLater = later(60, () => this.#see(this.at));
        this.#build();
    }

    #build() {
        const button = (id, text, label, act, keys) => make("button", { id, "aria-label": label, title: label, "aria-keyshortcuts": keys, onclick: act }, text);
        const speeds = make("select", { id: "speed", "aria-label": "Speed", onchange: () => { this.speed = Number(speeds.value); } },
            SPEEDS.map(([text, speed]) => make("option", { value: speed, selected: speed === 1 }, text)));
        this.slider = make("input", { id: "timeline", type: "range", min: -1, max: -1, value: -1, "aria-label": "Tick", oninput: () => this.#see(this.slider.valueAsNumber) });
        this.panel.replaceChildren(
            make("div", { class: "bar", role: "toolbar", "aria-label": "Run" },
                button("restart", "↺", "Back to the beginning", () => this.restart()),
                button("back", "◀", "One tick back", () => this.#see(this.at - 1)),
                button("step", "Step ▶", "One tick on", () => this.step(), "s"),
                button("play", "Play", "Play", () => this.toggle(), "p"), speeds,
                make("output", { id: "when", "aria-label": "Time of the run" }, ""),
                make("span", { class: "spacer" }),
                button("keep", "Keep as a test", "Keep this run as a test", () => this.#keep())),
            this.slider,
            make("p", { id: "run-error", class: "error-text", role: "alert", hidden: true }),
            make("h3", {}, "Now"),
            make("p", { id: "now", role: "status" }), make("ul", { id: "why", class: "why", "aria-label": "What becomes of each exit" }),
            make("h3", {}, "Values"), make("div", { id: "values" }),
            make("h3", {}, "Messages"), make("div", { id: "messages" }),
            make("h3", {}, "What happened"), make("ol", { id: "log", class: "log" }),
        );
    }

    /** Takes over the words of a machine. Another machine begins anew. */
    setMachine(words, tick, isSame) {
        this.words = words;
        this.fileTick = tick;
        const known = new Set(["chance", ...words.values.map(value => value.name)]);
        for (const input of this.inputs) input.values = Object.fromEntries(Object.entries(input.values ?? {}).filter(([name]) => known.has(name)));
        this.inputs = this.inputs.filter(input => input.message || Object.keys(input.values).length);
        this.#controls();
        if (!isSame) this.restart(true);
        else if (this.frames.length) this.#replay();
    }

    #controls() {
        const { values, messages } = this.words;
        const [read, others] = [values.filter(value => value.is_read), values.filter(value => !value.is_read)];
        const current = this.current?.values ?? this.#settings();
        const set = (name, value) => this.#set(name, value);
        const parts = valueControls(read, current, set);
        const more = (what, list, parts) => list.length ? [make("details", {}, make("summary", {}, `${count(list.length, what)} that this machine does not use`), parts)] : [];
        byId("values").replaceChildren(...parts, ...(parts.length ? [] : [make("p", { class: "soft" }, "The machine reads no value.")]),
            ...more("value", others, valueControls(others, current, set)));
        const send = text => this.#send(text);
        const heard = messageControls(messages.filter(message => message.is_read), send);
        const unheard = messages.filter(message => !message.is_read);
        byId("messages").replaceChildren(...heard, ...(heard.length ? [] : [make("p", { class: "soft" }, "The machine waits for no message.")]),
            ...more("message", unheard, messageControls(unheard, send)));
    }

    /** Returns the values that have been set until the tick at hand. */
    #settings() {
        return Object.assign({}, ...this.inputs.filter(input => input.tick <= this.at + 1).map(input => input.values));
    }

    get last() { return this.frames.length - 1; }

    // ---- What the user does

    restart(isNew = false) {
        this.stop();
        // The values of the beginning stay as they are.
        this.inputs = isNew ? [] : this.inputs.filter(input => input.tick === 0);
        if (isNew) [this.from, this.ownTick] = [null, null];
        Object.assign(this, { frames: [], at: -1, current: null, version: this.version + 1 });
        this.show();
    }

    async step() {
        this.stop();
        await this.#advance(1);
    }

    toggle() {
        if (this.isPlaying) return this.stop();
        this.isPlaying = true;
        this.#showPlaying();
        this.playing = Symbol("since the button was pressed");
        this.#playOn(performance.now(), this.playing);
    }

    stop() {
        this.isPlaying = false;
        this.#showPlaying();
    }

    async #playOn(since, playing) {
        await new Promise(resolve => setTimeout(resolve, Math.max(16, 1000 * this.length / this.speed)));
        if (!this.isPlaying || playing !== this.playing) return;
        const now = performance.now();
        const ticks = Math.max(1, Math.floor((now - since) / 1000 * this.speed / this.length));
        const isDone = await this.#advance(Math.min(ticks, 1000));
        if (isDone) this.#playOn(now, playing);
    }

    /** The length of a tick, in seconds. */
    get length() { return this.ownTick ?? this.fileTick; }

    /** From here on, the run is another one: what was played after this tick is forgotten. */
    #diverge() {
        this.version += 1;
        this.frames.length = this.at + 1;
        this.inputs = this.inputs.filter(input => input.tick <= this.at + 1);
    }

    #set(name, value) {
        this.#diverge();
        const last = this.inputs.at(-1);
        if (last?.tick === this.at + 1 && !last.message) last.values[name] = value;
        else this.inputs.push({ tick: this.at + 1, values: { [name]: value } });
        this.explainLater();
    }

    #send(message) {
        this.#diverge();
        this.inputs.push({ tick: this.at + 1, values: {}, message });
        this.#advance(1);
    }

    /** Plays the rows of a witness. */
    async play(witness) {
        this.restart(true);
        [this.ownTick, this.from] = [witness.tick, witness.from];
        this.inputs = witness.rows.map(row => ({ tick: Math.round(row.time / witness.tick), values: row.values, message: row.message ?? undefined }));
        await this.#advance(Math.round(witness.seconds / witness.tick) + 1);
    }

    async #keep() {
        try {
            const kept = await ask("keep", { ...this.source(), tick: this.length, inputs: this.inputs.filter(input => input.tick <= this.at), to: this.at });
            notice("kept", `The run was added to ${kept.table}. "demeanor run --tests" replays it.`, [["Good", null]]);
        } catch (error) { this.#fail(error); }
    }

    // ---- The server

    #wanted(to, since) {
        return { ...this.source(), tick: this.ownTick, from: this.from, inputs: this.inputs, to, since };
    }

    /** Goes on by some ticks, and returns whether they have been played. */
    async #advance(ticks) {
        const to = this.at + ticks;
        if (to <= this.last) return this.#see(to);
        return this.#ask(() => this.#wanted(to, this.frames.length), told => {
            this.frames.push(...told.ticks);
            this.#take(told);
        });
    }

    /** Shows a tick that has been played. */
    async #see(at) {
        this.at = Math.max(-1, Math.min(at, this.last));
        this.show();
        if (this.at < 0) return true;
        const wanted = this.at;
        return this.#ask(() => this.#wanted(wanted, wanted + 1), told => { if (this.at === wanted) this.#take(told); });
    }

    /** Plays the run again, because the text has changed. */
    async #replay() {
        const [at, last] = [this.at, this.last];
        this.version += 1;
        await this.#ask(() => this.#wanted(last, 0), told => {
            this.frames = told.ticks;
            this.#take(told);
        });
        if (at < this.last) await this.#see(at);
    }

    /** Asks for a part of the run, one request after the other. An answer about a run that is another one by now is dropped. */
    #ask(wanted, take) {
        const version = this.version;
        const isOld = () => version !== this.version;
        const next = (this.waiting ?? Promise.resolve()).then(async () => {
            if (isOld()) return true;
            try {
                const told = await ask("run", wanted());
                if (isOld()) return true;
                take(told);
                this.#fail(null);
                return true;
            } catch (error) {
                if (isOld()) return true;
                this.stop();
                this.#fail(error);
                return false;
            }
        });
        this.waiting = next;
        return next;
    }

    #fail(error) {
        const field = byId("run-error");
        field.hidden = !error;
        field.textContent = error ? (error instanceof Refused ? error.message : "The studio's server does not answer.") : "";
    }

    #take(told) {
        this.at = told.at;
        this.current = told;
        updateControls(this.panel, { ...told.values, ...Object.assign({}, ...this.inputs.filter(input => input.tick === this.at + 1).map(input => input.values)) });
        this.show();
    }

    // ---- What is seen

    #showPlaying() {
        const play = byId("play");
        play.textContent = this.isPlaying ? "Pause" : "Play";
        play.setAttribute("aria-label", this.isPlaying ? "Pause" : "Play");
    }

    show() {
        Object.assign(this.slider, { min: -1, max: this.last, value: this.at });
        this.slider.disabled = this.last < 0;
        this.slider.setAttribute("aria-valuetext", this.at < 0 ? "before the beginning" : `tick ${this.at} of ${this.last}`);
        byId("when").textContent = this.at < 0 ? "not begun" : `tick ${this.at} · ${seconds(this.at * this.length)}`;
        byId("back").disabled = byId("restart").disabled = this.at < 0;
        byId("keep").disabled = this.at < 0 || this.from !== null;
        const frame = this.frames[this.at];
        const changes = (frame?.events ?? []).filter(event => event.to !== undefined && !event.refused);
        this.picture.highlight(frame?.active ?? [], changes);
        const isCurrent = this.current?.at === this.at;
        byId("now").textContent = !frame ? "Set the values of the beginning, then step." : isCurrent ? `${this.current.current}, for ${seconds(this.current.seconds_in_state)}` : frame.current;
        byId("why").replaceChildren(...(isCurrent && frame ? this.current.exits : []).filter(exit => !exit.is_moot).map(exit => this.#exit(exit)));
        this.#showLog();
    }

    #exit(exit) {
        return make("li", {
            class: exit.is_taken ? "yes" : "no",
            onpointerenter: () => this.picture.hint(exit.exit), onpointerleave: () => this.picture.hint(null),
        }, make("span", { class: "of soft" }, `${exit.of} `), exit.why);
    }

    #showLog() {
        const lines = [];
        for (const frame of this.frames) {
            const told = frame.lines.filter(line => line.trim() && !line.startsWith(" ".repeat(10)));
            if (told.length) lines.push([frame.tick, told]);
        }
        const rows = lines.slice(-MOST_LINES).reverse().map(([tick, told]) => make("li", { class: tick === this.at ? "chosen" : tick > this.at ? "soft" : null },
            make("button", { class: "link", "aria-label": `Go to tick ${tick}`, onclick: () => this.#see(tick) }, `tick ${tick}`),
            make("pre", {}, told.map(line => line.trim()).join("\n"))));
        byId("log").replaceChildren(...rows);
    }
}
