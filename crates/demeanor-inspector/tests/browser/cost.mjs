// Measures what a page costs: cost.mjs GAME CHROMIUM [STUDIO FOLDER]. It only prints the result.
//
// GAME is the example `large_crowd`, with 50 000 owners in 300 states. Prints the processor time of the thread that serves the page, of the
// game's thread and of the page, as shares of a core, and how long the page's frames took. With the tool `demeanor` and a folder with the
// game's file, measures the studio's page.
import { spawn } from "node:child_process";
import { readFileSync, readdirSync } from "node:fs";
import { Window, linesOf } from "./window.mjs";

const [program, executablePath, tool, folder] = process.argv.slice(2);
const SECONDS = 20;
const CLOCK = 100;

/** The processor time of each thread of a process, in seconds, by its name. */
function times(pid) {
    const all = {};
    for (const thread of readdirSync(`/proc/${pid}/task`)) {
        const stat = readFileSync(`/proc/${pid}/task/${thread}/stat`, "utf8");
        const [name, rest] = [stat.slice(stat.indexOf("(") + 1, stat.lastIndexOf(")")), stat.slice(stat.lastIndexOf(")") + 2).split(" ")];
        all[name] = (all[name] ?? 0) + (Number(rest[11]) + Number(rest[12])) / CLOCK;
    }
    return all;
}

const game = spawn(program, ["127.0.0.1:0"], { stdio: ["ignore", "pipe", "inherit"] });
let url = (await linesOf(game).next()).value;
let studio;
if (tool) {
    studio = spawn(tool, ["studio", folder, "--no-browser", "--game", url], { stdio: ["ignore", "pipe", "inherit"] });
    url = (await linesOf(studio).next()).value;
}
const window = await Window.open(executablePath);
const { page } = window;
try {
    await page.goto(url);
    if (tool) await page.click("#tab-game");
    await new Promise(resolve => setTimeout(resolve, 8000));
    const before = { game: times(game.pid), studio: studio ? times(studio.pid) : {}, page: await page.metrics() };
    const frames = await page.evaluate(seconds => new Promise(resolve => {
        const times = [];
        let last = performance.now();
        const end = last + seconds * 1000;
        const frame = now => {
            times.push(now - last);
            last = now;
            if (now < end) requestAnimationFrame(frame); else resolve(times.slice(1));
        };
        requestAnimationFrame(frame);
    }), SECONDS);
    const after = { game: times(game.pid), studio: studio ? times(studio.pid) : {}, page: await page.metrics() };
    const share = seconds => `${(100 * seconds / SECONDS).toFixed(1)} %`;
    for (const of of ["game", "studio"]) for (const [name, time] of Object.entries(after[of])) console.log(`${of}, thread ${name}: ${share(time - (before[of][name] ?? 0))} of a core`);
    for (const what of ["TaskDuration", "ScriptDuration", "LayoutDuration", "RecalcStyleDuration"]) console.log(`page, ${what}: ${share(after.page[what] - before.page[what])}`);
    const sorted = frames.toSorted((a, b) => a - b);
    const quantile = share => sorted[Math.floor(share * (sorted.length - 1))].toFixed(1);
    console.log(`frames: ${frames.length}, median ${quantile(.5)} ms, 99 % ${quantile(.99)} ms, longest ${quantile(1)} ms, longer than 33 ms: ${frames.filter(frame => frame > 34).length}`);
    console.log(`longest 10: ${sorted.slice(-10).map(Math.round).join(" ")}`);
} finally {
    await window.browser.close();
    game.kill();
    studio?.kill();
}
