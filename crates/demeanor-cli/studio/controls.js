// The controls of a run: a slider or a field for each number, a box for each flag, a button for each message.

import { make } from "./elements.js";

/** Returns the controls of the values. `set(name, value)` is called when the user changes one. */
export function valueControls(values, current, set) {
    return values.map(value => {
        const now = current[value.name] ?? (value.is_flag ? false : 0);
        const name = make("span", { class: "name", title: value.about }, value.name);
        if (value.is_flag) {
            const field = make("input", { type: "checkbox", "data-value": value.name, checked: now === true, onchange: () => set(value.name, field.checked) });
            return make("label", { class: "value" }, name, field);
        }
        const number = make("input", { type: "number", step: "any", "data-value": value.name, value: round(now), onchange: () => take(number.valueAsNumber) });
        const take = to => {
            if (!Number.isFinite(to)) return;
            number.value = round(to);
            if (slider) slider.value = to;
            set(value.name, to);
        };
        const [least, most] = value.range ?? [];
        const slider = value.range && Number.isFinite(least) && Number.isFinite(most) ? make("input", {
            type: "range", min: least, max: most, step: (most - least) / 200 || "any", value: now, "aria-label": `${value.name}, slider`, "data-slider": value.name,
            oninput: () => take(round(slider.valueAsNumber)),
        }) : null;
        return make("div", { class: "value" }, make("label", {}, name, number), slider);
    });
}

/** Writes the values that the run has into the controls, except into the one that the user is changing. */
export function updateControls(panel, current) {
    for (const field of panel.querySelectorAll("[data-value], [data-slider]")) {
        const value = current[field.dataset.value ?? field.dataset.slider];
        if (value === undefined || field === document.activeElement && field.type === "number") continue;
        if (field.type === "checkbox") field.checked = value;
        else field.value = round(value);
    }
}

/** Returns the buttons of the messages, with the fields of those that have some. `send(text)` gets `hit(damage=3)`. */
export function messageControls(messages, send) {
    return messages.map(message => {
        const fields = message.fields.map(field => [field, make("input", field.is_flag
            ? { type: "checkbox", "aria-label": `${message.name}: ${field.name}` }
            : { type: "number", step: "any", value: 0, "aria-label": `${message.name}: ${field.name}` })]);
        const text = () => {
            const given = fields.map(([field, input]) => `${field.name}=${field.is_flag ? input.checked : input.valueAsNumber || 0}`);
            return given.length ? `${message.name}(${given.join(", ")})` : message.name;
        };
        const button = make("button", { "data-message": message.name, title: message.about, onclick: () => send(text()) }, message.name);
        return make("div", { class: "message" }, button, fields.map(([field, input]) => make("label", { class: "soft" }, `${field.name} `, input)));
    });
}

const round = number => Math.round(number * 1e6) / 1e6;
