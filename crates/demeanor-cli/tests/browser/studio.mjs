// Tests the studio's page in a browser: studio.mjs TOOL CHROMIUM [FOLDER FOR SCREENSHOTS]
//
// TOOL is the tool `demeanor`. Each step waits until the page shows the expected content, or until a deadline. A warning or an error on
// the page's console fails the test.
import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { active, boxOf, inWindow, faint, fileText, nameless, names, selected, studio, taken } from "./page.mjs";
import { Window, isShown, textOf, textsOf } from "./window.mjs";

const [program, executablePath, folder] = process.argv.slice(2);

const GUARD = `initial = "post"
global = "always"

[properties]
lives = { never = "in(dead)" }

[states.always]
exits = [{ to = "dead", when = "health <= 0" }]

[states.post]
exits = [
    { to = "chase", when = "enemy_visible and health > 20" },
    { to = "hide", on = "took_damage" },
]

[states.chase]
initial = "run"
exits = [{ to = "post", when = "not enemy_visible" }]

[states.run]
parent = "chase"
behavior = "go_to"
exits = [{ to = "hit", when = "distance < 1" }]

[states.hit]
parent = "chase"
exits = [{ to = "run", when = "distance >= 1" }]

[states.hide]
enter_when = "health < 50"
exits = [{ to = "post", after = "1 s" }]

[states.dead]
final = true
`;
const WORDS = JSON.stringify({
    values: { health: "number", enemy_visible: "flag", distance: "number", unused: "number" },
    ranges: { health: [0, 100] },
    behaviors: { go_to: null },
    messages: ["took_damage"],
    descriptions: { distance: "To the enemy, in meters." },
});

const game = mkdtempSync(join(tmpdir(), "studio-"));
const guard = join(game, "guard.toml");
writeFileSync(guard, GUARD);
writeFileSync(join(game, "words.json"), WORDS);
const empty = join(game, "new.toml");
const words = join(game, "words.json");
const url = await studio(program, game, "--words", words);

// The browser writes a line for each answer that refuses something, which the page expects.
const window = await Window.open(executablePath, text => /status of (409|422)/.test(text));
let { page, until } = window;

const press = async (...keys) => { for (const key of keys) await page.keyboard.press(key); };
const leavesFocus = () => page.evaluate(() => document.activeElement.blur());
async function set(name, value) {
    await page.evaluate((name, value) => {
        const field = document.querySelector(`[data-value="${name}"]`);
        if (field.type === "checkbox") field.checked = value;
        else field.value = value;
        field.dispatchEvent(new Event("change", { bubbles: true }));
    }, name, value);
}
async function type(text) {
    await page.focus(".cm-content");
    await page.keyboard.down("Control");
    await press("End");
    await page.keyboard.up("Control");
    await page.keyboard.type(text);
}

const MADE = `initial = "post"
global = "always"

[states.post]
behavior = "go_to"
exits = [
    { to = "hide", on = "took_damage" },
    { to = "chase", when = "enemy_visible and health > 20" },
]

[states.chase]
initial = "run"
exits = [{ to = "post", when = "not enemy_visible" }]

[states.run]
parent = "chase"
exits = [{ to = "hit", when = "distance < 1" }]

[states.hit]
parent = "chase"
exits = [{ to = "run", when = "distance >= 1" }]

[states.hide]
exits = [{ to = "post", after = "1 s" }]

[states.dead]
final = true

[states.always]
exits = [{ to = "dead", when = "health <= 0" }]
`;
/** By name: the state in which it is. */
const STATES = [["post"], ["chase"], ["run", "chase"], ["hit", "chase"], ["hide"], ["dead"], ["always"]];
/** From, to, a key and its value. */
const EXITS = [["post", "chase", "When", "enemy_visible and health > 20"], ["post", "hide", "On message", "took_damage"], ["chase", "post", "When", "not enemy_visible"],
    ["run", "hit", "When", "distance < 1"], ["hit", "run", "When", "distance >= 1"], ["hide", "post", "After", "1 s"], ["always", "dead", "When", "health <= 0"]];
const stateNames = STATES.map(([name]) => name);

const label = () => document.activeElement.getAttribute("aria-label") ?? document.activeElement.labels?.[0]?.textContent ?? document.activeElement.textContent;

/** Returns the middle of the control with a name in the State panel, which is scrolled there. */
const control = name => page.evaluate(name => {
    const named = element => element.getAttribute("aria-label") ?? (element.labels?.[0]?.querySelector("span") ?? element).textContent;
    const found = [...document.querySelectorAll("#panel-state :is(button, input, select, summary)")].find(element => named(element) === name && element.checkVisibility());
    if (!found) throw new Error(`there is no ${name}`);
    found.scrollIntoView({ block: "center" });
    const { x, y, width, height } = found.getBoundingClientRect();
    return [x + width / 2, y + height / 2];
}, name);
const click = async name => page.mouse.click(...await control(name));

/** Waits until the picture has stood still for 30 frames: a change that the page has sent may still move it. */
const stands = () => page.evaluate(async () => {
    const places = () => JSON.stringify([...document.querySelectorAll("#layer .name, #layer .handle")].map(of => of.getBoundingClientRect()));
    for (let [before, frames] = ["", 0]; frames < 30; ) {
        await new Promise(requestAnimationFrame);
        const now = places();
        frames = now === before ? frames + 1 : 0;
        before = now;
    }
});

async function byMouse() {
    const made = [];
    for (const [name, around] of STATES) {
        await page.click("#add-state");
        await click("New state");
        await page.keyboard.type(name);
        if (made.length) await page.select("[data-keep='new state inside']", around ? JSON.stringify([around, null]) : "");
        await click("Add state");
        made.push(name);
        await until(`${name} is in the picture`, names, [...made].sort());
        await until(`${name} is selected`, selected, name);
    }
    await page.mouse.click(...await boxOf(page, "always"));
    await click("Make global");
    await until("a state is global", textsOf, ["always"], "#layer .global .name");
    await page.mouse.click(...await boxOf(page, "dead"));
    await click("More");
    await click("Is an end");
    await until("a state is an end", () => document.querySelectorAll("#layer .end").length, 1);
    await page.mouse.click(...await boxOf(page, "post"));
    await click("Does");
    await page.keyboard.type("look");
    await until("a mistake is shown while it is typed", () => document.activeElement.closest(".field").querySelector(".error-text").textContent.includes("look"), true);
    await press(..."look".split("").map(() => "Backspace"));
    await page.keyboard.type("go_to");
    await press("Tab");
    for (const [from, to, key, value] of EXITS) {
        await page.click("#fit");
        await stands();
        await page.mouse.click(...await boxOf(page, from));
        await until(`${from} is selected`, selected, from);
        await stands();
        const count = await page.evaluate(() => document.querySelectorAll(".exits > li").length);
        const handle = await page.evaluate(() => {
            const { x, y, width, height } = document.querySelector("#layer .handle").getBoundingClientRect();
            return [x + width / 2, y + height / 2];
        });
        await page.mouse.move(...handle);
        await page.mouse.down();
        await page.mouse.move(...await boxOf(page, to), { steps: 4 });
        await page.mouse.up();
        await until(`an exit leads from ${from} to ${to}`, () => document.querySelectorAll(".exits > li").length, count + 1);
        await until("it is selected", textsOf, [`→ ${to}`], ".exits .chosen .to");
        await click(key);
        await page.keyboard.type(value);
        await page.click("#fit");
        await until(`it has a condition: ${value}`, text => document.querySelector(".exits .chosen .when").textContent !== "always", true);
    }
    await page.mouse.click(...await boxOf(page, "post"));
    await click("Change exit 2");
    await click("Move exit 2 up");
}

/** A mistake that is not made, a deletion that asks, and another text of the file while a field is typed in. */
async function changesThatAreRefused() {
    await page.mouse.click(...await boxOf(page, "run"));
    await click("Change exit 1");
    await click("When");
    await press("End");
    await page.keyboard.type(" and");
    const why = () => document.querySelector(".form [aria-invalid=true]")?.closest(".field").querySelector(".error-text").textContent ?? null;
    await until("a condition without its end is told", why, "expected a value, a number, `not` or `(`");
    await press("Enter");
    await until("it is not taken over", fileText, MADE);
    await page.evaluate(() => document.querySelectorAll("#details details").forEach(more => { more.open = true; }));
    assert.deepEqual(await nameless(page), [], "every field has a name");
    if (folder) await page.screenshot({ path: `${folder}/studio-mistake.png` });
    writeFileSync(empty, `# Of another program.\n${MADE}`);
    await until("another text is taken over while a field is typed in", fileText, `# Of another program.\n${MADE}`);
    await until("what is typed in the field stays", () => document.activeElement.value, "distance < 1 and");
    await page.keyboard.type(" health > 1");
    await until("now it is no mistake", why, null);
    await press("Enter");
    await until("it is taken over", fileText, `# Of another program.\n${MADE.replace("distance < 1", "distance < 1 and health > 1")}`);
    await page.click("#undo");
    await until("it is undone", fileText, `# Of another program.\n${MADE}`);
    await until("it is undone in the picture", () => document.querySelector("#layer").textContent.includes("health > 1"), false);
    await page.mouse.click(...await boxOf(page, "hide"));
    await until("hide is selected", selected, "hide");
    await click("Delete state");
    await until("a state that is used is not deleted at once", textOf, "`hide` is used: exit 1 of `post`", "[data-notice=edit] span");
    await page.click("[data-notice=edit] button");
    await until("then it is, with the exits to it", fileText, `# Of another program.\n${MADE.replace(/    .*hide.*\n/, "").replace(/\[states\.hide\]\n.*\n\n/, "")}`);
    await until("nothing is selected", selected, null);
    await page.click("#undo");
    await until("it is back", names, [...stateNames].sort());
    await page.click("#redo");
    await until("and gone", names, stateNames.filter(name => name !== "hide").sort());
    await page.click("#undo");
    await page.click("#tab-run");
    await page.click("#step");
    await until("the machine runs", active, ["dead"]);
    await page.click("#tab-proof");
    await page.click("#prove");
    await until("it is proved", () => !/not been/.test(document.querySelector("#proof-note")?.textContent ?? ""), true);
    await page.click("#tab-state");
}

/** Presses the tab key until a control has the focus. */
async function tabTo(name) {
    for (let i = 0; i < 80; i++) {
        const at = await page.evaluate(label);
        if (at === name) return;
        await press("Tab");
    }
    throw new Error(`the tab key does not lead to ${name}`);
}

async function byKeyboard() {
    const made = [];
    for (const [name, around] of STATES) {
        if (made.length) await press("Escape");
        await press("n");
        await page.keyboard.type(name);
        // In the field of the name, the enter key would add the state already.
        if (made.length) {
            await press("Tab", "Home");
            if (around) await page.keyboard.type(around);
            await press("Enter");
        }
        await tabTo("Add state");
        await press("Enter");
        made.push(name);
        await until(`${name} is in the picture`, names, [...made].sort());
        await until("the next one can be added", () => [document.activeElement.id, document.activeElement.value], ["new-state", ""]);
    }
    const go = async name => {
        await press("Escape", "/");
        await page.keyboard.type(name);
        await press("Enter");
        await until(`${name} is selected`, selected, name);
    };
    await go("always");
    await press("Enter");
    await tabTo("Make global");
    await press("Enter");
    await until("a state is global", textsOf, ["always"], "#layer .global .name");
    await go("dead");
    await press("Enter");
    await tabTo("More");
    await press("Enter");
    await tabTo("Is an end");
    await press(" ");
    await until("a state is an end", () => document.querySelectorAll("#layer .end").length, 1);
    await go("post");
    await press("Enter");
    await tabTo("Does");
    await page.keyboard.type("go_to");
    await press("Enter");
    for (const [from, to, key, value] of EXITS) {
        await go(from);
        await press("e");
        await page.keyboard.type(to);
        await press("Enter");
        await until("the cursor is in its condition", label, "When");
        await tabTo(key);
        await page.keyboard.type(value);
        await press("Enter");
        await until(`it has a condition: ${value}`, () => document.querySelector(".exits .chosen .when").textContent !== "always", true);
    }
    await go("post");
    await press("Enter");
    await tabTo("Change exit 2");
    await press("Enter");
    await tabTo("Move exit 2 up");
    await press("Enter");
}

const LIKE = `[machines.imp]
initial = "stand"

[machines.imp.states.stand]
note = "waits"
exits = [{ to = "chase", on = "took_damage" }]

[machines.imp.states.chase]
exits = [{ to = "stand", after = "10 s" }]

[machines.baron]
like = "imp"
`;
/** Writes into the field that keeps its text under a name, and presses Enter. */
async function fill(keep, text) {
    await page.waitForFunction(keep => {
        const field = [...document.querySelectorAll("[data-keep]")].find(field => field.dataset.keep === keep);
        field?.focus();
        field?.select();
        return field && field === document.activeElement;
    }, {}, keep);
    await page.keyboard.type(text);
    await press("Enter");
}
const pressOn = name => page.evaluate(name => [...document.querySelectorAll("#panel-state button")].find(button => button.textContent === name).click(), name);

/** A new file, the words of a file, and a machine that is like another one. */
async function filesAndWords() {
    await page.click("#tab-state");
    await page.click("#new-file");
    await page.keyboard.type("fresh");
    await press("Enter");
    await until("the name of a file is checked", textOf, "the name of a definition ends in `.toml`, such as `fresh.toml`", "#new-why");
    await page.keyboard.type(".toml");
    await press("Enter");
    await until("a new file has no states", textOf, "No states yet", "#details h3");
    await until("it is in the list", () => document.querySelector("#files").value, "fresh.toml");
    await until("the cursor is where its first state is named", label, "New state");
    await page.keyboard.type("a\n");
    await until("it has a state", names, ["a"]);
    await page.click("#picture", { offset: { x: 5, y: 5 } });
    await until("no state is selected", textOf, "1 state", "#details h3");
    await page.evaluate(() => { document.querySelector("[data-open=words]").open = true; });
    await fill("new property", "lives");
    await fill("new property value", "in(b)");
    await until("a property with a mistake is told", () => [...document.querySelectorAll("#panel-state .error-text")].some(why => why.textContent.includes("b")), true);
    await press("Backspace", "Backspace");
    await page.keyboard.type("a)\n");
    await until("a property is written before the states", fileText, 'initial = "a"\n\n[properties]\nlives = { never = "in(a)" }\n\n[states.a]\n');
    await fill("new constant", "far");
    await fill("new constant value", "30");
    await until("so is a constant", () => document.querySelector(".cm-content").textContent.includes("[constants]far = 30"), true);
    await fill("constants far", "301");
    await until("which can be changed", () => document.querySelector(".cm-content").textContent.includes("far = 301"), true);
    await pressOn("Delete property");
    await until("a property is deleted with its table", () => document.querySelector(".cm-content").textContent.includes("properties"), false);
    assert.deepEqual(await nameless(page), [], "every field has a name");
    if (folder) await page.screenshot({ path: `${folder}/studio-words.png` });
    await page.click("#save");
    await until("the new file is saved", textOf, "Saved", "#status");

    // What a machine has from another one.
    writeFileSync(join(game, "like.toml"), LIKE);
    await until("another file is listed", () => [...document.querySelectorAll("#files option")].some(option => option.value === "like.toml"), true);
    await page.select("#files", "like.toml");
    await until("its machines are listed", textsOf, ["imp", "baron"], "#machines option");
    await page.select("#machines", "baron");
    await until("the other machine is shown", () => document.querySelector("#machines").value, "baron");
    await until("with its own states", () => document.querySelectorAll("#layer [data-state]").length, 2);
    await page.mouse.click(...await boxOf(page, "stand"));
    await until("a state is from the other machine", textsOf, ["initial", "from imp"], "#details .tag");
    await until("so is its note", () => document.querySelector("[data-keep='stand note']").placeholder, "waits");
    await until("which is told", () => document.querySelector("[data-keep='stand note']").labels[0].textContent, "Note (inherited)");
    await fill("stand note", "sleeps");
    await until("a note of its own is written", fileText, `${LIKE}\n[machines.baron.states.stand]\nnote = "sleeps"\n`);
    await pressOn("Write its exits here");
    await until("its exits are written", fileText, `${LIKE}\n[machines.baron.states.stand]\nnote = "sleeps"\nexits = [{ to = "chase", on = "took_damage" }]\n`);
    await until("and can be changed", isShown, true, "[aria-label='Change exit 1']");
    if (folder) await page.screenshot({ path: `${folder}/studio-like.png` });
    await page.click("#save");
    await until("this file is saved", textOf, "Saved", "#status");

    // A choice that is refused.
    await page.select("#files", "guard.toml");
    await until("the guard is shown", () => document.querySelector("#layer").textContent.includes("always"), true);
    await page.mouse.click(...await boxOf(page, "always"));
    await page.select("[data-keep='always parent']", JSON.stringify(["post", null]));
    const why = () => document.querySelector("[data-keep='always parent']").closest(".field").querySelector(".error-text").textContent;
    await until("a choice is refused", `(${why})() !== ""`, true);
    const told = await page.evaluate(why);
    const text = readFileSync(guard, "utf8");
    writeFileSync(guard, `# more\n${text}`);
    await until("the panel is drawn again, with the choice of the file", () => document.querySelector("[data-keep='always parent']").value, "");
    await until("it still says why", why, told);
}

await inWindow(window, game, async () => {
    await page.goto(url);

    // The picture.
    await until("every state is there", names, ["always", "chase", "dead", "hide", "hit", "post", "run"]);
    await until("the file is open", textOf, "Saved", "#status");
    await until("every exit has an arrow", () => [...new Set([...document.querySelectorAll("#layer [data-exit]")].map(arrow => arrow.dataset.exit))].sort(),
        ["0,0", "1,0", "1,1", "2,0", "3,0", "4,0", "5,0"]);
    await page.mouse.click(...await boxOf(page, "hide"));
    await until("a click selects a state", selected, "hide");
    await until("what the file says about it is beside the picture", textOf, "1 exit, tried in this order", "#details h4");
    await press("ArrowUp");
    await until("a key leads to the state above", selected, "post");
    const onArrow = await page.evaluate(() => {
        const line = document.querySelector("#layer [data-exit='1,1'] .hit");
        const { x, y } = line.getPointAtLength(line.getTotalLength() * 0.8).matrixTransform(line.getScreenCTM());
        return [x + 3, y];
    });
    await page.mouse.click(...onArrow);
    await until("a click near an arrow selects its exit", textsOf, ["→ hide"], "#details .exits .chosen .to");
    await page.mouse.click(...await boxOf(page, "post"));
    await press("/");
    await page.keyboard.type("H");
    await until("the search lists the best first", textsOf, ["hit", "hide", "chase"], "#found [role=option]");
    await press("ArrowDown", "ArrowDown", "Enter");
    await until("the search finds a state", selected, "chase");
    await press(" ");
    await until("a state is folded by the keyboard", names, ["always", "chase", "dead", "hide", "post"]);
    await press("/");
    await page.keyboard.type("run");
    await press("Enter");
    await until("a state in it is found, and it is opened", selected, "run");
    await press("ArrowUp");
    await until("the state around it is above", selected, "chase");
    await press(" ");
    await until("it is folded again", names, ["always", "chase", "dead", "hide", "post"]);
    await press("Enter");
    await until("and opened by the keyboard", names, ["always", "chase", "dead", "hide", "hit", "post", "run"]);
    const zoom = () => Number.parseInt(document.querySelector("#zoom").textContent);
    await press("+", "+", "+");
    assert.ok(await page.evaluate(zoom) > 150, "the keys zoom");
    await until("the map shows where the view is", isShown, true, "#minimap");
    await press("f");
    await until("all of it is seen again", isShown, false, "#minimap");

    // A run.
    await page.click("#tab-run");
    await until("the values that the machine reads have controls", textsOf, ["distance", "enemy_visible", "health"], "#values > .value .name");
    await until("a value with a range has a slider", () => { const { min, max } = document.querySelector("[data-slider=health]"); return [min, max]; }, ["0", "100"]);
    await set("health", 60);
    await set("distance", 3);
    await page.click("#step");
    await until("the machine begins", active, ["post"]);
    await until("it says why it stays", textsOf, [
        "always to dead: no: health <= 0 (health = 60) does not hold",
        "post to chase: no: enemy_visible does not hold",
        "post to hide on took_damage: hide cannot be entered: health < 50 (health = 60) does not hold",
    ], "#why li");
    await set("enemy_visible", true);
    await until("a value that was set counts at once", textsOf, [
        "always to dead: no: health <= 0 (health = 60) does not hold",
        "post to chase: yes: enemy_visible holds, health > 20 (health = 60) holds",
        "post to hide on took_damage: hide cannot be entered: health < 50 (health = 60) does not hold",
    ], "#why li");
    await leavesFocus();
    await press("s");
    await until("the machine changes", active, ["chase", "run"]);
    await until("the exit is marked", taken, ["1,0"]);
    await set("distance", 0.5);
    await page.click("#step");
    await until("it changes again", active, ["chase", "hit"]);
    await page.click("#back");
    await until("a tick can be seen again", active, ["chase", "run"]);
    await until("with its exit", taken, ["1,0"]);
    await set("enemy_visible", false);
    await page.click("#step");
    await until("and the run goes on in another way", active, ["post"]);
    await set("health", 30);
    await page.click("[data-message=took_damage]");
    await until("a message leads to its exit", taken, ["1,1"]);
    await until("the log says so", () => document.querySelector("#log pre").textContent.includes("post -> hide"), true);
    await page.select("#speed", "64");
    await page.click("#play");
    await until("time passes by itself", active, ["post"]);
    await page.click("#play");
    await page.click("#keep");
    await until("the run is kept", () => document.querySelector("[data-notice=kept] span")?.textContent.startsWith("The run was added to guard.tests.toml"), true);
    assert.match(readFileSync(join(game, "guard.tests.toml"), "utf8"), /post -> hide/);
    await page.click("[data-notice=kept] button");

    // A proof.
    await page.click("#tab-proof");
    await page.click("#prove");
    await until("the property fails", () => document.querySelector("#properties li")?.className, "bad");
    await until("it says how", () => document.querySelector("#properties .way").textContent, "0 s: post → dead");
    await page.evaluate(() => [...document.querySelectorAll("#properties button")].find(button => button.textContent === "Play it").click());
    await until("its witness is played", active, ["dead"]);
    await until("in the runner", isShown, true, "#panel-run");

    // The text.
    await page.click("#tab-text");
    await type("\n[states.rest]\nexits = [{ to = \"post\" }]\n");
    await until("the picture follows the text", names, ["always", "chase", "dead", "hide", "hit", "post", "rest", "run"]);
    await until("the file is edited", textOf, "Edited", "#status");
    await until("a state to which no exit leads is marked", textsOf, ["rest"], "#layer .box.warning .name");
    await until("and says so", () => document.querySelector("#layer .box.warning").getAttribute("aria-label").includes("rest, 1 exit, "), true);
    await until("so does the text", () => document.querySelectorAll("#problems .warning").length, 1);
    await until("the proof is out of date", textOf, "The text has changed since the last proof.", "#proof-note");
    await page.keyboard.down("Control");
    await press("s");
    await page.keyboard.up("Control");
    await until("it is saved", textOf, "Saved", "#status");
    assert.match(readFileSync(guard, "utf8"), /\[states\.rest\]/);
    await type("[states.rest");
    await until("a mistake is told", textOf, "Edited, with a mistake", "#status");
    await until("the picture stays", names, ["always", "chase", "dead", "hide", "hit", "post", "rest", "run"]);
    assert.ok(await page.evaluate(isShown, "#picture-note"), "the picture says that it is not that of the text");
    await page.click("#save");
    await until("a text with a mistake is not saved without a question", isShown, true, "#broken");
    await press("Escape");
    assert.ok(!readFileSync(guard, "utf8").endsWith("[states.rest"));
    await page.focus(".cm-content");
    await page.keyboard.down("Control");
    // How much one key undoes depends on how fast the text was typed.
    for (let i = 0; i < 20 && await page.evaluate(() => !document.querySelector("#save").disabled); i++) await press("z");
    await page.keyboard.up("Control");
    await until("undo leads back to the text that was saved", textOf, "Saved", "#status");

    // A change outside.
    writeFileSync(guard, GUARD.replace("health > 20", "health > 35"));
    await until("a change outside is taken over", () => document.querySelector("#layer").textContent.includes("and health > 35"), true);
    await until("nothing is left to save", textOf, "Saved", "#status");
    assert.equal(await page.evaluate(() => document.querySelector("[data-notice]")), null, "without edits, the page does not ask");
    await type("# mine\n");
    writeFileSync(guard, GUARD.replace("health > 20", "health > 45"));
    await until("with edits, the page asks", textsOf, ["Take the file's text", "Keep mine, and replace the file"], "[data-notice=outside] button");
    assert.match(readFileSync(guard, "utf8"), /health > 45/);
    await page.evaluate(() => document.querySelectorAll("[data-notice=outside] button")[1].click());
    await until("mine is kept", textOf, "Saved", "#status");
    assert.match(readFileSync(guard, "utf8"), /health > 35[^]*# mine\n$/);

    // A second window.
    const second = await window.another();
    await second.goto(url);
    await second.waitForSelector("#layer [data-state]");
    await second.click("#tab-text");
    await second.focus(".cm-content");
    await second.keyboard.type("# theirs\n");
    await second.click("#save");
    await second.waitForFunction(() => document.querySelector("#status").textContent === "Saved");
    await page.bringToFront();
    await until("another window's text is taken over", () => document.querySelector(".cm-content").textContent.includes("# theirs"), true);
    await second.close();

    // What a screen reader is told: every control has a name.
    await page.bringToFront();
    for (const tab of ["state", "text", "run", "proof"]) {
        await page.click(`#tab-${tab}`);
        assert.deepEqual(await nameless(page), [], `every control has a name: ${tab}`);
    }
    await until("a state says what it is", () => [...document.querySelectorAll("[aria-label]")].some(box => box.getAttribute("aria-label").startsWith("run, go_to, 1 exit")), true);
    console.log("ok: every control has a name");

    // Narrow windows, large text, light and dark.
    for (const [width, height] of [[1400, 900], [800, 900], [400, 800]]) {
        await page.setViewport({ width, height });
        for (const scheme of ["light", "dark"]) {
            await page.emulateMediaFeatures([{ name: "prefers-color-scheme", value: scheme }]);
            for (const tab of ["state", "text", "run", "proof"]) {
                await page.click(`#tab-${tab}`);
                if (tab === "state") {
                    await page.evaluate(() => document.querySelector("#layer [data-state='1']").dispatchEvent(new MouseEvent("click", { bubbles: true })));
                    await page.evaluate(() => document.querySelector("[aria-label='Change exit 1']").click());
                }
                await page.evaluate(() => new Promise(resolve => setTimeout(resolve, 250)));
                const over = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
                assert.ok(over <= 0, `nothing is beside a window of ${width} pixels: ${over}`);
                assert.deepEqual(await page.evaluate(faint), [], `every text can be read: ${scheme}, ${tab}`);
                if (folder) await page.screenshot({ path: `${folder}/studio-${width}-${scheme}-${tab}.png` });
            }
        }
    }
    await page.evaluate(() => { document.documentElement.style.fontSize = "200%"; });
    await page.setViewport({ width: 800, height: 900 });
    await until("a window with large text has nothing beside it", () => document.documentElement.scrollWidth <= innerWidth, true);
    if (folder) await page.screenshot({ path: `${folder}/studio-800-large.png` });

    await page.evaluate(() => { document.documentElement.style.fontSize = ""; });
    await page.setViewport({ width: 1400, height: 900 });
    await filesAndWords();

    // A machine from nothing.
    writeFileSync(empty, "");
    const other = await studio(program, empty, "--words", words);
    for (const [way, make] of [["mouse", byMouse], ["keyboard", byKeyboard]]) {
        await window.renew();
        ({ page } = window);
        await page.goto(other);
        await until("an empty file has no states", textOf, "No states yet", "#details h3");
        await make();
        await until(`a machine is made by ${way}`, fileText, MADE);
        if (folder) await page.screenshot({ path: `${folder}/studio-made-${way}.png` });
        await until("it can be saved", textOf, "Edited", "#status");
        await page.click("#save");
        await until("it is saved", textOf, "Saved", "#status");
        assert.equal(readFileSync(empty, "utf8"), MADE);
        if (way === "mouse") await changesThatAreRefused();
        let steps = 0;
        for (; steps < 100 && await page.evaluate(() => !document.querySelector("#undo").disabled); steps++) {
            if (way === "mouse") await page.click("#undo");
            else {
                await page.keyboard.down("Control");
                // Without Shift, the second is what the browser sends while Caps Lock is on.
                await press(steps % 2 ? "Z" : "z");
                await page.keyboard.up("Control");
            }
        }
        assert.ok(steps > 20, `each edit is a step: ${steps}`);
        await until("everything is undone", fileText, "");
        await until("and the picture is empty", names, []);
        writeFileSync(empty, "");
    }

    assert.deepEqual(window.complaints, []);
    assert.deepEqual([...window.hosts], [url, other].map(url => new URL(url).host));
    console.log("The studio shows, plays, proves and saves.");
}, async () => { if (folder) await page.screenshot({ path: `${folder}/studio-failed.png` }); });
