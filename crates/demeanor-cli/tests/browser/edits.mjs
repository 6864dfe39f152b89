// Makes 200 random edits in the studio: edits.mjs TOOL CHROMIUM [SEED]
//
// After each one, the file has no mistake, and the picture is that of the file, as `demeanor graph` draws it. Undoing all of them leads
// back to the first file, to the byte. Another window on the same file follows.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { inWindow, names, studio } from "./page.mjs";
import { Window, textOf, textsOf } from "./window.mjs";

const [program, executablePath, given] = process.argv.slice(2);
const EDITS = 200;
/** With fewer states than this, none is deleted, and with more, none is added. */
const [FEWEST, MOST] = [4, 14];
const FIRST = `# A guard, as a person writes it.
initial = "post"   # where it begins
global  = 'always'

[states.always]
exits = [ { to = "dead", when = "health <= 0" } ]

[states.post] # looks around
note = "stands and looks"
exits = [
    # Attack is the best defense.
    { to = "chase", when = "enemy_visible and health > 20" },
    { to = "hide", on = "took_damage" }, # or not
]

[states.chase]
initial = "run"
[[states.chase.exits]]
to = "post"
when = "not enemy_visible"

[states.chase.states.run]
behavior = "go_to"
exits = [{ to = "hit", when = "distance < 1" }]
[states.chase.states.hit]
exits = [{ to = "run", when = "distance >= 1" }]

[states.hide]
enter_when = "health < 50"
exits = [{ to = "post", after = "1 s" }]

[states.dead]
final = true
`;

/** Random numbers from a seed (mulberry32). */
let seed = Number(given ?? 33);
function below(most) {
    seed = seed + 0x6D2B79F5 | 0;
    let t = Math.imul(seed ^ seed >>> 15, 1 | seed);
    t = t + Math.imul(t ^ t >>> 7, 61 | t) ^ t;
    return ((t ^ t >>> 14) >>> 0) % most;
}
const one = list => list[below(list.length)];

const place = mkdtempSync(join(tmpdir(), "studio-"));
const file = join(place, "guard.toml");
writeFileSync(file, FIRST);
const url = await studio(program, file);
const window = await Window.open(executablePath, text => /status of (409|422)/.test(text));
const { page, until } = window;

/** The text of the page, and what is drawn of it. */
let text = FIRST;
let drawing = null;
await page.evaluateOnNewDocument(() => {
    const { fetch } = window;
    window.asked = { open: 0 };
    window.fetch = async (path, given) => {
        window.asked.open += 1;
        const drawn = path === "/api/picture" ? window.asked.drawn = Symbol("the picture that was asked for last") : null;
        if (drawn) window.asked.text = JSON.parse(given.body).text;
        try {
            const answer = await fetch(path, given);
            const told = await answer.text();
            if (drawn && drawn === window.asked.drawn) window.asked.drawing = JSON.parse(told).picture;
            return { ok: answer.ok, status: answer.status, text: async () => told };
        } finally {
            // An answer can lead to the next question, which the page asks at once.
            setTimeout(() => { window.asked.open -= 1; });
        }
    };
});
/** Waits until the page has no more questions. */
async function settle() {
    await page.waitForFunction(() => window.asked.open === 0);
    ({ text, drawing } = await page.evaluate(() => ({ text: window.asked.text, drawing: window.asked.drawing })));
}

const keep = name => `[data-keep=${JSON.stringify(name)}]`;
/** Writes into a field, and presses Enter. */
async function fill(name, value) {
    const isThere = await page.evaluate(selector => {
        const field = document.querySelector(selector);
        const more = field?.closest("details");
        if (more) more.open = true;
        field?.focus();
        field?.select();
        return Boolean(field);
    }, keep(name));
    if (!isThere) return;
    await page.keyboard.press("Backspace");
    if (value) await page.keyboard.sendCharacter(value);
    await page.keyboard.press("Enter");
}
const press = name => page.evaluate(selector => document.querySelector(selector)?.click(), name);
const conditions = ["health > 30", "not enemy_visible", "distance < 4 or health <= 10", "in(post)", "time_in_state > 2", "chance(0.5)", ""];
const fresh = () => `s${below(1000)}`;

/** Selects a state by the keyboard. */
async function select(state) {
    await page.evaluate(id => document.querySelector(`#layer [data-state="${id}"]`).focus(), state.id);
    await page.keyboard.press("Enter");
}
const exit = (state, nth) => press(keep(`${state.name} change ${nth}`));
const edits = {
    async add() {
        await page.evaluate(() => { document.querySelector("#tab-state").click(); });
        const options = await page.evaluate(() => [...document.querySelectorAll("[data-keep='new state inside'] option")].map(option => option.value));
        await page.select("[data-keep='new state inside']", one(options));
        await fill("new state", fresh());
    },
    async rename(state) { await fill(`${state.name} name`, fresh()); },
    async move(state) {
        const options = await page.evaluate(selector => [...document.querySelectorAll(`${selector} option`)].map(option => option.value), keep(`${state.name} parent`));
        if (options.length) await page.select(keep(`${state.name} parent`), one(options));
    },
    async delete(state) {
        await press(keep(`${state.name} delete`));
        await settle();
        if (await page.evaluate(() => document.querySelectorAll("[data-notice=edit] button").length) === 2) await press("[data-notice=edit] button");
    },
    async connect() { await fill("new exit", one(drawing.states).name); },
    async when(state, nth) { await exit(state, nth); await fill(`${state.name} exit ${nth} when`, one(conditions)); },
    async after(state, nth) { await exit(state, nth); await fill(`${state.name} exit ${nth} after`, one(["1 s", "2.5 s", "0.5", ""])); },
    async message(state, nth) { await exit(state, nth); await fill(`${state.name} exit ${nth} on`, one(["took_damage", "called", ""])); },
    async lead(state, nth) { await exit(state, nth); await fill(`${state.name} exit ${nth} to`, one(drawing.states).name); },
    async order(state, nth) { await exit(state, nth); await press(`[aria-label='Move exit ${nth + 1} ${one(["up", "down"])}']`); },
    async disconnect(state, nth) { await exit(state, nth); await press(`[aria-label='Delete exit ${nth + 1}']`); },
    async note(state) { await fill(`${state.name} note`, one(["rests", "it \"waits\"", ""])); },
    async guard(state) { await fill(`${state.name} enter_when`, one(conditions)); },
    async end(state) { await press(keep(`${state.name} final`)); },
    async begin(state) { await press(keep(`${state.name} begin`)); },
    async global(state) { await press(keep(`${state.name} global`)); },
    async type() {
        await press("#tab-text");
        await page.focus(".cm-content");
        await page.keyboard.down("Control");
        await page.keyboard.press("End");
        await page.keyboard.up("Control");
        const typed = `\n# ${fresh()}`;
        await page.keyboard.sendCharacter(typed);
        await page.waitForFunction(typed => window.asked.text.endsWith(typed), {}, typed);
    },
};

/** What `demeanor graph` draws: the names of states, and the exits between them. */
function graph() {
    const drawn = execFileSync(program, ["graph", file, "--fold", "never"], { encoding: "utf8", stdio: ["ignore", "pipe", "inherit"] });
    const plain = label => label.replace(/#(\w+);/g, (_, code) => ({ gt: ">", lt: "<", amp: "&", quot: "\"" })[code] ?? String.fromCodePoint(Number(code)));
    const states = [...drawn.matchAll(/state "(.*)" as s(\d+)/g)].map(([, name, id]) => `${id} ${plain(name)}`);
    const exits = [...drawn.matchAll(/^ *s(\d+) --> s(\d+)(?: : (.*))?$/gm)].map(([, from, to, label]) => `${from} ${to} ${plain(label ?? "")}`);
    return [states.sort(), exits.sort()];
}
/** The same, as the page has drawn it. */
async function picture() {
    const boxes = await page.evaluate(() => [...document.querySelectorAll("#layer [data-state]")].map(box => `${box.dataset.state} ${box.querySelector(".name").textContent}`));
    const arrows = await page.evaluate(() => [...document.querySelectorAll("#layer g[data-exit]:has(.way)")].map(arrow => arrow.dataset.exit));
    const exits = drawing.arrows.map(({ from, to, lines }) => `${from} ${to} ${lines.join(" ")}`);
    assert.deepEqual(arrows.sort(), drawing.arrows.map(arrow => arrow.exit.join(",")).sort());
    return [boxes.sort(), exits.sort()];
}

await inWindow(window, place, async () => {
    await page.goto(url);
    await page.waitForSelector("#layer [data-state]");
    await settle();
    const made = {};
    /** The text before each edit. */
    const texts = [];
    let count = 0;
    for (let tries = 0; count < EDITS; tries++) {
        assert.ok(tries < 5 * EDITS, "most edits are possible");
        const before = text;
        const kinds = Object.keys(edits).filter(kind => kind !== (drawing.states.length < FEWEST ? "delete" : drawing.states.length > MOST ? "add" : ""));
        const kind = one(kinds);
        const isOfExit = ["when", "after", "message", "lead", "order", "disconnect"].includes(kind);
        const states = drawing.states.filter(state => state.exits.length || !isOfExit);
        if (!states.length) continue;
        const state = one(states);
        const nth = isOfExit ? below(state.exits.length) : null;
        if (!["add", "type"].includes(kind)) await select(state);
        await edits[kind](state, nth);
        await settle();
        await page.evaluate(() => document.querySelector("[data-notice] button:last-child")?.click());
        await page.keyboard.press("Escape");
        if (text === before) continue;
        count += 1;
        texts.push([kind, before]);
        made[kind] = (made[kind] ?? 0) + 1;
        await press("#save");
        await settle();
        assert.equal(readFileSync(file, "utf8"), text, `edit ${count}, ${kind}: the file has the text of the page`);
        assert.deepEqual(await picture(), graph(), `edit ${count}, ${kind}: the picture is that of the file\n${before}\n----\n${text}`);
    }
    console.log(`ok: ${EDITS} edits:`, JSON.stringify(made));

    // Another window on the same file.
    const here = (await page.evaluate(names)).join();
    const second = await window.another();
    await second.goto(url);
    await second.waitForFunction(here => [...document.querySelectorAll("#layer .name")].map(name => name.textContent).sort().join() === here, {}, here);
    console.log("ok: the other window has the same picture");
    await page.bringToFront();

    while (texts.length) {
        const [kind, before] = texts.pop();
        await press("#undo");
        await settle();
        assert.equal(text, before, `edit ${texts.length + 1}, ${kind}: it is undone in one step`);
    }
    assert.equal(text, FIRST);
    assert.ok(await page.evaluate(() => document.querySelector("#undo").disabled), "nothing is left to undo");
    await until("it is edited", textOf, "Edited", "#status");
    await press("#save");
    await until("it is saved", textOf, "Saved", "#status");
    assert.equal(readFileSync(file, "utf8"), FIRST);
    console.log("ok: undoing them leads back to the first file");

    // Both windows edit.
    await second.bringToFront();
    await second.waitForFunction(() => document.querySelector("#layer").textContent.includes("hide"));
    await second.click("#tab-state");
    await second.focus("#new-state");
    await second.keyboard.type("theirs\n");
    await second.waitForFunction(() => document.querySelector("#layer").textContent.includes("theirs"));
    await page.bringToFront();
    await page.evaluate(() => document.querySelector("#tab-state").click());
    await fill("new state", "ours");
    await until("this window has an edit", textOf, "Edited", "#status");
    await second.bringToFront();
    await second.click("#save");
    await second.waitForFunction(() => document.querySelector("#status").textContent === "Saved");
    await page.bringToFront();
    await until("this window asks which text to keep", textsOf, ["Take the file's text", "Keep mine, and replace the file"], "[data-notice=outside] button");
    assert.match(readFileSync(file, "utf8"), /states\.theirs/);
    await press("[data-notice=outside] button");
    await until("it takes the other window's", () => document.querySelector("#layer").textContent.includes("theirs"), true);
    await until("and has nothing to save", textOf, "Saved", "#status");
    assert.deepEqual(window.complaints, []);
});
