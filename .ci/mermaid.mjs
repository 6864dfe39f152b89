// Parses state diagrams with Mermaid: mermaid.mjs FILE..
import { readFileSync } from "node:fs";
import { JSDOM } from "jsdom";

// Mermaid needs a document when it is loaded.
const { window } = new JSDOM("");
globalThis.window = window;
globalThis.document = window.document;
const { default: mermaid } = await import("mermaid");

const files = process.argv.slice(2);
for (const file of files) {
    try {
        await mermaid.parse(readFileSync(file, "utf8"));
    } catch (error) {
        console.log(`${file}: ${error.message}`);
        process.exitCode = 1;
    }
}
if (!process.exitCode) console.log(`Mermaid reads ${files.length} files`);
