// The search for a state by name: the exact name first, then names that begin with the text, then names that contain it.

import { byId, make } from "./elements.js";

const MOST = 12;

/** Returns the names that match, the best first. */
export function matching(names, text) {
    const wanted = text.trim().toLowerCase();
    if (!wanted) return [];
    const rank = name => {
        const lower = name.toLowerCase();
        return lower === wanted ? 0 : lower.startsWith(wanted) ? 1 : lower.includes(wanted) ? 2 : 3;
    };
    return names.filter(name => rank(name) < 3).sort((a, b) => rank(a) - rank(b) || a.length - b.length || a.localeCompare(b));
}

/** Lets the user search `names()`; `choose` gets the name. */
export function searchable(names, choose) {
    const [field, list] = [byId("search"), byId("found")];
    let found = [];
    let at = 0;
    const show = () => {
        list.replaceChildren(...found.slice(0, MOST).map((name, nth) => make("li", {
            role: "option", id: `found-${nth}`, "aria-selected": String(nth === at), onpointerdown: event => { event.preventDefault(); take(nth); },
        }, name)));
        if (found.length > MOST) list.append(make("li", { class: "soft", role: "presentation" }, `and ${found.length - MOST} more`));
        if (field.value.trim() && !found.length) list.append(make("li", { class: "soft", role: "presentation" }, "no state has this name"));
        list.hidden = !field.value.trim();
        field.setAttribute("aria-expanded", String(!list.hidden));
        field.setAttribute("aria-activedescendant", found.length ? `found-${at}` : "");
    };
    const close = () => { field.value = ""; found = []; show(); };
    const take = nth => {
        const name = found[nth];
        close();
        if (name) choose(name);
    };
    field.addEventListener("input", () => { found = matching(names(), field.value); at = 0; show(); });
    field.addEventListener("blur", close);
    field.addEventListener("keydown", event => {
        const most = Math.min(found.length, MOST);
        if (event.key === "ArrowDown" || event.key === "ArrowUp") {
            event.preventDefault();
            if (most) at = (at + (event.key === "ArrowDown" ? 1 : most - 1)) % most;
            show();
        } else if (event.key === "Enter") {
            event.preventDefault();
            take(at);
        } else if (event.key === "Escape") {
            close();
            field.blur();
        }
    });
}
