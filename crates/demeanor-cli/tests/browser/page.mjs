// What the tests of the studio's page ask it.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { rmSync } from "node:fs";
import { linesOf } from "./window.mjs";

const studios = [];
/** Starts a studio, and returns the address of its page. */
export async function studio(program, ...given) {
    const child = spawn(program, ["studio", ...given, "--no-browser"], { stdio: ["ignore", "pipe", "inherit"] });
    studios.push(child);
    const url = (await linesOf(child).next()).value;
    assert.match(url ?? "", /^http:\/\/127\.0\.0\.1:\d+\/#[0-9a-f]{32}$/);
    return url;
}
/** Runs a test in a window. If it fails, prints what the browser complained of. Then ends the browser and the studios, and removes a folder. */
export async function inWindow(window, place, test, whenFailed = async () => {}) {
    try {
        await test();
    } catch (error) {
        console.log(window.complaints.join("\n"));
        await whenFailed().catch(() => {});
        throw error;
    } finally {
        await window.browser.close();
        studios.forEach(child => child.kill());
        rmSync(place, { recursive: true, force: true });
    }
}

export const names = () => [...document.querySelectorAll("#layer [data-state]")].map(box => box.querySelector(".name").textContent).sort();
export const active = () => [...document.querySelectorAll("#layer .active")].map(box => box.querySelector(".name").textContent).sort();
export const taken = () => [...new Set([...document.querySelectorAll("#layer .arrow.taken")].map(arrow => arrow.dataset.exit))];
export const selected = () => document.querySelector("#layer .box.selected .name")?.textContent ?? null;
/** Returns the texts outside of the picture whose contrast is less than 4.5 to 1. */
export const faint = () => {
    const numbers = color => color.match(/[\d.]+/g)?.map(Number) ?? [];
    const light = color => {
        const [r, g, b] = numbers(color).map(part => { part /= 255; return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4; });
        return 0.2126 * r + 0.7152 * g + 0.0722 * b;
    };
    const ground = element => {
        const color = getComputedStyle(element).backgroundColor;
        return numbers(color)[3] === 0 && element.parentElement ? ground(element.parentElement) : color;
    };
    const hasText = element => [...element.childNodes].some(node => node.nodeType === Node.TEXT_NODE && node.data.trim());
    const texts = [...document.querySelectorAll("header *, #side *, .bar *, dialog *")].filter(element => hasText(element) && element.checkVisibility());
    return texts.filter(element => !element.closest(":disabled, .unseen, option, .old")).flatMap(element => {
        const [a, b] = [light(getComputedStyle(element).color), light(ground(element))];
        const contrast = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
        return contrast < 4.5 ? [`${element.tagName} ${element.className}: ${element.textContent.slice(0, 30)}: ${contrast.toFixed(1)}`] : [];
    });
};
/** Returns the roles of the controls that have no name for a screen reader. */
export async function nameless(page) {
    const found = [];
    const controls = new Set(["button", "textbox", "combobox", "slider", "spinbutton", "checkbox", "tab", "link", "searchbox", "listbox", "option", "tabpanel"]);
    const look = node => {
        if (controls.has(node.role) && !node.name) found.push(node.role);
        node.children?.forEach(look);
    };
    look(await page.accessibility.snapshot());
    return found;
}

/** The text of the file. */
export const fileText = () => [...document.querySelectorAll(".cm-line")].map(line => line.textContent + "\n").join("").replace(/\n$/, "");
/** Returns a point in the heading of a state. */
export const boxOf = (page, name) => page.evaluate(name => {
    const box = [...document.querySelectorAll("#layer [data-state]")].find(box => box.querySelector(".name").textContent === name);
    const { x, y, width } = box.querySelector(".shape").getBoundingClientRect();
    return [x + width / 2, y + 8];
}, name);
