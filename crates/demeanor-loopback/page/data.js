// The data of an owner as lines, in the pages of the inspector and of the studio.

/** The largest number of lines. */
const MOST_LINES = 200;

/** Returns the lines of some data in JSON: `{ name, value, depth }`, where a line with others below it has no value. */
function linesOf(data) {
    const lines = [];
    const add = (name, data, depth) => {
        if (lines.length >= MOST_LINES) return;
        if (data === null || typeof data !== "object") return void lines.push({ name, value: typeof data === "string" ? data : JSON.stringify(data), depth });
        const parts = Object.entries(data);
        const isShort = Array.isArray(data) && data.every(part => part === null || typeof part !== "object");
        if (isShort || !parts.length) return void lines.push({ name, value: isShort ? data.join(", ") : "", depth });
        if (name !== null) lines.push({ name, value: null, depth });
        for (const [part, value] of parts) add(part, value, name === null ? depth : depth + 1);
    };
    add(null, data, 0);
    if (lines.length >= MOST_LINES) lines.push({ name: "…", value: "more is not shown", depth: 0 });
    return lines;
}
