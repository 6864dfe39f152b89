// Tests how the studio watches a running game: game.mjs TOOL GAME CHROMIUM [FOLDER FOR SCREENSHOTS]
//
// TOOL is the tool `demeanor`, and GAME the example `known_crowd` of the inspector, which ticks on command. The screenshot
// `studio_watch.png`, for the page about the studio, shows the example `crowd`, which is beside it.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { active, inWindow, faint, nameless, selected, studio, taken } from "./page.mjs";
import { Window, isShown, linesOf, textOf, textsOf } from "./window.mjs";

const [program, gameProgram, executablePath, folder] = process.argv.slice(2);
const WOLF = `initial = "roam"

[properties]
fed = { never = "hunger > 90" }

[states.roam]
exits = [{ to = "hunt", when = "hunger > 60" }]

[states.hunt]
exits = [{ to = "roam", when = "hunger < 20" }]
`;
const place = mkdtempSync(join(tmpdir(), "studio-"));
const wolf = join(place, "wolf.toml");
writeFileSync(wolf, WOLF);
writeFileSync(join(place, "door.toml"), 'initial = "closed"\n\n[states.closed]\nexits = [{ to = "open", after = 1 }]\n\n[states.open]\nfinal = true\n');

/** Returns a port at which nobody listens. */
const freePort = () => new Promise(resolve => {
    const server = createServer().listen(0, "127.0.0.1", () => {
        const { port } = server.address();
        server.close(() => resolve(port));
    });
});
let child;
let said;
async function start(port) {
    child = spawn(gameProgram, [`127.0.0.1:${port}`, wolf], { stdio: ["pipe", "pipe", "inherit"] });
    said = linesOf(child);
    assert.equal((await said.next()).value, `http://127.0.0.1:${port}/`);
}
async function tick(count) {
    child.stdin.write(`tick ${count}\n`);
    for (let i = 0; i < count; i++) await said.next();
}
async function end() {
    const ended = new Promise(resolve => child.once("exit", resolve));
    child.stdin.end();
    await ended;
}

const port = await freePort();
const url = await studio(program, place);
// A text with a mistake has no picture.
const window = await Window.open(executablePath, text => text.includes("422"));
const { page, until } = window;
/** The number of characters in each state of the picture. */
const census = () => Object.fromEntries([...document.querySelectorAll("#layer [data-state]")].map(box => [box.querySelector(".name").textContent, box.querySelector(".census text")?.textContent ?? null]));
const flowing = () => [...new Set([...document.querySelectorAll("#layer .flows")].map(arrow => arrow.dataset.exit))];
/** Writes an address into the field, and presses Enter. */
async function watch(address) {
    if (await page.evaluate(() => document.querySelector("#game-watch").textContent) === "Stop watching") await page.click("#game-watch");
    await page.evaluate(() => document.querySelector("#game-address").select());
    await page.focus("#game-address");
    await page.keyboard.type(address);
    await page.keyboard.press("Enter");
}
async function save() {
    await page.keyboard.down("Control");
    await page.keyboard.press("s");
    await page.keyboard.up("Control");
    await until("the file is saved", textOf, "Saved", "#status");
}

/** Takes a picture of the wolves of the example `crowd`. */
async function takePicture() {
    const crowd = spawn(join(dirname(gameProgram), "crowd"), ["127.0.0.1:0"], { stdio: ["ignore", "pipe", "inherit"] });
    try {
        const address = (await linesOf(crowd).next()).value;
        const other = await studio(program, "crates/demeanor-inspector/examples/crowd", "--game", address);
        window.hosts.clear();
        await page.emulateMediaFeatures([]);
        await page.goto(other);
        await page.click("#tab-game");
        await page.type("#game-search", "wolf 78\n");
        await until("a wolf is followed", () => document.querySelectorAll("#game-changes li").length > 4, true);
        await page.screenshot({ path: `${folder}/studio_watch.png` });
        await page.goto(url);
        window.hosts.clear();
        window.hosts.add(new URL(url).host);
    } finally { crowd.kill(); }
}

await inWindow(window, place, async () => {
    await page.goto(url);
    await page.waitForSelector("#layer [data-state]");
    await page.select("#files", "wolf.toml");
    await until("the wolves' file is open", census, { roam: null, hunt: null });
    await page.click("#tab-game");

    // Where there is no game.
    await watch("nowhere");
    await until("what is no address is told", textOf, "`nowhere` is not the address of a game, such as 127.0.0.1:7878.", "#game-status");
    await watch("192.0.2.1:7878");
    await until("another computer is not watched", textOf, "192.0.2.1:7878 is on another computer: only a game on this one is watched.", "#game-status");
    await watch(new URL(url).host);
    await until("what is no game is told", textOf, `What answers at ${new URL(url).host} is not the inspector of a game.`, "#game-status");
    await watch(String(port));
    await until("a game that is not there is told", textOf, `No game answers at 127.0.0.1:${port}: waiting until it starts.`, "#game-status");
    await start(port);
    await until("the game is found when it starts", textOf, "The game is running.", "#game-status");

    // Many characters.
    await until("those with the states of the picture are chosen", () => document.querySelector("#game-crowd").value, "wolves");
    await until("the picture says how many are where", census, { roam: "2", hunt: "0" });
    await until("the game has the text of the page", textOf, "The game plays this text.", "#game-match");
    await tick(1);
    await until("one has changed", census, { roam: "1", hunt: "1" });
    await until("its way is marked", flowing, ["0,0"]);
    await until("the ways rest when nobody changes", flowing, []);
    await until("a state says how many are in it", () => document.querySelector("#layer [data-state='0']").getAttribute("aria-label"), "roam, initial, 1 exit, 1 character in it");
    await page.select("#game-crowd", "soldiers");
    await until("characters with another machine are told", textOf, "soldiers have none of these states: they run another machine. Open its file above, or choose other characters.", "#game-match");
    await until("they are not in the picture", census, { roam: null, hunt: null });
    await page.select("#game-crowd", "wolves");
    await until("the wolves are in the picture again", census, { roam: "1", hunt: "1" });

    // One character.
    await page.click("#layer [data-state='1']");
    await until("a state is selected", selected, "hunt");
    await page.click("#game-list");
    await until("its characters are listed", textsOf, ["Wolf (2v1)"], "#game-found button");
    await until("their number is told", textOf, "1 character found in hunt, among 2 of 2.", "#game-found-note");
    await page.click("#game-search");
    await page.keyboard.type("1v1");
    await page.keyboard.press("Enter");
    await until("a character is followed", textOf, "roam for 1 s", "#game-path");
    await until("the picture shows where it is", active, ["roam"]);
    await until("it says why it stays", textsOf, ["roam to hunt: no hunger > 60 (hunger = 35) does not hold"], "#game-why li");

    // An edit that the game takes over.
    await page.evaluate(() => document.querySelector("#tab-state").click());
    await page.click("#layer [data-state='0']");
    await page.click("[aria-label='Change exit 1']");
    await page.evaluate(() => { const field = document.querySelector("[data-keep='roam exit 0 when']"); field.focus(); field.select(); });
    await page.keyboard.type("hunger > 30");
    await page.keyboard.press("Enter");
    await until("the text is edited", textOf, "Edited", "#status");
    await page.click("#tab-game");
    await until("the game has the text before", textOf, "The game plays the text before your edits. Save, and a game that watches its files plays this one.", "#game-match");
    await until("what is different is listed", textsOf, ["only here: roam → hunt: hunger > 30", "only in the game: roam → hunt: hunger > 60"], "#panel-game [aria-label='What is different in the game'] li");
    await until("the character stays as it was", active, ["roam"]);
    await save();
    assert.equal(readFileSync(wolf, "utf8"), WOLF.replace("60", "30"));
    await until("the game takes it over", textOf, "The game plays this text: it took it over at 1.0 s.", "#game-match");
    await tick(1);
    await until("the character does what the edit says", active, ["hunt"]);
    await until("on this way", taken, ["0,0"]);
    await until("which is in its history", () => document.querySelector("#game-changes li").textContent, "0 s agoroam → hunt");
    await until("all hunt now", census, { roam: "0", hunt: "2" });
    assert.deepEqual(await nameless(page), [], "every control has a name");
    for (const [width, height] of [[1400, 900], [800, 900], [400, 800]]) {
        await page.setViewport({ width, height });
        for (const scheme of ["light", "dark"]) {
            await page.emulateMediaFeatures([{ name: "prefers-color-scheme", value: scheme }]);
            await until(`nothing is beside a window of ${width} pixels`, () => document.documentElement.scrollWidth <= innerWidth, true);
            await until(`every text can be read: ${scheme}`, faint, []);
            if (folder) await page.screenshot({ path: `${folder}/studio-${width}-${scheme}-game.png` });
        }
    }
    await page.setViewport({ width: 1400, height: 900 });

    // The past.
    const goTo = at => page.evaluate(at => { const slider = document.querySelector("#game-moment"); slider.value = at; slider.dispatchEvent(new Event("input")); }, at);
    await goTo(0);
    await until("in the beginning, both roamed", census, { roam: "2", hunt: "0" });
    await until("which is said", textOf, "At 0.0 s", "#game-then");
    await until("the picture shows where the character was", active, ["roam"]);
    await until("and so does the panel", textOf, "At 0.0 s: roam", "#game-before");
    await page.click("#game-live");
    await until("now both hunt", census, { roam: "0", hunt: "2" });
    await until("the character is where it is now", active, ["hunt"]);
    await page.reload();
    await page.waitForSelector("#layer [data-state]");
    await page.select("#files", "wolf.toml");
    await page.click("#tab-game");
    await watch(String(port));
    await until("the game has kept its past", () => Number(document.querySelector("#game-moment").max) > 1, true);
    await goTo(0);
    await until("from the beginning", census, { roam: "2", hunt: "0" });
    await page.click("#game-live");
    await page.click("#game-search");
    await page.keyboard.type("1v1\n");
    await until("the character is followed again", textOf, "hunt for 0 s", "#game-path");

    // Pause and step.
    await page.click("#game-pause");
    await until("the game is paused", textOf, "The game is paused.", "#game-status");
    child.stdin.write("tick 2\n");
    await page.click("#game-step");
    await said.next();
    await until("one step is one tick", textOf, "2 characters, 2 awake, at 3.0 s", "#game-figures");
    await page.click("#game-pause");
    await said.next();
    await until("the game goes on", textOf, "2 characters, 2 awake, at 4.0 s", "#game-figures");

    // The data of the character, and messages.
    await until("its data are shown", textsOf, ["hunger: 35"], "#game-data li");
    child.stdin.write("howl\n");
    const messages = () => [...document.querySelectorAll("#game-messages li")].map(line => line.lastChild.textContent);
    await until("messages are listed", () => document.querySelectorAll("#game-messages li").length, 2);
    await until("with who sent them to whom", messages, ["Wolf (1v1) to Wolf (2v1): howl, unhandled", "Wolf (1v1) to Wolf (1v1): howl, unhandled"]);
    await page.type("#game-message-filter", "to wolf (1v1)");
    await page.evaluate(() => document.querySelector("#game-message-filter").select());
    await page.type("#game-message-filter", "nothing");
    await until("none has this text", messages, []);
    await page.evaluate(() => { document.querySelector("#game-message-filter").value = ""; document.querySelector("#game-message-filter").dispatchEvent(new Event("input")); });

    // Breakpoints.
    await page.click("#layer [data-state='0']");
    await page.click("#game-break");
    await until("there is a breakpoint", textsOf, ["wolves: one enters roam ✕"], "#game-breaks button");
    await until("the button says so", () => document.querySelector("#game-break").getAttribute("aria-pressed"), "true");
    await page.click("#game-break-property");
    await until("and another one", textsOf, ["wolves: one enters roam ✕", "wolves: a property fails ✕"], "#game-breaks button");
    await tick(1);
    await until("the game goes on as long as no wolf enters it", textOf, "The game is running.", "#game-status");
    child.stdin.write("eat\n");
    await tick(1);
    await until("it stops when one does", textOf, "The game is paused: Wolf (2v1) has entered roam at 6.00 s, and 1 more in this tick.", "#game-status");
    await page.click("#game-stopped");
    await until("this one is followed", textOf, "roam for 0 s", "#game-path");
    await page.click("#game-breaks button");
    await until("a breakpoint is removed", textsOf, ["wolves: a property fails ✕"], "#game-breaks button");
    await page.click("#game-pause");
    await until("the game goes on", textOf, "The game is running.", "#game-status");
    child.stdin.write("starve\n");
    await tick(1);
    await until("it stops when a property fails", textOf, "The game is paused: Wolf (1v1) violates fed in hunt at 7.00 s, and 1 more in this tick.", "#game-status");
    await until("which is listed", textsOf, ["Wolf (2v1) fails fed in hunt at 7.0 s", "Wolf (1v1) fails fed in hunt at 7.0 s"], "#game-violated li");
    await page.click("#game-breaks button");
    await until("there are no breakpoints", isShown, false, "#game-breaks");
    await page.click("#game-pause");
    await until("the game is running again", textOf, "The game is running.", "#game-status");

    // Another file, and the end of the game.
    await page.select("#files", "door.toml");
    await until("in another file, nobody is", textOf, "wolves have none of these states: they run another machine. Open its file above, or choose other characters.", "#game-match");
    await until("nor in its picture", census, { closed: null, open: null });
    await page.select("#files", "wolf.toml");
    await until("in their own, they are", census, { roam: "0", hunt: "2" });
    await end();
    await until("the end of the game is told", textOf, `No game answers at 127.0.0.1:${port}: waiting until it starts.`, "#game-status");
    await until("nobody is in the picture", census, { roam: null, hunt: null });
    await start(port);
    await until("the game is found again", textOf, "The game is running.", "#game-status");
    await until("it has begun again", census, { roam: "2", hunt: "0" });
    await until("and the character is followed again", textOf, "roam for 0 s", "#game-path");
    await page.click("#game-watch");
    await until("the game is watched no longer", isShown, false, "#game-figures");
    await until("the picture is as before", census, { roam: null, hunt: null });
    await end();

    // A file that begins with a mistake.
    writeFileSync(join(place, "owl.toml"), 'initial = "perch"\n\n[states.perch]\nexits = [{ to = "flie" }]\n\n[states.fly]\n');
    await page.click("#tab-state");
    await until("the file is found", () => [...document.querySelector("#files").options].map(option => option.value), ["door.toml", "owl.toml", "wolf.toml"]);
    await page.select("#files", "owl.toml");
    await until("its mistake is told in the panel", textOf, "The text has a mistake", "#details h3");
    await until("and which one", () => document.querySelector("#details .error-text").textContent, "unknown state `flie`");
    await page.click("#details button");
    await until("and where", isShown, true, "#panel-text .cm-shown");

    if (folder) await takePicture();
    assert.deepEqual(window.complaints, []);
    assert.deepEqual([...window.hosts], [new URL(url).host], "the page asks only its own server");
    console.log("The studio watches the game.");
}, async () => { if (folder) await page.screenshot({ path: `${folder}/studio-failed.png` }); }).finally(() => child?.kill());
