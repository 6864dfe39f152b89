// The picture of a machine: its boxes and arrows as a drawing, what is selected and marked in it, and the keys that move in it.

import { byId, count, draw } from "./elements.js";
import { rateText } from "./game.js";
import { View } from "./view.js";

const BASELINE = 4;

/** What is shown from which size on: small pictures have larger names, and fewer texts. */
const DETAILS = [[0.5, "near"], [0.25, "middle"], [0.1, "far"], [0, "away"]];

/** Below this size, not even names can be read. */
const LEAST_LEGIBLE = 0.1;

export class Picture extends EventTarget {
    constructor() {
        super();
        this.frame = byId("picture");
        this.layer = byId("layer");
        this.minimap = byId("minimap");
        this.states = new Map();
        this.selected = null;
        this.view = new View(this.frame, this.layer, byId("shield"), () => this.#seen());
        this.frame.addEventListener("click", event => this.#clicked(event));
        this.frame.addEventListener("dblclick", event => this.#doubleClicked(event));
        this.frame.addEventListener("keydown", event => this.#key(event));
        this.frame.addEventListener("pointerdown", event => this.#draws(event), { capture: true });
        this.minimap.addEventListener("pointerdown", event => this.#jump(event));
        this.minimap.addEventListener("pointermove", event => { if (event.buttons) this.#jump(event); });
        byId("fit").onclick = () => this.view.fit();
        byId("smaller").onclick = () => this.view.zoomBy(1 / 1.25);
        byId("larger").onclick = () => this.view.zoomBy(1.25);
        matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.#drawMinimap());
    }

    /** Shows nothing: the file has no states. */
    clear() {
        this.drawing = undefined;
        this.selected = null;
        [this.states, this.byName, this.boxes, this.arrows] = [new Map(), new Map(), new Map(), new Map()];
        this.layer.replaceChildren();
        byId("figures").textContent = "";
        this.minimap.hidden = true;
        this.map = null;
    }

    /** Shows a drawing. If it is the same machine as before, the state at hand stays where it is seen. */
    show(drawing, isSame) {
        const anchor = isSame ? this.#anchor() : null;
        this.drawing = drawing;
        this.states = new Map(drawing.states.map(state => [state.id, state]));
        this.byName = new Map(drawing.states.map(state => [state.name, state]));
        this.boxes = new Map();
        this.arrows = new Map();
        const svg = draw("svg", { width: drawing.width, height: drawing.height, viewBox: `0 0 ${drawing.width} ${drawing.height}` });
        svg.append(draw("defs", {}, ...["head", "head-taken"].map(head)));
        const depth = state => state.parent === null ? 0 : 1 + depth(this.states.get(state.parent));
        const around = drawing.states.filter(state => state.is_composite).sort((a, b) => depth(a) - depth(b));
        for (const state of around) svg.append(this.#box(state));
        const lines = draw("g", { "aria-hidden": "true" });
        for (const [left, top, right, bottom] of drawing.borders) lines.append(draw("path", { class: "border", d: `M${left} ${top} L${right} ${bottom}` }));
        for (const { at, name } of drawing.titles) lines.append(draw("text", { class: "region", x: at[0], y: at[1] + BASELINE }, name));
        const labels = draw("g", { "aria-hidden": "true" });
        for (const arrow of drawing.arrows) this.#arrow(arrow, lines, labels);
        for (const { at, way } of drawing.dots) {
            lines.append(draw("circle", { class: "dot", cx: at[0], cy: at[1], r: 5 }), draw("path", { class: "way", "marker-end": "url(#head)", d: way }));
        }
        svg.append(lines);
        for (const state of drawing.states) if (!state.is_composite) svg.append(this.#box(state));
        svg.append(labels);
        // The view comes first: the browser then styles only what is shown at this size, and only once.
        this.view.setSize(drawing.width, drawing.height);
        const hadFocus = this.layer.contains(document.activeElement);
        this.#drawMinimap();
        if (isSame && this.view.touched) this.#restore(anchor);
        else this.#begin(isSame);
        this.layer.replaceChildren(svg);
        const of = drawing.all_states > drawing.states.length ? ` of ${drawing.all_states}` : "";
        byId("figures").textContent = `${drawing.states.length}${of} ${drawing.all_states === 1 ? "state" : "states"}, ${count(drawing.arrows.length, "arrow")}`;
        const selected = this.selected && this.byName.get(this.selected.name);
        this.selected = selected ? { name: selected.name, exit: this.selected.exit } : null;
        this.#markSelected();
        if (hadFocus && selected) this.boxes.get(selected.id).focus({ preventScroll: true });
        this.mark(this.marks ?? []);
        this.highlight(this.active ?? [], this.taken ?? []);
        this.showGame(this.game ?? null);
    }

    /** The middle of each state, from left to right: the next picture keeps their order. */
    get places() {
        return Object.fromEntries((this.drawing?.states ?? []).map(({ name, rect: [left, , width] }) => [name, left + width / 2]));
    }

    #box(state) {
        const [left, top, width, height] = state.rect;
        const kinds = ["box", state.is_composite && "composite", state.is_global && "global", state.can_open && "openable", state.is_folded && "folded"];
        const parts = [draw("rect", { class: "shape", x: left, y: top, width, height, rx: 8 })];
        if (state.is_folded) parts.unshift(draw("rect", { class: "shape behind-box", x: left + 4, y: top + 4, width, height, rx: 8 }));
        if (state.is_final) parts.push(draw("rect", { class: "end", x: left + 3, y: top + 3, width: width - 6, height: height - 6, rx: 6 }));
        state.captions.forEach(([kind, text], nth) => {
            parts.push(draw("text", { class: kind, x: left + width / 2, y: top + 7 + this.drawing.line * (nth + 0.5) + BASELINE }, text));
        });
        if (state.can_open) {
            const sign = state.is_folded ? "+" : "−";
            const fold = draw("g", { class: "fold", "data-fold": state.id }, draw("rect", { x: left + width - 19, y: top + 5, width: 14, height: 14, rx: 3 }),
                draw("text", { x: left + width - 12, y: top + 16 }, sign), draw("title", {}, state.is_folded ? "Open" : "Fold"));
            parts.push(fold);
        }
        const box = draw("g", { class: kinds.filter(Boolean).join(" "), role: "button", tabindex: -1, "data-state": state.id, "aria-pressed": "false" }, ...parts);
        this.boxes.set(state.id, box);
        this.#name(state);
        return box;
    }

    /** Names a box for a screen reader. */
    #name(state, isActive = false, mark = null) {
        const what = [state.name, ...state.captions.filter(([kind]) => kind === "does").map(([, text]) => text)];
        if (state.is_initial) what.push("initial");
        if (state.is_final) what.push("final");
        if (state.is_global) what.push("global");
        what.push(count(state.exits.length, "exit"));
        if (state.is_folded) what.push("folded");
        if (isActive) what.push("active");
        if (mark) what.push(mark);
        const census = this.boxes.get(state.id).querySelector(":scope > .census text")?.textContent;
        if (census) what.push(`${census} ${census === "1" ? "character" : "characters"} in it`);
        this.boxes.get(state.id).setAttribute("aria-label", what.join(", "));
    }

    #arrow(arrow, lines, labels) {
        const key = arrow.exit?.join(",") ?? `${arrow.from}>${arrow.to}`;
        const d = arrow.ways.join(" ");
        // The wide line, which cannot be seen, is easier to hit.
        const way = draw("g", { class: "arrow", "data-exit": key }, draw("path", { class: "way", d, "marker-end": "url(#head)" }), draw("path", { class: "hit", d }));
        lines.append(way);
        const [left, top, width, height] = arrow.label;
        const first = top + height / 2 - this.drawing.line * (arrow.lines.length - 1) / 2 + BASELINE;
        const texts = arrow.lines.map((text, nth) => draw("text", { class: "label", x: left + width / 2, y: first + this.drawing.line * nth }, text));
        const label = draw("g", { class: "arrow", "data-exit": key }, arrow.lines.length ? draw("rect", { class: "paper", x: left, y: top, width, height, rx: 3 }) : null, ...texts);
        labels.append(label);
        const parts = this.arrows.get(key) ?? [];
        parts.push(way, label);
        this.arrows.set(key, parts);
    }

    // ---- Selection and marks

    /** Selects a state, and perhaps one of its exits, by its place. */
    select(name, exit = null, { reveals = true, focuses = false, tells = true } = {}) {
        const state = name === null ? null : this.byName?.get(name) ?? null;
        this.selected = state ? { name, exit } : null;
        this.#markSelected();
        if (state && reveals) this.view.reveal(state.is_composite ? [state.rect[0], state.rect[1], state.rect[2], 40] : state.rect);
        if (state && focuses) this.boxes.get(state.id).focus({ preventScroll: true });
        if (tells) this.dispatchEvent(new Event("select"));
    }

    get selectedState() { return this.selected ? this.byName?.get(this.selected.name) ?? null : null; }

    #markSelected() {
        for (const element of this.layer.querySelectorAll(".selected")) element.classList.remove("selected");
        for (const box of this.layer.querySelectorAll("[tabindex='0']")) box.setAttribute("tabindex", "-1");
        for (const box of this.layer.querySelectorAll("[aria-pressed=true]")) box.setAttribute("aria-pressed", "false");
        this.layer.querySelector(".handle")?.remove();
        if (!this.drawing) return;
        const state = this.selectedState;
        const first = state ?? this.drawing.states.find(state => state.is_initial) ?? this.drawing.states[0];
        if (first) this.boxes.get(first.id).setAttribute("tabindex", "0");
        if (!state) return;
        this.boxes.get(state.id).classList.add("selected");
        this.boxes.get(state.id).setAttribute("aria-pressed", "true");
        if (state.keys) this.boxes.get(state.id).append(handle(state));
        for (const [key, parts] of this.arrows) {
            const isOwn = this.selected.exit === null ? key.startsWith(`${state.id},`) : key === `${state.id},${this.selected.exit}`;
            if (isOwn) parts.forEach(part => part.classList.add("selected"));
        }
    }

    /** Shows the active states, and the changes that were made last: from, to, and the exit. */
    highlight(active, taken) {
        this.active = active;
        this.taken = taken;
        if (!this.drawing) return;
        for (const element of this.layer.querySelectorAll(".active, .taken")) {
            element.classList.remove("active", "taken");
            element.querySelector(".way")?.setAttribute("marker-end", "url(#head)");
            if (element.dataset.state) this.#name(this.states.get(Number(element.dataset.state)), false, element.dataset.mark);
        }
        for (const id of active) {
            const box = this.boxes.get(id);
            if (!box) continue;
            box.classList.add("active");
            this.#name(this.states.get(id), true, box.dataset.mark);
        }
        for (const { from, to, exit } of taken) {
            for (const part of this.arrowsOf(from, to, exit)) {
                part.classList.add("taken");
                part.querySelector(".way")?.setAttribute("marker-end", "url(#head-taken)");
            }
        }
    }

    /** Returns the arrow of an exit; if the exit is not known, the arrows between two states. */
    arrowsOf(from, to, exit) {
        if (exit) return this.arrows.get(exit.join(",")) ?? [];
        const [a, b] = [this.byName.get(from)?.id, this.byName.get(to)?.id];
        const between = this.drawing.arrows.filter(arrow => arrow.from === a && arrow.to === b && arrow.exit);
        return between.flatMap(arrow => this.arrows.get(arrow.exit.join(",")) ?? []);
    }

    // ---- A running game

    /** Shows how many characters are in each state, and how often they take each exit: `{ states, owners, ways }`, or nothing. */
    showGame(game) {
        this.game = game;
        if (!this.drawing) return;
        if (!game) {
            for (const element of this.layer.querySelectorAll(".census, .rate")) element.remove();
            for (const element of this.layer.querySelectorAll(".flows")) element.classList.remove("flows");
            return;
        }
        const counts = new Map();
        for (const { path, owners } of game.states) for (const state of new Set(this.around(path))) counts.set(state, (counts.get(state) ?? 0) + owners);
        for (const state of this.drawing.states) this.#census(state, counts.get(state) ?? 0, game.owners);
        const rates = new Map();
        for (const [way, rate] of game.ways) {
            const [from, to] = JSON.parse(way);
            const exits = rate > 0 ? this.between(from, to) : [];
            for (const exit of exits) {
                const key = exit.join(",");
                const { rate: before = 0, isShared = false } = rates.get(key) ?? {};
                rates.set(key, { rate: before + rate, isShared: isShared || exits.length > 1 });
            }
        }
        const most = Math.max(...[...rates.values()].map(({ rate }) => rate));
        for (const arrow of this.drawing.arrows) if (arrow.exit) this.#rate(arrow, rates.get(arrow.exit.join(",")), most);
    }

    #census(state, owners, all) {
        const box = this.boxes.get(state.id);
        let census = box.querySelector(":scope > .census");
        if (!census) {
            census = draw("g", { class: "census" }, draw("rect", { rx: 8 }), draw("text", {}));
            box.append(census);
        }
        const text = owners.toLocaleString("en-US");
        const [label, shape] = [census.lastChild, census.firstChild];
        if (label.textContent === text) return;
        label.textContent = text;
        const [left, top, width, height] = state.rect;
        const wide = 7 * text.length + 10;
        const [x, y] = [left + width - wide + 4, top + height - 9];
        for (const [name, value] of Object.entries({ x, y, width: wide, height: 17 })) shape.setAttribute(name, value);
        shape.style.fillOpacity = owners ? 0.25 + 0.75 * Math.sqrt(owners / Math.max(1, all)) : 0;
        census.classList.toggle("none", !owners);
        label.setAttribute("x", x + wide / 2);
        label.setAttribute("y", y + 12.5);
        this.#name(state, box.classList.contains("active"), box.dataset.mark);
    }

    /** Shows how often an exit is taken. If only other exits could have been taken instead of it, too, this is the most that it can be. */
    #rate(arrow, flow, most) {
        for (const part of this.arrows.get(arrow.exit.join(",")) ?? []) {
            part.classList.toggle("flows", flow !== undefined);
            const way = part.querySelector(".way");
            if (way) {
                way.style.strokeWidth = flow ? 1.5 + 4 * Math.log1p(flow.rate) / Math.log1p(most) : "";
                continue;
            }
            let text = part.querySelector(".rate");
            if (!flow) {
                text?.remove();
                continue;
            }
            const [left, top, width, height] = arrow.label;
            if (!text) part.append(text = draw("text", { class: "rate", x: left + width / 2, y: top + height + 9 }));
            text.textContent = `${flow.isShared ? "≤ " : ""}${rateText(flow.rate)}`;
        }
    }

    /** Returns the states of the picture for the names of some states; a state in a folded one is the one around it. */
    around(names) {
        const all = names.flatMap(name => this.byName.has(name) ? [name] : this.drawing.hidden.find(state => state.name === name)?.around ?? []);
        return all.flatMap(name => this.byName.get(name) ?? []);
    }

    ids(names) { return this.drawing ? [...new Set(this.around(names).map(state => state.id))] : []; }

    /** Returns the exits that lead from one state, or from a state around it, to another one, or to a state in which it is. Those of the
     * innermost state come alone. */
    between(from, to) {
        if (!this.drawing || !this.#path(to).length) return [];
        const ways = this.#path(from);
        const targets = new Set(this.#path(to).map(state => state.id));
        const exits = this.drawing.arrows.filter(arrow => arrow.exit && targets.has(arrow.to));
        const global = this.drawing.states.find(state => state.is_global);
        for (const state of [...ways, global]) {
            const own = exits.filter(arrow => arrow.exit[0] === state?.id);
            const exact = own.filter(arrow => this.states.get(arrow.to)?.name === to);
            if (own.length) return (exact.length ? exact : own).map(arrow => arrow.exit);
        }
        return [];
    }

    /** Returns a state of the picture and the states around it, from the innermost one. */
    #path(name) {
        const path = [];
        const hidden = this.drawing.hidden.find(state => state.name === name);
        const first = hidden ? hidden.around.findLast(around => this.byName.has(around)) : name;
        for (let state = this.byName.get(first); state; state = this.states.get(state.parent)) path.push(state);
        return path;
    }

    /** Marks states and exits with problems: `{ state, exit, kind, text }`. */
    mark(marks) {
        this.marks = marks;
        if (!this.drawing) return;
        for (const element of this.layer.querySelectorAll(".warning, .error")) {
            element.classList.remove("warning", "error");
            element.querySelector(".badge")?.remove();
            delete element.dataset.mark;
        }
        for (const { state, exit, kind, text } of marks) {
            const box = this.boxes.get(state);
            if (box) {
                box.classList.add(kind);
                box.dataset.mark = text;
                const [left, top] = this.states.get(state).rect;
                box.append(draw("g", { class: "badge" }, draw("circle", { cx: left + 2, cy: top + 2, r: 8 }), draw("text", { x: left + 2, y: top + 6 }, "!")));
                this.#name(this.states.get(state), box.classList.contains("active"), text);
            }
            if (exit !== null) this.arrows.get(`${state},${exit}`)?.forEach(part => part.classList.add(kind));
        }
    }

    /** Marks an arrow while the mouse is on its line in a list. */
    hint(exit) {
        for (const element of this.layer.querySelectorAll(".hinted")) element.classList.remove("hinted");
        if (exit) this.arrows.get(exit.join(","))?.forEach(part => part.classList.add("hinted"));
    }

    // ---- The view

    /** The state that stays where it is when the picture changes: the selected one, or the one nearest to the middle. */
    #anchor() {
        if (!this.drawing) return null;
        const [left, top, width, height] = this.view.seen;
        const far = state => Math.hypot(center(state)[0] - left - width / 2, center(state)[1] - top - height / 2);
        const inside = this.drawing.states.filter(state => !state.is_composite);
        const nearest = inside.reduce((best, state) => !best || far(state) < far(best) ? state : best, null);
        const state = this.selectedState ?? nearest;
        return state && { name: state.name, rect: state.rect };
    }

    /** Shows all of the picture; if nothing could be read then, the initial state. */
    #begin(isSame) {
        this.view.fit();
        const initial = this.drawing.states.find(state => state.is_initial);
        if (isSame || this.view.scale > LEAST_LEGIBLE || !initial) return;
        this.view.zoomBy(0.6 * this.view.unit / this.view.scale);
        this.view.center(...center(initial));
    }

    #restore(anchor) {
        const state = anchor && this.byName.get(anchor.name);
        const [x, y] = state ? [anchor.rect[0] - state.rect[0], anchor.rect[1] - state.rect[1]] : [0, 0];
        this.view.panBy(x * this.view.scale, y * this.view.scale);
    }

    #seen() {
        const zoom = `${Math.round(this.view.zoom * 100)} %`;
        if (byId("zoom").textContent !== zoom) byId("zoom").textContent = zoom;
        const detail = DETAILS.find(([least]) => this.view.scale >= least)[1];
        if (this.layer.dataset.detail !== detail) this.layer.dataset.detail = detail;
        this.#drawSeen();
    }

    #drawMinimap() {
        if (!this.drawing) return;
        const { width, height } = this.drawing;
        const most = 9 * parseFloat(getComputedStyle(document.documentElement).fontSize);
        const scale = Math.min(most / width, most * 0.7 / height);
        const pixels = devicePixelRatio || 1;
        const map = document.createElement("canvas");
        [map.width, map.height] = [Math.max(1, width * scale * pixels), Math.max(1, height * scale * pixels)];
        [this.minimap.width, this.minimap.height] = [map.width, map.height];
        this.minimap.style.width = `${width * scale}px`;
        this.minimap.style.height = `${height * scale}px`;
        const style = getComputedStyle(this.minimap);
        const context = map.getContext("2d");
        context.scale(scale * pixels, scale * pixels);
        for (const state of this.drawing.states) {
            context.globalAlpha = state.is_composite ? 0.18 : 0.8;
            context.fillStyle = style.color;
            context.fillRect(...state.rect);
        }
        Object.assign(this, { map, mapScale: scale, mapColor: style.outlineColor });
        this.#drawSeen();
    }

    #drawSeen() {
        if (!this.map) return;
        const [left, top, width, height] = this.view.seen;
        const { width: all, height: high } = this.drawing;
        const isAll = left <= 0 && top <= 0 && left + width >= all && top + height >= high;
        if (this.minimap.hidden !== isAll) this.minimap.hidden = isAll;
        if (isAll) return;
        const context = this.minimap.getContext("2d");
        const scale = this.mapScale * (devicePixelRatio || 1);
        context.clearRect(0, 0, this.minimap.width, this.minimap.height);
        context.drawImage(this.map, 0, 0);
        context.strokeStyle = this.mapColor;
        context.lineWidth = 2;
        const from = at => Math.max(1, at * scale);
        const right = Math.min(this.minimap.width - 1, (left + width) * scale);
        const bottom = Math.min(this.minimap.height - 1, (top + height) * scale);
        context.strokeRect(from(left), from(top), right - from(left), bottom - from(top));
    }

    #jump(event) {
        event.stopPropagation();
        const map = this.minimap.getBoundingClientRect();
        this.view.center((event.clientX - map.left) / this.mapScale, (event.clientY - map.top) / this.mapScale);
    }

    // ---- The mouse and the keys

    #clicked(event) {
        if (this.view.wasDragged || event.target === this.minimap) return;
        const fold = event.target.closest("[data-fold]");
        if (fold) return this.#toggle(this.states.get(Number(fold.dataset.fold)));
        const exit = event.target.closest("[data-exit]");
        const box = event.target.closest("[data-state]");
        if (exit?.dataset.exit.includes(",")) {
            const [state, nth] = exit.dataset.exit.split(",").map(Number);
            // The exit of a hidden state belongs to the box around it.
            const of = this.states.get(state);
            if (of) return this.select(of.name, nth, { reveals: false });
        }
        return this.select(box ? this.states.get(Number(box.dataset.state)).name : null, null, { reveals: false, focuses: true });
    }

    /** Draws an exit from the handle of the selected state to another one. */
    #draws(event) {
        const from = this.selectedState;
        if (event.button !== 0 || !from || !event.target.closest?.(".handle")) return;
        event.stopPropagation();
        event.preventDefault();
        const [left, top, width, height] = from.rect;
        const line = draw("path", { class: "drawn", "marker-end": "url(#head-taken)" });
        this.layer.firstElementChild.append(line);
        let over = null;
        let hasLeft = false;
        const mark = box => {
            over?.classList.remove("over");
            hasLeft ||= box !== this.boxes.get(from.id);
            over = hasLeft ? box : null;
            over?.classList.add("over");
        };
        const ends = new AbortController();
        const on = (name, act) => addEventListener(name, act, { signal: ends.signal });
        const stop = () => {
            ends.abort();
            line.remove();
            mark(null);
            // The click at the end of this is none.
            this.view.moved = Infinity;
        };
        on("pointermove", event => {
            const [x, y] = this.view.at(event);
            line.setAttribute("d", `M${left + width / 2} ${top + height} L${x} ${y}`);
            mark(document.elementFromPoint(event.clientX, event.clientY)?.closest("[data-state]") ?? null);
        });
        on("pointerup", () => {
            const to = over && this.states.get(Number(over.dataset.state));
            stop();
            if (to) this.dispatchEvent(new CustomEvent("connect", { detail: { from, to } }));
        });
        on("pointercancel", stop);
        on("keydown", event => { if (event.key === "Escape") stop(); });
    }

    #doubleClicked(event) {
        const box = event.target.closest("[data-state]");
        const state = box && this.states.get(Number(box.dataset.state));
        if (state?.can_open) this.#toggle(state);
    }

    #toggle(state) {
        this.selected = { name: state.name, exit: null };
        this.dispatchEvent(new CustomEvent("fold", { detail: state }));
    }

    #key(event) {
        const box = event.target.closest("[data-state]");
        const state = box && this.states.get(Number(box.dataset.state));
        const [x, y] = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[event.key] ?? [0, 0];
        if (event.ctrlKey || event.metaKey || event.altKey) return;
        if (x || y) {
            event.preventDefault();
            if (event.shiftKey) return this.view.panBy(-60 * x, -60 * y);
            const next = state ? this.#beside(state, x, y) : this.selectedState ?? this.drawing.states.find(state => state.is_initial);
            if (next) this.select(next.name, null, { focuses: true });
        } else if (event.key === "Enter" && state) {
            event.preventDefault();
            if (state.is_folded) this.#toggle(state);
            else {
                this.select(state.name, null, { focuses: true });
                this.dispatchEvent(new Event("open"));
            }
        } else if (event.key === " " && state) {
            event.preventDefault();
            if (state.can_open) this.#toggle(state);
            else this.select(state.name, null, { focuses: true });
        }
    }

    /** Returns the nearest state in a direction. */
    #beside(from, x, y) {
        const [fromX, fromY] = center(from);
        let best = null;
        for (const state of this.drawing.states) {
            if (state === from) continue;
            const [dx, dy] = [center(state)[0] - fromX, center(state)[1] - fromY];
            const along = dx * x + dy * y;
            const aside = Math.abs(dx * y) + Math.abs(dy * x);
            if (along <= 1 || aside > 4 * along) continue;
            const far = along + 2 * aside;
            if (!best || far < best.far) best = { state, far };
        }
        return best?.state;
    }
}

const center = ({ rect: [left, top, width, height], is_composite }) => [left + width / 2, is_composite ? top + 12 : top + height / 2];

/** Where an exit is drawn from, at the lower edge of a box. */
function handle({ rect: [left, top, width, height] }) {
    const [x, y] = [left + width / 2, top + height];
    return draw("g", { class: "handle" }, draw("circle", { cx: x, cy: y, r: 8 }), draw("path", { d: `M${x} ${y - 4} V${y + 3} M${x - 3} ${y} L${x} ${y + 4} L${x + 3} ${y}` }),
        draw("title", {}, "Drag this to a state to draw an exit"));
}

function head(id) {
    return draw("marker", { id, viewBox: "0 0 10 10", refX: 9, refY: 5, markerWidth: 8, markerHeight: 8, markerUnits: "userSpaceOnUse", orient: "auto-start-reverse" },
        draw("path", { d: "M0 1 L10 5 L0 9 z" }));
}
