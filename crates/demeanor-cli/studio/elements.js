// Elements of the page. A text is never read as HTML.

const SVG = "http://www.w3.org/2000/svg";

export const byId = id => document.getElementById(id);

/** Makes an element with attributes and children. */
export const make = (name, attributes, ...children) => fill(document.createElement(name), attributes, children);

/** Makes an element of a drawing. */
export const draw = (name, attributes, ...children) => fill(document.createElementNS(SVG, name), attributes, children);

function fill(element, attributes, children) {
    for (const [key, value] of Object.entries(attributes ?? {})) {
        if (value === null || value === undefined || value === false) continue;
        if (key.startsWith("on")) element.addEventListener(key.slice(2), value);
        else if (value === true) element.setAttribute(key, "");
        else element.setAttribute(key, value);
    }
    element.append(...children.flat().filter(child => child !== null && child !== undefined && child !== false));
    return element;
}

/** Fills an element with children, unless it shows the same already: children that stay keep the focus and the pointer. */
export function refill(element, shows, children) {
    const now = JSON.stringify(shows);
    if (element.dataset.shows === now) return;
    element.dataset.shows = now;
    element.replaceChildren(...children());
}

/** Returns a number with what it counts: `3 states`. */
export const count = (number, of) => `${number} ${of}${number === 1 ? "" : "s"}`;

/** Returns a time in seconds as text. */
export const seconds = time => `${(Math.round(time * 1000) / 1000).toLocaleString("en-US", { maximumFractionDigits: 3 })} s`;

/** Returns a function that calls another one when it has not been called for some milliseconds. */
export function later(milliseconds, act) {
    let timer;
    return (...given) => {
        clearTimeout(timer);
        timer = setTimeout(() => act(...given), milliseconds);
    };
}

/** Shows a notice with buttons above the page until one is pressed; another notice with this name replaces it. */
export function notice(name, text, buttons = []) {
    dismiss(name);
    const close = act => () => { dismiss(name); act?.(); };
    const all = buttons.map(([label, act]) => make("button", { type: "button", onclick: close(act) }, label));
    byId("notices").append(make("div", { class: "notice", role: "alert", "data-notice": name }, make("span", {}, text), ...all));
}

export function dismiss(name) {
    document.querySelector(`[data-notice="${name}"]`)?.remove();
}
