// A window of the browser, for the tests of the pages.
import assert from "node:assert/strict";
import { createInterface } from "node:readline";
import puppeteer from "puppeteer-core";

const PATIENCE = 30_000;

/** Returns the lines that a program prints. */
export const linesOf = child => createInterface({ input: child.stdout })[Symbol.asyncIterator]();
export const textOf = selector => document.querySelector(selector)?.textContent ?? null;
export const textsOf = selector => [...document.querySelectorAll(selector)].map(element => element.textContent);
export const isShown = selector => document.querySelector(selector)?.checkVisibility() ?? false;

export class Window {
    /** Warnings and errors on the consoles of pages, except those that are expected. */
    complaints = [];
    /** The hosts from which pages have requested something. */
    hosts = new Set();

    /** Starts a browser with a page of 1400 by 900 pixels. */
    static async open(executablePath, isExpected = () => false) {
        const window = new Window();
        window.isExpected = isExpected;
        window.browser = await puppeteer.launch({ executablePath, args: ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"] });
        await window.renew();
        return window;
    }

    /** Replaces the page by a new one. */
    async renew() {
        await this.page?.close();
        this.page = await this.another();
        await this.page.setViewport({ width: 1400, height: 900 });
    }

    /** Opens another page. */
    async another() {
        const page = await this.browser.newPage();
        page.on("console", message => { if (/error|warn/.test(message.type()) && !this.isExpected(message.text())) this.complaints.push(`${message.type()}: ${message.text()}`); });
        page.on("pageerror", error => this.complaints.push(error.stack ?? String(error)));
        page.on("request", request => { if (!request.url().startsWith("data:")) this.hosts.add(new URL(request.url()).host); });
        return page;
    }

    /** Waits until the page says that something is as it should be. */
    until = async (what, read, expected, ...given) => {
        const deadline = Date.now() + PATIENCE;
        let seen;
        do {
            seen = await this.page.evaluate(read, ...given);
            try {
                assert.deepEqual(seen, expected);
                console.log(`ok: ${what}`);
                return;
            } catch { await this.page.evaluate(() => new Promise(requestAnimationFrame)); }
        } while (Date.now() < deadline);
        assert.deepEqual(seen, expected, what);
    };
}
