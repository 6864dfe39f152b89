// How many owners were in each state before, in the pages of the inspector and of the studio.

/** The largest number of moments that are kept. */
const MOST_MOMENTS = 3000;

class Past {
    constructor() {
        this.moments = [];
        /** When the first picture was taken. */
        this.began = Infinity;
        this.paths = [];
        this.numbers = new Map();
    }

    #number(path) {
        const key = path.join("\u0000");
        if (!this.numbers.has(key)) this.numbers.set(key, this.paths.push(path) - 1);
        return this.numbers.get(key);
    }

    /** Takes a picture, unless nothing has happened since the last one: the game is paused. */
    note({ at, seconds, owners, states }) {
        // Another run of the game.
        if (at < this.moments.at(-1)?.at) Object.assign(this, { moments: [], began: at });
        this.began = Math.min(this.began, at);
        const counts = Int32Array.from(states.flatMap(({ path, owners }) => [this.#number(path), owners]));
        const last = this.moments.at(-1);
        if (last?.seconds === seconds && last.counts.length === counts.length && last.counts.every((count, nth) => count === counts[nth])) return;
        this.moments.push({ at, seconds, owners, counts });
        if (this.moments.length > MOST_MOMENTS) this.moments.shift();
    }

    /** Adds what the game has kept from before the first picture. */
    extend({ paths, moments }) {
        const numbers = paths.map(path => this.#number(path));
        const older = moments.filter(({ at }) => at < this.began).map(({ at, seconds, owners, counts }) =>
            ({ at, seconds, owners, counts: Int32Array.from(counts, (number, nth) => nth % 2 ? number : numbers[number]) }));
        this.moments = [...older, ...this.moments].slice(-MOST_MOMENTS);
    }

    /** Returns the place of the last moment at a time or before it, or that of the first one. */
    place(at) {
        const after = this.moments.findIndex(moment => moment.at > at);
        return after < 0 ? this.moments.length - 1 : Math.max(0, after - 1);
    }

    /** Returns the states at a moment as a picture has them. States that nobody was in may be left out. */
    states({ counts }) {
        return Array.from({ length: counts.length / 2 }, (_, nth) => ({ path: this.paths[counts[2 * nth]], owners: counts[2 * nth + 1] }));
    }

    /** Returns the names of the states in which an owner was: from its entries in the journal, and from where it is now. Nothing if they
     * do not reach back so far. States in regions are left out. */
    path(seconds, { report, entries, seconds: now }) {
        const state = stateAt(seconds, report, entries ?? [], now);
        return state && (this.paths.find(path => path.at(-1) === state) ?? this.paths.find(path => path.includes(state)) ?? [state]);
    }
}

function stateAt(seconds, report, entries, now) {
    const current = report?.path.at(-1);
    if (current && now - current.seconds <= seconds) return current.name;
    const made = entries.filter(entry => !entry.refused && !entry.within);
    const last = made.findLast(entry => entry.seconds <= seconds);
    // A change that ended early in a state has its end as an entry of its own.
    if (last) return last.ended ? last.ended.split(" in ").at(-1) : last.to;
    const next = made[0];
    return next && next.seconds - next.time_in_state <= seconds ? next.from : null;
}
