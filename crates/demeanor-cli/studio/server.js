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

/** Calls `onFiles` with the list of files whenever it changes, and `onLife` with whether the server is there. */
export function listen(onFiles, onLife) {
    const events = new EventSource(`/events?token=${encodeURIComponent(token)}`);
    events.addEventListener("hello", () => onLife(true));
    events.addEventListener("files", event => onFiles(JSON.parse(event.data)));
    events.onerror = () => {
        onLife(false);
        // A browser does not try again after an answer that is no stream.
        if (events.readyState === EventSource.CLOSED) setTimeout(() => listen(onFiles, onLife), 1000);
    };
}
