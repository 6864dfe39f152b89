// The server of the studio: requests, and the news about files.

const token = location.hash.slice(1);

/** An answer that is not what was asked for. `told` is what the server says. */
export class Refused extends Error {
    constructor(status, told) {
        super(told.error ?? `status ${status}`);
        this.status = status;
        this.told = told;
    }
}

/** Asks the server to do something. */
export async function ask(what, given) {
    const answer = await fetch(`/api/${what}`, {
        method: "POST",
        headers: { "Content-Type": "application/json", "X-Demeanor-Token": token },
        body: JSON.stringify(given),
    });
    const text = await answer.text();
    let told;
    try { told = JSON.parse(text); } catch { told = { error: text }; }
    if (!answer.ok) throw new Refused(answer.status, told);
    return told;
}

/** The news of the server. `on` has a function for each kind: `hello`, `files`, `game`, and `lost` when the server is not there. */
export class News {
    constructor(on) {
        this.on = on;
        this.watch({});
    }

    /** Asks for the news of a game, too: `{ game, crowd, owner }`. */
    watch(wish) {
        this.events?.close();
        const query = Object.entries({ token, ...wish }).map(([name, value]) => `${name}=${encodeURIComponent(value)}`).join("&");
        const events = new EventSource(`/events?${query}`);
        this.events = events;
        for (const kind of ["hello", "files", "game"]) events.addEventListener(kind, event => { if (events === this.events) this.on[kind](JSON.parse(event.data)); });
        events.onerror = () => {
            if (events !== this.events) return;
            this.on.lost();
            // A browser does not try again after an answer that is no stream.
            if (events.readyState === EventSource.CLOSED) setTimeout(() => { if (events === this.events) this.watch(wish); }, 1000);
        };
    }
}
