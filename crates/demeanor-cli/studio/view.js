// The view of the picture: which part is seen, and how large. Panning and zooming move one layer, and draw nothing again.

const SMALLEST = 0.004;
const LARGEST = 4;
/** The distance between the picture and the edge of the view when all of it is seen. */
const MARGIN = 16;
/** A move of fewer pixels is a click. */
const CLICK = 4;

export class View {
    /** `frame` shows a part of `layer`; `shield` covers it during a drag; `onMove` is called after each change. */
    constructor(frame, layer, shield, onMove) {
        Object.assign(this, { frame, layer, shield, onMove, x: 0, y: 0, scale: 1, width: 1, height: 1, touched: false, pointers: new Map() });
        frame.addEventListener("wheel", event => this.#wheel(event), { passive: false });
        frame.addEventListener("pointerdown", event => this.#down(event));
        frame.addEventListener("pointermove", event => this.#drag(event));
        for (const end of ["pointerup", "pointercancel"]) frame.addEventListener(end, event => this.#up(event));
        new ResizeObserver(() => this.#resized()).observe(frame);
    }

    /** The size of one unit of the picture in pixels at 100 %: texts grow with the font size of the browser. */
    get unit() {
        return parseFloat(getComputedStyle(document.documentElement).fontSize) / 16;
    }

    get zoom() { return this.scale / this.unit; }

    setSize(width, height) {
        this.width = width;
        this.height = height;
    }

    /** Shows all of the picture, at most at 100 %. */
    fit() {
        const { clientWidth: width, clientHeight: height } = this.frame;
        const scale = Math.min((width - 2 * MARGIN) / this.width, (height - 2 * MARGIN) / this.height, this.unit);
        this.scale = Math.max(scale, SMALLEST);
        this.x = (width - this.width * this.scale) / 2;
        this.y = (height - this.height * this.scale) / 2;
        this.touched = false;
        this.#moved();
    }

    /** Zooms by a factor; the point of the frame stays where it is. */
    zoomBy(factor, x = this.frame.clientWidth / 2, y = this.frame.clientHeight / 2) {
        const scale = Math.min(Math.max(this.scale * factor, SMALLEST), LARGEST * this.unit);
        const by = scale / this.scale;
        this.x = x - (x - this.x) * by;
        this.y = y - (y - this.y) * by;
        this.scale = scale;
        this.touched = true;
        this.#moved();
    }

    panBy(x, y) {
        if (!x && !y) return;
        this.x += x;
        this.y += y;
        this.touched = true;
        this.#moved();
    }

    /** Moves a point of the picture to the middle of the frame. */
    center(x, y) {
        this.x = this.frame.clientWidth / 2 - x * this.scale;
        this.y = this.frame.clientHeight / 2 - y * this.scale;
        this.touched = true;
        this.#moved();
    }

    /** Moves as little as possible, so that a rectangle of the picture is seen. */
    reveal([left, top, width, height]) {
        if (this.zoom < 0.35) {
            this.scale = 0.7 * this.unit;
            return this.center(left + width / 2, top + height / 2);
        }
        const room = 24;
        const into = (from, size, all) => {
            if (size + 2 * room > all) return (all - size) / 2 - from;
            return Math.max(room - from, Math.min(0, all - room - size - from));
        };
        const x = into(this.x + left * this.scale, width * this.scale, this.frame.clientWidth);
        const y = into(this.y + top * this.scale, height * this.scale, this.frame.clientHeight);
        return this.panBy(Math.abs(x) < 1 ? 0 : x, Math.abs(y) < 1 ? 0 : y);
    }

    /** The part of the picture that is seen: left, top, width, height. */
    get seen() {
        return [-this.x / this.scale, -this.y / this.scale, this.frame.clientWidth / this.scale, this.frame.clientHeight / this.scale];
    }

    /** The point of the picture under the mouse. */
    at(event) {
        const frame = this.frame.getBoundingClientRect();
        return [(event.clientX - frame.left - this.x) / this.scale, (event.clientY - frame.top - this.y) / this.scale];
    }

    #moved() {
        // The browser keeps what it has drawn while the layer moves, and draws it sharply when it rests.
        this.layer.style.willChange = "transform";
        this.layer.style.transform = `translate3d(${this.x}px, ${this.y}px, 0) scale(${this.scale})`;
        clearTimeout(this.rest);
        this.rest = setTimeout(() => { this.layer.style.willChange = "auto"; }, 200);
        this.onMove();
    }

    /** What was in the middle stays there; if all of the picture was seen, all of it is. */
    #resized() {
        const { clientWidth: width, clientHeight: height } = this.frame;
        const [before, high] = this.size ?? [width, height];
        this.size = [width, height];
        if (!this.touched) return this.fit();
        this.x += (width - before) / 2;
        this.y += (height - high) / 2;
        return this.#moved();
    }

    #wheel(event) {
        event.preventDefault();
        const lines = event.deltaMode === WheelEvent.DOM_DELTA_LINE ? 16 : 1;
        if (event.shiftKey) return this.panBy(-(event.deltaX || event.deltaY) * lines, 0);
        const frame = this.frame.getBoundingClientRect();
        const factor = Math.exp(-event.deltaY * lines * (event.ctrlKey ? 0.01 : 0.0015));
        return this.zoomBy(factor, event.clientX - frame.left, event.clientY - frame.top);
    }

    #down(event) {
        if (event.button > 1) return;
        this.pointers.set(event.pointerId, [event.clientX, event.clientY]);
        this.moved = 0;
    }

    #drag(event) {
        const last = this.pointers.get(event.pointerId);
        if (!last) return;
        const others = [...this.pointers].filter(([id]) => id !== event.pointerId).map(([, at]) => at);
        const [dx, dy] = [event.clientX - last[0], event.clientY - last[1]];
        this.moved += Math.hypot(dx, dy);
        if (this.moved < CLICK) return;
        this.frame.setPointerCapture(event.pointerId);
        // While the picture moves, the browser need not ask which of its thousands of lines is under the mouse.
        this.shield.hidden = false;
        this.pointers.set(event.pointerId, [event.clientX, event.clientY]);
        if (others.length === 0) return this.panBy(dx, dy);
        // Two fingers.
        const frame = this.frame.getBoundingClientRect();
        const far = (a, b) => Math.hypot(a[0] - b[0], a[1] - b[1]) || 1;
        const middle = [(event.clientX + others[0][0]) / 2 - frame.left, (event.clientY + others[0][1]) / 2 - frame.top];
        this.panBy(dx / 2, dy / 2);
        this.zoomBy(far([event.clientX, event.clientY], others[0]) / far(last, others[0]), ...middle);
    }

    #up(event) {
        this.pointers.delete(event.pointerId);
        if (!this.pointers.size) this.shield.hidden = true;
    }

    /** Whether the pointer has been moved since it was pressed, so that this is not a click. */
    get wasDragged() { return this.moved >= CLICK; }
}
