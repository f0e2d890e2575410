/* The label graph to explore: a picture, filters, a search box, and the panel beside them. */
"use strict";

(function () {
  const LINK_STEPS = [25, 50, 100, 200, 300, 500, 1000, 2000, 4000];
  const NEIGHBOURS = 20; // of each side of the picture of one label; the panel lists all
  const LISTED = 15; // strongest links of each relation in the panel
  const ROOM = 70; // pixels of width for each label in the picture of all, by the square root

  class GraphView {
    constructor(root) {
      this.root = root;
      this.model = new mrmp.GraphModel(mrmp.readBlock(root, "graph-data"));
      this.focus = null;
      this.drawn = new Set(this.model.drawn);
      this.filter = { relations: this.model.relations.map(() => true), strength: 0 };
      this.most = LINK_STEPS.findLast((n) => n <= Math.max(this.drawn.size / 2, 100));
      this.#build();
      this.panel = new mrmp.GraphPanel(this.panelRoot, this.model, (label) => this.show(label));
      this.cy = cytoscape({
        container: this.canvas, style: this.#style(), minZoom: 0.02, maxZoom: 6,
        hideEdgesOnViewport: false, boxSelectionEnabled: false,
      });
      this.cy.on("viewport", () => this.#placeNames());
      this.cy.on("tap", "node", (event) => this.show(event.target.data("label")));
      this.cy.on("mouseover", "node", (event) => this.#hover(event.target));
      this.cy.on("mouseout", "node", () => this.cy.elements().removeClass("faint near"));
      this.show(null);
    }

    #build() {
      const { element } = mrmp;
      this.canvas = element("div", { className: "canvas", role: "img",
        "aria-label": "Picture of the label graph; the table beside it has the same links" });
      this.panelRoot = element("aside", { className: "panel" });
      this.status = element("span", { className: "status", role: "status" });
      const all = element("button", { type: "button", className: "all" }, "All labels");
      const fit = element("button", { type: "button", className: "fit" }, "Fit");
      all.addEventListener("click", () => this.show(null));
      fit.addEventListener("click", () => this.#fit());
      // Of the document: a button that was clicked may be gone, and the focus with it.
      document.addEventListener("keydown", (event) => {
        if (event.key === "Escape" && this.focus !== null) this.show(null);
      });
      this.root.append(
        element("div", { className: "toolbar" }, this.#searchBox(), ...this.#relationBoxes(),
          this.#strengthSlider(), this.#linkSlider(), all, fit, this.status),
        element("div", { className: "stage" }, this.canvas, this.panelRoot));
    }

    #searchBox() {
      const input = mrmp.element("input", { type: "search", placeholder: "Search a label",
        "aria-label": "Search a label", className: "search" });
      const list = mrmp.element("ul", { className: "found", hidden: true });
      const choose = (label) => {
        input.value = "";
        list.hidden = true;
        this.show(label);
      };
      input.addEventListener("input", () => {
        const found = this.model.search(input.value, 12);
        list.replaceChildren(...found.map((label) => {
          const button = mrmp.element("button", { type: "button" }, this.model.names[label]);
          button.addEventListener("click", () => choose(label));
          return mrmp.element("li", {}, button);
        }));
        if (!found.length) list.append(mrmp.element("li", {}, "No label has this in its name."));
        list.hidden = !input.value.trim();
      });
      input.addEventListener("keydown", (event) => {
        const [first] = this.model.search(input.value, 1);
        if (event.key === "Enter" && first !== undefined) choose(first);
      });
      return mrmp.element("div", { className: "search-box" }, input, list);
    }

    #relationBoxes() {
      return this.model.relations.map((relation, position) => {
        const box = mrmp.element("input", { type: "checkbox", checked: true });
        box.addEventListener("change", () => {
          this.filter.relations[position] = box.checked;
          this.#filtered();
        });
        const swatch = mrmp.element("span", { className: "swatch" });
        swatch.style.background = relation.color;
        return mrmp.element("label", { className: "relation" }, box, swatch,
          `${relation.name} (${relation.n_links.toLocaleString("en-US")})`);
      });
    }

    #strengthSlider() {
      const largest = this.model.largestStrength;
      const shown = mrmp.element("output", {}, "0");
      const slider = mrmp.element("input", { type: "range", className: "strength" });
      Object.assign(slider, { min: 0, max: largest, step: largest / 200, value: 0 });
      slider.addEventListener("input", () => {
        this.filter.strength = Math.min(Number(slider.value), largest);
        shown.textContent = this.filter.strength.toPrecision(2);
        this.#filtered();
      });
      return mrmp.element("label", { title: this.model.strengthMeaning }, "strength at least ",
        slider, shown);
    }

    #linkSlider() {
      const shown = mrmp.element("output", {}, String(this.most));
      const slider = mrmp.element("input", { type: "range", className: "links" });
      Object.assign(slider, { min: 0, max: LINK_STEPS.length - 1, step: 1,
        value: LINK_STEPS.indexOf(this.most) });
      slider.addEventListener("input", () => {
        this.most = LINK_STEPS[Number(slider.value)];
        shown.textContent = String(this.most);
        this.#filtered();
      });
      return mrmp.element("label", {}, "links of each relation ", slider, shown);
    }

    /* Redraw once per frame, however many events a slider sends. */
    #filtered() {
      cancelAnimationFrame(this.frame);
      this.frame = requestAnimationFrame(() => this.show(this.focus, false));
    }

    /* Show one label with its neighbours, or all labels for null. */
    show(label, fit = true) {
      const start = performance.now();
      this.focus = label;
      if (label === null) this.#showAll();
      else this.#showLabel(label);
      if (fit || label !== null) this.#fit();
      const links = this.cy.edges().length;
      const passing = this.model.nPassing(this.filter);
      this.status.textContent = `${mrmp.count(links, "link")} drawn, of ` +
        `${passing.toLocaleString("en-US")} that pass the filters`;
      Object.assign(this.root.dataset, { links, labels: this.cy.nodes().length, passing,
        focus: label === null ? "" : this.model.names[label],
        milliseconds: (performance.now() - start).toFixed(1) });
    }

    #showAll() {
      const links = this.model.strongest(this.filter, this.most, this.drawn);
      const edges = links.map((link) => this.#edge(link, 1));
      if (this.cy.scratch("all")) { // the labels stay where they are, maybe moved by hand
        this.cy.edges().remove();
        this.cy.add(edges);
      } else {
        this.cy.elements().remove();
        this.cy.add([...this.#allNodes(), ...edges]);
      }
      this.cy.scratch("all", true);
      this.#placeNames();
      this.panel.showAll(this.model.strongest(this.filter, LISTED));
    }

    /* Once the picture is at rest; names of one label and its neighbours always have room. */
    #placeNames() {
      clearTimeout(this.timer);
      this.timer = setTimeout(() => {
        if (this.focus === null) mrmp.placeNames(this.cy);
      }, 60);
    }

    #allNodes() {
      const { positions, drawn } = this.model;
      const scale = (ROOM * Math.sqrt(drawn.length)) / 2;
      return drawn.map((label, k) => this.#node(label, {
        x: scale * positions[2 * k], y: scale * positions[2 * k + 1] }, ""));
    }

    #showLabel(label) {
      const links = this.model.linksOf(label, this.filter);
      this.cy.scratch("all", false);
      this.cy.elements().remove();
      this.cy.add([this.#node(label, { x: 0, y: 0 }, "chosen"), ...this.#sides(label, links)]);
      this.panel.showLabel(label, links);
    }

    /* Neighbours on an arc left (first, third … relation) and right, strongest at the top. */
    #sides(label, links) {
      const seen = new Set(), elements = [];
      for (const side of [0, 1]) {
        const found = links.filter((link) => this.model.relation[link] % 2 === side);
        const nearest = found.slice(0, NEIGHBOURS);
        const height = 30 * Math.max(nearest.length - 1, 1), radius = Math.max(height / 2, 150);
        nearest.forEach((link, k) => {
          const other = this.model.other(link, label), key = `${side}-${other}`;
          const y = nearest.length === 1 ? 0 : 30 * k - height / 2;
          const arc = 140 + 0.55 * Math.sqrt(Math.max(radius * radius - y * y, 0));
          if (!seen.has(key)) {
            const place = { x: side ? arc : -arc, y };
            elements.push(this.#node(other, place, side ? "right" : "left", key));
          }
          seen.add(key);
          elements.push(this.#edge(link, 2.2, label, key));
        });
      }
      return elements;
    }

    #node(label, position, classes, id = null) {
      const { counts, names } = this.model;
      const share = counts ? Math.sqrt(counts[label] / this.#largestCount()) : 0.35;
      return { group: "nodes", classes, position, data: { id: id ?? `n${label}`, label,
        name: names[label], size: 8 + 32 * share, font: 10 + 10 * share } };
    }

    #largestCount() {
      this.largest ??= this.model.counts.reduce((a, b) => Math.max(a, b), 1);
      return this.largest;
    }

    #edge(link, scale, label = null, key = null) {
      const { source, target, relation, strength, relations } = this.model;
      const share = strength[link] / (this.model.largestStrength || 1);
      const { color, dashes } = relations[relation[link]];
      const away = label === null || source[link] === label;
      const ends = label === null
        ? { source: `n${source[link]}`, target: `n${target[link]}` }
        : { source: away ? `n${label}` : key, target: away ? key : `n${label}` };
      const arrow = label === null ? "" : this.model.direction(link, source[link]);
      return { group: "edges", classes: arrow === "→" ? "to" : arrow === "←" ? "from" : "",
        data: { id: `e${link}`, ...ends, color, dashes, line: dashes.length ? "dashed" : "solid",
          width: scale * (1 + 3 * share), opacity: 0.35 + 0.5 * share } };
    }

    #hover(node) {
      if (this.focus !== null) return;
      const near = node.closedNeighborhood();
      near.nodes().forEach((other) => other.data("shown", other.data("font") / this.cy.zoom()));
      this.cy.elements().difference(near).addClass("faint");
      near.addClass("near");
    }

    #fit() {
      this.cy.resize();
      // Names in the picture of all labels have a fixed size, and follow the zoom.
      const all = this.cy.elements().boundingBox({ includeLabels: false });
      if (this.focus === null) this.cy.fit(all, 25);
      else this.cy.fit(undefined, 30);
    }

    #style() {
      const css = getComputedStyle(document.documentElement);
      const color = (name) => css.getPropertyValue(name).trim();
      return [
        { selector: "node", style: {
          width: "data(size)", height: "data(size)",
          "background-color": color("--node"), color: color("--text"),
          "font-family": "system-ui, sans-serif", "text-valign": "center",
          "text-halign": "right", "text-margin-x": 3, "text-outline-width": 2, "text-outline-color": color("--ground") } },
        { selector: "node.named", style: { label: "data(name)", "font-size": "data(shown)" } },
        { selector: "node.left, node.right, node.chosen", style: { label: "data(name)",
          "font-size": 15 } },
        { selector: "node.left, node.flipped", style: { "text-halign": "left",
          "text-margin-x": -3 } },
        { selector: "node.chosen", style: { "background-color": color("--chosen"),
          "text-valign": "top", "text-halign": "center", "text-margin-x": 0, "font-size": 22,
          "font-weight": "bold" } },
        { selector: "edge", style: {
          width: "data(width)", "line-color": "data(color)", "line-style": "data(line)",
          "line-dash-pattern": "data(dashes)", opacity: "data(opacity)",
          "curve-style": "haystack" } },
        { selector: "edge.to, edge.from", style: { "curve-style": "straight" } },
        { selector: "edge.to", style: { "target-arrow-shape": "triangle",
          "target-arrow-color": "data(color)" } },
        { selector: "edge.from", style: { "source-arrow-shape": "triangle",
          "source-arrow-color": "data(color)" } },
        { selector: ".faint", style: { opacity: 0.08 } },
        { selector: "node.near", style: { label: "data(name)", "font-size": "data(shown)",
          "z-index": 9 } },
      ];
    }
  }

  document.querySelectorAll(".label-graph").forEach((root) => {
    root.view = new GraphView(root);
    root.dataset.ready = performance.now().toFixed(0);
  });
})();
