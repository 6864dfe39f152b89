// The model with AgentScript, which has the patches and turtles of NetLogo.
//
// A program for `--program`, with the path of AgentScript's file as its argument; src/contender.rs says what it reads and writes.

import { createInterface } from "node:readline"
import { pathToFileURL } from "node:url"

// AgentScript's views, which are not used here, need this class of browsers when they are loaded.
globalThis.OffscreenCanvas = class {
    getContext() {
        return {}
    }
}
const { Model, util } = await import(pathToFileURL(process.argv[2]))

const GRASS_ENERGY = 5
const SHEEP_ENERGY = 13

class Meadow extends Model {
    constructor(numbers) {
        super({ minX: 0, maxX: numbers.width - 1, minY: 0, maxY: numbers.width - 1 })
        this.numbers = numbers
    }

    setup() {
        this.turtleBreeds("sheep wolves")
        // In how many steps the grass of a patch can be eaten.
        this.patches.ask((patch) => {
            patch.countdown = util.randomInt(2) === 0 ? 0 : 1 + util.randomInt(this.numbers.regrowth)
        })
        this.sheep.create(this.numbers.sheep, (sheep) => this.place(sheep, GRASS_ENERGY))
        this.wolves.create(this.numbers.wolves, (wolf) => this.place(wolf, SHEEP_ENERGY))
    }

    place(animal, meal) {
        const patch = this.patches.oneOf()
        animal.setxy(patch.x, patch.y)
        animal.energy = 1 + util.randomInt(2 * meal)
    }

    step() {
        // In another order in each step. The copy stays as it is while animals are born and die.
        this.sheep.clone().shuffle().ask((sheep) => this.graze(sheep))
        this.wolves.clone().shuffle().ask((wolf) => this.hunt(wolf))
        this.grass = 0
        this.patches.ask((patch) => {
            if (patch.countdown > 0) patch.countdown -= 1
            if (patch.countdown === 0) this.grass += 1
        })
    }

    graze(sheep) {
        const patch = this.walk(sheep)
        if (patch.countdown === 0) {
            patch.countdown = this.numbers.regrowth
            sheep.energy += GRASS_ENERGY
        }
        if (sheep.energy < 1) sheep.die()
        else this.reproduce(sheep, this.sheep, this.numbers.sheepBirths)
    }

    hunt(wolf) {
        const patch = this.walk(wolf)
        const herd = patch.turtlesHere.with((turtle) => turtle.breed === this.sheep)
        if (herd.length > 0) {
            herd.oneOf().die()
            wolf.energy += SHEEP_ENERGY
        }
        if (wolf.energy < 0) wolf.die()
        else this.reproduce(wolf, this.wolves, this.numbers.wolfBirths)
    }

    // Returns the patch to which the animal has moved.
    walk(animal) {
        const patch = animal.patch.neighbors.oneOf()
        animal.setxy(patch.x, patch.y)
        animal.energy -= 1
        return patch
    }

    reproduce(animal, breed, births) {
        if (Math.random() < births) {
            animal.energy /= 2
            animal.hatch(1, breed, (child) => {
                child.energy = animal.energy
            })
        }
    }
}

for await (const line of createInterface({ input: process.stdin })) {
    const [width, sheep, wolves, regrowth, sheepBirths, wolfBirths, steps, seed] = line.split(" ").map(Number)
    const begin = process.cpuUsage()
    // With 0, AgentScript's generator returns the same number again and again.
    util.randomSeed(seed + 1)
    const meadow = new Meadow({ width, sheep, wolves, regrowth, sheepBirths, wolfBirths })
    meadow.setup()
    const counts = []
    for (let step = 0; step < steps; step++) {
        meadow.step()
        counts.push(meadow.sheep.length, meadow.wolves.length, meadow.grass)
    }
    const { user, system } = process.cpuUsage(begin)
    console.log((user + system) / 1e6, ...counts)
}
