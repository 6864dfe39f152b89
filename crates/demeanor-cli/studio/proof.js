// What `demeanor check --prove` finds, with what shows it.

import { byId, count, make, seconds } from "./elements.js";
import { Refused, ask } from "./server.js";

/** How many changes of a witness are listed. */
const MOST_CHANGES = 5;

export class Proofs {
    /** `show(problem)` selects the state or the exit of a problem, or shows its place in the text if it is about neither; `play(problem)` plays its witness. */
    constructor(source, { onProof, show, play }) {
        Object.assign(this, { source, onProof, show, play, proof: null });
        this.panel = byId("panel-proof");
        this.button = make("button", { id: "prove", onclick: () => this.prove() }, "Prove");
        this.note = make("p", { id: "proof-note", class: "soft", role: "status" }, "Looks at every situation in which a character can be: which exits are never taken, which states are never left, and whether the properties hold.");
        this.properties = make("ul", { id: "properties", class: "findings", "aria-label": "Properties" });
        this.findings = make("ul", { id: "findings", class: "findings", "aria-label": "Findings" });
        this.notes = make("ul", { class: "plain soft", "aria-label": "What the proof leaves open" });
        this.panel.replaceChildren(make("div", { class: "bar" }, this.button), this.note, this.properties, this.findings, this.notes);
    }

    /** The text has changed: what was proved is no longer sure. */
    forget() {
        if (!this.proof) return;
        this.proof = null;
        this.note.textContent = "The text has changed since the last proof.";
        this.panel.classList.add("old");
        this.onProof([]);
    }

    async prove() {
        const source = this.source();
        this.button.disabled = true;
        this.note.textContent = "Proving…";
        try {
            const proof = await ask("prove", source);
            if (this.source().text !== source.text) return this.forget();
            this.proof = proof;
            this.#showProof();
            this.onProof(proof.problems);
        } catch (error) {
            this.note.textContent = error instanceof Refused ? error.message : "The studio's server does not answer.";
        } finally {
            this.button.disabled = false;
        }
    }

    #showProof() {
        const { problems, properties, notes } = this.proof;
        this.panel.classList.remove("old");
        const held = properties.filter(property => property.answer === "holds").length;
        this.notes.replaceChildren(...(notes ?? []).map(note => make("li", {}, note)));
        this.note.textContent = [problems.length ? count(problems.length, "finding") : "Nothing was found",
            properties.length ? `${held} of ${count(properties.length, "property").replace("propertys", "properties")} ${held === 1 ? "holds" : "hold"}` : null].filter(Boolean).join(". ") + ".";
        this.properties.replaceChildren(...properties.map(property => this.#property(property)));
        this.findings.replaceChildren(...problems.filter(problem => problem.code !== "property-fails" || !this.#isListed(problem)).map(problem => this.#finding(problem)));
    }

    #failing(property) {
        return this.proof.problems.find(problem => problem.code === "property-fails" && problem.machine === property.machine && problem.message.includes(`\`${property.name}\``));
    }

    #isListed(problem) {
        return this.proof.properties.some(property => property.answer === "fails" && this.#failing(property) === problem);
    }

    #property(property) {
        const failing = property.answer === "fails" ? this.#failing(property) : null;
        const answer = property.assumed ? `${property.answer} if no behavior refuses a change` : property.answer;
        return make("li", { class: { holds: "good", fails: "bad" }[property.answer] ?? "unsure" },
            make("strong", {}, property.machine ? `${property.machine}: ${property.name}` : property.name), ` ${answer}`,
            property.depends ? make("span", { class: "soft" }, ` it depends ${property.depends}`) : null,
            failing ? this.#buttons(failing) : null);
    }

    #finding(problem) {
        return make("li", { class: problem.severity === "error" ? "bad" : "unsure" },
            make("strong", {}, problem.message), problem.help ? make("span", { class: "soft" }, ` ${problem.help}`) : null, this.#buttons(problem));
    }

    #buttons(problem) {
        const changes = problem.witness?.changes ?? [];
        const way = changes.slice(-MOST_CHANGES).map(change => `${seconds(change.time)}: ${change.from} → ${change.to}`);
        if (changes.length > MOST_CHANGES) way.unshift("…");
        return make("div", {}, way.length ? make("ol", { class: "way" }, way.map(line => make("li", { class: "soft" }, line))) : null, make("div", { class: "buttons" },
            make("button", { onclick: () => this.show(problem), "aria-label": `Show: ${problem.message}` }, "Show"),
            problem.witness ? make("button", { onclick: () => this.play(problem), "aria-label": `Play: ${problem.message}` }, "Play it") : null));
    }
}
