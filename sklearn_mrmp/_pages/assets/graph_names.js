/* Names in the picture of all labels: as many as fit without overlap, the largest labels first. */
"use strict";

(function () {
  const WIDTH = 0.56; // of a character, in units of the size of its font

  /* Boxes of names and of large nodes that are taken, found by cells of a grid. */
  class Boxes {
    constructor() {
      this.cells = new Map();
    }

    *#keys([left, top, right, bottom]) {
      for (let x = Math.floor(left / 64); x <= Math.floor(right / 64); x++) {
        for (let y = Math.floor(top / 64); y <= Math.floor(bottom / 64); y++) yield `${x},${y}`;
      }
    }

    isFree(box) {
      for (const key of this.#keys(box)) {
        for (const other of this.cells.get(key) ?? []) {
          const apart = box[0] > other[2] || other[0] > box[2] || box[1] > other[3] ||
            other[1] > box[3];
          if (!apart) return false;
        }
      }
      return true;
    }

    take(box) {
      for (const key of this.#keys(box)) {
        if (!this.cells.has(key)) this.cells.set(key, []);
        this.cells.get(key).push(box);
      }
    }
  }

  /* Show names of a fixed size on the screen, however far the picture is zoomed. */
  mrmp.placeNames = function (cy) {
    const zoom = cy.zoom(), extent = cy.extent(), boxes = new Boxes(), named = [];
    const nodes = cy.nodes().toArray().filter((node) => {
      const { x, y } = node.position();
      return x > extent.x1 && x < extent.x2 && y > extent.y1 && y < extent.y2;
    });
    nodes.sort((a, b) => b.data("size") - a.data("size"));
    for (const node of nodes) {
      const { x, y } = node.renderedPosition(), font = node.data("font");
      const gap = (zoom * node.data("size")) / 2 + 2;
      const width = WIDTH * font * node.data("name").length;
      const isFlipped = x + gap + width > cy.width(); // would leave the picture on the right
      const left = isFlipped ? x - gap - width : x + gap;
      const box = [left, y - 0.6 * font, left + width, y + 0.6 * font];
      if (!boxes.isFree(box)) continue;
      boxes.take(box);
      named.push([node, isFlipped ? "named flipped" : "named"]);
    }
    cy.batch(() => {
      cy.nodes(".named").removeClass("named flipped");
      for (const [node, classes] of named) {
        node.data("shown", node.data("font") / zoom).addClass(classes);
      }
    });
  };
})();
