// Tests the inspector's page in a browser: browser.mjs GAME CHROMIUM [FOLDER FOR SCREENSHOTS]
//
// GAME is the example `known_crowd`, which ticks on command. Each step waits until the page shows the expected content, or until a
// deadline. A warning or an error on the page's console fails the test, unless the game has ended at that time.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { Window, isShown, linesOf, textOf, textsOf } from "./window.mjs";

const [program, executablePath, folder] = process.argv.slice(2);

/** A game, with the address of its page. */
async function start(address) {
    const child = spawn(program, [address], { stdio: ["pipe", "pipe", "inherit"] });
    const lines = linesOf(child);
    const url = (await lines.next()).value;
    assert.match(url ?? "", /^http:\/\/127\.0\.0\.1:\d+\/$/);
    return {
        url,
        async tick(count) {
            child.stdin.write(`tick ${count}\n`);
            for (let i = 0; i < count; i++) await lines.next();
        },
        say: line => child.stdin.write(`${line}\n`),
        ask: count => child.stdin.write(`tick ${count}\n`),
        async end() {
            const ended = new Promise(resolve => child.once("exit", resolve));
            child.stdin.end();
            await ended;
        },
    };
}

let game = await start("127.0.0.1:0");
let isGone = false;
const window = await Window.open(executablePath, () => isGone);
const { page, until } = window;

const text = selector => page.evaluate(textOf, selector);
const states = () => Object.fromEntries([...document.querySelectorAll("#states tr")].map(row => [row.dataset.state, row.children[1].textContent]));
async function screenshot(name, { width, height, scheme }) {
    if (!folder) return;
    await page.emulateMediaFeatures([{ name: "prefers-color-scheme", value: scheme }]);
    await page.setViewport({ width, height });
    await page.screenshot({ path: `${folder}/${name}.png`, fullPage: true });
}

try {
    await page.goto(game.url);
    await until("the page is live", textOf, "Live", "#status");
    await until("both crowds are there", () => [...document.querySelectorAll("#crowds button")].map(button => button.textContent), ["soldiers", "wolves"]);
    await until("nobody has moved", states, { Wait: "10" });

    await game.tick(1);
    await until("three soldiers sleep, and three march", states, { Wait: "4", Sleep: "3", March: "3" });
    await until("the figures are right", () => document.querySelector("#figures").textContent, "10 owners, 7 awake, at 1.0 s");
    await until("the legend has the counts", () => document.querySelector("#legend").textContent, "Wait 4Sleep 3March 3");
    await until("the graph has the states", () => Object.fromEntries([...document.querySelectorAll("#graph .node")].map(node => [node.dataset.state, node.querySelector(".number").textContent])), { Wait: "4", Sleep: "3", March: "3" });
    assert.ok(await page.evaluate(() => document.querySelector("#chart canvas").width > 300), "the chart is drawn");

    await until("a screen reader hears them", () => [...document.querySelectorAll("#graph .node")].map(node => node.getAttribute("aria-label")).sort(), ["March, 3 owners", "Sleep, 3 owners", "Wait, 4 owners"]);
    await until("those in the camp are in a box", textsOf, ["Camp"], "#graph .around-name");
    const width = () => document.querySelector("#graph svg").getBoundingClientRect().width;
    const fit = await page.evaluate(width);
    await page.click("#larger");
    await page.click("#larger");
    assert.ok(await page.evaluate(width) > 1.5 * fit, "the graph is larger");
    await page.click("#fit");
    await until("all of it is seen again", width, fit);

    // The table: sorted by a column, filtered, and the owners in a state.
    const order = () => [...document.querySelectorAll("#states tr")].map(row => row.dataset.state);
    const column = nth => page.click(`#columns th:nth-child(${nth}) button`);
    await column(1);
    await until("the states are sorted by name", order, ["March", "Sleep", "Wait"]);
    await column(1);
    await until("and in the other direction", order, ["Wait", "Sleep", "March"]);
    await column(2);
    await until("the most owners come first", () => document.querySelector("#states tr").dataset.state, "Wait");
    await until("which a screen reader hears", () => [...document.querySelectorAll("#columns th")].map(column => column.getAttribute("aria-sort")), [null, "descending", null, null, null, null, null]);
    await page.type("#filter", "sl");
    await until("only some states are listed", order, ["Sleep"]);
    await page.click("#states button");
    await page.click("#in-state");
    await until("the owners in a state are listed", textsOf, [0, 1, 2].map(number => `soldier <${number}> (${number + 1}v1)`), "#found button");
    await until("their number is told", textOf, "3 found in Sleep among 10 of 10 owners.", "#found-note");
    await page.keyboard.press("Escape");
    await page.evaluate(() => { document.querySelector("#filter").value = ""; document.querySelector("#filter").dispatchEvent(new Event("input")); });
    await page.click("#states [data-state=Sleep] button");

    // An owner that stands out, selected with the mouse. Its name contains special characters of HTML.
    await page.evaluate(() => [...document.querySelectorAll("#lists button")].find(button => button.textContent === "refused").click());
    await until("four are refused", () => [...document.querySelectorAll("#list tr")].map(row => row.textContent).sort(),
        [3, 5, 7, 9].map(number => `soldier <${number}> (${number + 1}v1)1 times, last to March by March.can_enter`));
    await page.evaluate(() => document.querySelector("#list button").click());
    await until("one of them is watched", isShown, true, "#watched");
    await until("its path is shown", () => document.querySelectorAll("#path .chip").length, 2);

    // A sleeping owner with its timer, selected with the keyboard.
    await page.keyboard.press("/");
    await page.keyboard.type("soldier <2>");
    await page.keyboard.press("Enter");
    await until("the search finds a sleeper", () => document.querySelector("#path").textContent, "soldier <2> (3v1)Camp 1.0 s›Sleep 0 s");
    await until("its timer is shown", () => document.querySelector("#waits").textContent, "Stack and timersIn 60 s: change to March, unless Sleep is left");
    await until("it is asleep", () => document.querySelector("#facts").textContent, "Before: Wait. Asleep until something happens.");
    await game.tick(2);
    await until("the sleeper is followed", () => document.querySelector("#path").textContent, "soldier <2> (3v1)Camp 3.0 s›Sleep 2.0 s");
    await until("a stay has a length", () => document.querySelector("#states [data-state=Wait]").children[5].textContent, "≈ 1.5 s");
    await until("a screen reader hears its timeline", () => document.querySelector("#timeline").getAttribute("aria-label"), "Timeline, the last states: Wait for 1.0 s, Sleep for 2.0 s");
    await until("its change is in its history", () => document.querySelector("#entries").textContent, "2.0 s agoWait → Sleepafter 1.0 s");

    // A change by hand.
    await page.select("#target", "March");
    await page.click("[data-kind=force]");
    await until("the sleeper has been woken by hand", states, { Wait: "4", Sleep: "2", March: "4" });
    // A change that ends early.
    await page.select("#target", "Sleep");
    await page.click("[data-kind=change]");
    await until("a soldier has come back to the camp", states, { Wait: "4", Sleep: "2", March: "3", Camp: "1" });
    await until("his history says so", () => document.querySelector("#entries tr").textContent, "0 s agoMarch → Sleep stayed in Camp");
    await until("so does the graph", () => [...document.querySelectorAll("#graph .edge title")].map(title => title.textContent).filter(title => title.startsWith("March")).sort(),
        ["March to Camp: 1 in all", "March to Sleep: 1 in all, 1 of them ended early"]);
    await page.click("[data-kind=revert]");
    await until("a soldier who has gone back marches", states, { Wait: "4", Sleep: "2", March: "4", Camp: "0" });
    await until("what others have done from there", () => document.querySelector("#exits").textContent, "Sleep 1 times, 1 of them ended early");
    await page.keyboard.press("Escape");
    await until("the owner is closed", isShown, false, "#watched");

    // The past.
    const goTo = at => page.evaluate(at => { const slider = document.querySelector("#moment"); slider.value = at; slider.dispatchEvent(new Event("input")); }, at);
    await page.keyboard.press("/");
    await page.evaluate(() => document.querySelector("#text").select());
    await page.keyboard.type("soldier <2>\n");
    await until("the soldier marches", textOf, "soldier <2> (3v1)March 0 s", "#path");
    await goTo(0);
    await until("in the beginning, all waited", states, { Wait: "10" });
    await until("at that time", textOf, "At 0.0 s", "#moment-text");
    await until("the graph says so", () => document.querySelector("#graph .node[data-state=Wait] .number").textContent, "10");
    await until("and where the soldier was", textOf, "At 0.0 s: Camp › Wait", "#then");
    await game.tick(1);
    await until("it stays when the game goes on", textOf, "At 0.0 s", "#moment-text");
    assert.deepEqual(await page.evaluate(states), { Wait: "10" });
    await page.click("#live");
    await until("now they are elsewhere", states, { Wait: "4", Sleep: "2", March: "4", Camp: "0" });
    await until("which is now", textOf, "Now", "#moment-text");
    await page.reload();
    await until("the page is there again", textOf, "Live", "#status");
    await until("the game has kept it for another page", () => Number(document.querySelector("#moment").max) > 1, true);
    await goTo(0);
    await until("from the beginning", states, { Wait: "10" });
    await page.click("#live");

    // Pause and step.
    await page.evaluate(() => document.activeElement.blur());
    await page.keyboard.press("p");
    await until("the game is paused", textOf, "Paused", "#status");
    game.ask(2);
    await page.keyboard.press("s");
    await until("one step is one tick", textOf, "10 owners, 8 awake, at 5.0 s", "#figures");
    await page.keyboard.press("p");
    await until("the game goes on", textOf, "10 owners, 8 awake, at 6.0 s", "#figures");

    // The explanation of a definition.
    await page.keyboard.press("2");
    await until("the wolves are shown", states, { roam: "1", hunt: "1" });
    await page.evaluate(() => document.querySelector("#text").value = "1v1");
    await page.evaluate(() => document.querySelector("#search").requestSubmit());
    await until("a wolf does not hunt because it is not hungry", () => document.querySelector("#exits").textContent, "roam → hunt: nohunger > 60 (hunger = 35) does not hold");
    await until("an exit that nobody has taken is dashed", () => document.querySelectorAll("#graph .edge.never").length, 1);

    // The data of the wolf, and messages.
    await until("its data are shown", textsOf, ["hunger: 35"], "#data li");
    game.say("howl");
    await until("messages are listed", () => [...document.querySelectorAll("#message-list tr")].map(row => [...row.children].map(cell => cell.textContent).join(" | ")),
        ["6.0 s | Wolf (1v1) | Wolf (2v1) | howl | unhandled", "6.0 s | Wolf (1v1) | Wolf (1v1) | howl | unhandled"]);
    await page.type("#message-filter", "2v1");
    await until("those with a text in them", () => document.querySelectorAll("#message-list tr").length, 1);
    await page.evaluate(() => { document.querySelector("#message-filter").value = ""; document.querySelector("#message-filter").dispatchEvent(new Event("input")); });

    // A breakpoint.
    await page.click("#states [data-state=hunt] button");
    await page.click("#break");
    await until("there is a breakpoint", () => document.querySelector("#break").getAttribute("aria-pressed"), "true");
    await until("which is listed", textsOf, ["wolves: one enters hunt ✕"], "#breaks button");
    await page.select("#target", "hunt");
    await page.click("[data-kind=force]");
    await until("the game pauses when a wolf hunts", textOf, "Paused: Wolf (1v1) has entered hunt at 6.00 s", "#status");
    await page.select("#target", "roam");
    await page.click("[data-kind=force]");
    await page.click("#stopped");
    await until("the wolf that stopped it is shown", textOf, "Wolf (1v1)roam 0 s", "#path");
    await page.click("#breaks button");
    await until("the breakpoint is removed", isShown, false, "#breaks");
    await page.click("#pause");
    await until("the game goes on without it", textOf, "Live", "#status");
    await until("the wolf roams again", states, { roam: "1", hunt: "1" });
    await page.click("#states [data-state=hunt] button");

    await screenshot("known-light", { width: 1400, height: 900, scheme: "light" });
    await screenshot("known-dark", { width: 1400, height: 900, scheme: "dark" });
    await screenshot("known-small", { width: 390, height: 844, scheme: "light" });
    await until("a small window has nothing beside it", () => document.documentElement.scrollWidth <= innerWidth, true);
    await page.setViewport({ width: 1400, height: 900 });
    const size = () => parseFloat(getComputedStyle(document.querySelector("#states")).fontSize);
    const small = await page.evaluate(size);
    await page.evaluate(() => { document.documentElement.style.fontSize = "200%"; });
    await until("large text is large", size, 2 * small);
    await until("and has nothing beside it", () => document.documentElement.scrollWidth <= innerWidth, true);
    await page.evaluate(() => { document.documentElement.style.fontSize = ""; });
    assert.deepEqual(window.complaints, []);
    assert.deepEqual([...window.hosts], [new URL(game.url).host]);

    // The game ends, and starts again at the same address.
    isGone = true;
    await game.end();
    await until("the page waits for the game", textOf, "The game is gone; waiting for it", "#status");
    game = await start(new URL(game.url).host);
    await until("the page has found it again", textOf, "Live", "#status");
    await until("and shows the new run", states, { roam: "2" });
    await until("and the owner that was watched", textOf, "Wolf (1v1)roam 0 s", "#path");
    isGone = false;
    await game.tick(1);
    await until("and follows it", textOf, "Wolf (1v1)roam 1.0 s", "#path");
    assert.deepEqual(window.complaints, []);
    console.log("The browser shows what there is to see.");
} catch (error) {
    console.log(window.complaints.join("\n"));
    console.log(await text("main").catch(() => ""));
    throw error;
} finally {
    await window.browser.close();
    await game.end();
}
