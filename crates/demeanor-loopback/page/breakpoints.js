// The breakpoints of a game, in the pages of the inspector and of the studio.

/** A game's breakpoints: each has a crowd, and a state, a property, or `null` for any property. */
class Breakpoints {
    constructor(all = []) {
        this.all = all;
    }

    has({ crowd, state, property }) {
        return this.all.some(other => other.crowd === crowd && other.state === state && other.property === property);
    }

    /** Returns the command that sets a breakpoint, or removes it if it is set. */
    toggle(breakpoint) {
        return { do: this.has(breakpoint) ? "unbreak" : "break", ...breakpoint };
    }

    /** Returns a breakpoint in words. */
    static text({ crowd, state, property }) {
        if (state !== undefined) return `${crowd}: one enters ${state}`;
        return `${crowd}: ${property ?? "a property"} fails`;
    }
}
