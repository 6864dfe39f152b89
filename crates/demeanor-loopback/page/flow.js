// How often each state leads to each other one, in the pages of the inspector and of the studio.

/** The time in which changes are counted, in seconds. */
const WHILE = 2.2;
const way = (from, to) => JSON.stringify([from ?? "", to ?? ""]);

/** The changes of a crowd, from the pictures that an inspector sends. */
class Flow {
    constructor() {
        this.counts = [];
    }

    /** Takes a picture. Then `totals` has the counts since the beginning of the game, and `rates` those per second now. */
    note({ at, flow }) {
        if (at < this.counts.at(-1)?.at) this.counts = []; // Another run of the game.
        if (!flow) return;
        const now = { at, ways: new Map(), ended: new Map(), ins: new Map(), outs: new Map() };
        const add = (map, key, number) => map.set(key, (map.get(key) ?? 0) + number);
        for (const { from, to, count } of flow.changes) {
            add(now.ways, way(from, to), count);
            if (to) add(now.ins, to, count);
            if (from) add(now.outs, from, count);
        }
        for (const { from, to, end, state, count } of flow.ended) {
            add(now.ended, way(from, to), count);
            if (to) add(now.ins, to, -count);
            if (end !== "stayed") continue;
            add(now.ways, way(from, state), count);
            add(now.ins, state, count);
        }
        this.counts.push(now);
        while (this.counts.length > 2 && at - this.counts[0].at > WHILE) this.counts.shift();
        const first = this.counts[0];
        const rate = key => new Map([...now[key]].map(([name, number]) => [name, at > first.at ? Math.max(0, number - (first[key].get(name) ?? 0)) / (at - first.at) : 0]));
        this.totals = now;
        this.rates = { ways: rate("ways"), ins: rate("ins"), outs: rate("outs") };
    }
}
