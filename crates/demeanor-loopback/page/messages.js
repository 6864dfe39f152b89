// The messages of a crowd, in the pages of the inspector and of the studio.

/** The largest number of messages that a page keeps, and that it lists. */
const MOST_MESSAGES = 2000;
const MOST_LISTED = 100;

class MessageList {
    constructor() {
        this.all = [];
        /** The number of messages so far, and how many of them the page has not got. */
        this.written = 0;
        this.lost = 0;
    }

    /** Takes the last messages, some of which it may have already. */
    note({ written, last }) {
        if (written < this.written) Object.assign(this, { all: [], written: 0, lost: 0 }); // Another run of the game.
        const first = written - last.length;
        if (this.written) this.lost += Math.max(0, first - this.written);
        const fresh = last.map((message, nth) => ({ ...message, number: first + nth })).filter(({ number }) => number >= this.written);
        this.written = written;
        this.all = [...this.all, ...fresh].slice(-MOST_MESSAGES);
    }

    /** Returns the last messages with a text in them, the newest first, and how many more there are. */
    find(text, onlyUnhandled) {
        const wanted = text.trim().toLowerCase();
        const words = ({ from, to, text, handled_by }) => [from?.owner, from?.label, to.owner, to.label, text, handled_by].join("\n").toLowerCase();
        const found = this.all.filter(message => !(onlyUnhandled && message.handled_by !== null) && (!wanted || words(message).includes(wanted)));
        return { found: found.slice(-MOST_LISTED).reverse(), more: Math.max(0, found.length - MOST_LISTED) };
    }
}
