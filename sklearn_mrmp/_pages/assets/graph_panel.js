/* The panel beside the picture: one label with its neighbours, or the strongest links of all. */
"use strict";

mrmp.GraphPanel = class {
  /* `choose` is called with a label that was clicked. */
  constructor(root, model, choose) {
    Object.assign(this, { root, model, choose });
  }

  #name(label) {
    const button = mrmp.element("button", { type: "button", className: "name" },
      this.model.names[label]);
    button.addEventListener("click", () => this.choose(label));
    return button;
  }

  #relation(link) {
    const { name, color } = this.model.relations[this.model.relation[link]];
    const swatch = mrmp.element("span", { className: "swatch" });
    swatch.style.background = color;
    return mrmp.element("td", { className: "text relation" }, swatch, name);
  }

  #columns() {
    const { model } = this;
    const columns = [["strength", (link) => mrmp.fixed(model.strength[link], 3)]];
    if (model.isWeighted) columns.push(["weight", (link, label) => model.weights(link, label)]);
    if (model.together) {
      columns.push(["rows with both", (link) => mrmp.fixed(model.together[link], 0)]);
      columns.push(["lift", (link) => mrmp.fixed(model.lift(link), 2)]);
      columns.push(["p-value", (link) => model.pValue(link)]);
    }
    return columns;
  }

  #table(names, links, firstCells, label) {
    if (!links.length) return mrmp.element("p", {}, "No link passes the filters.");
    const columns = this.#columns();
    const header = [...names, ...columns.map(([name]) => name)];
    const rows = links.map((link) => {
      const row = mrmp.element("tr", {}, ...firstCells(link));
      for (const [, text] of columns) row.append(mrmp.element("td", {}, text(link, label)));
      return row;
    });
    const head = header.map((name, k) =>
      mrmp.element("th", { className: k < names.length ? "text" : "" }, name));
    const kind = label === null ? "sortable" : "sortable neighbours";
    const table = mrmp.element("table", { className: kind },
      mrmp.element("thead", {}, mrmp.element("tr", {}, ...head)),
      mrmp.element("tbody", {}, ...rows));
    mrmp.makeSortable(table);
    return table;
  }

  /* A button that shows example rows which carry both labels. */
  #both(label, other) {
    const button = mrmp.element("button", { type: "button", className: "both" }, "rows");
    button.addEventListener("click", () => {
      const { names } = this.model;
      const examples = this.#examples(this.model.examplesWith(label, other),
        `Rows with “${names[label]}” and “${names[other]}”`);
      this.root.querySelector(".examples").replaceWith(examples);
      examples.open = true;
      examples.scrollIntoView({ block: "nearest" });
    });
    return button;
  }

  #examples(examples, title) {
    const items = examples.slice(0, 3).map((example) => {
      const labels = example.labels.map((label) => this.model.names[label]).join(", ");
      return mrmp.element("li", {}, example.text, mrmp.element("small", {}, labels));
    });
    return mrmp.element("details", { className: "examples", hidden: !items.length },
      mrmp.element("summary", {}, title), mrmp.element("ul", {}, ...items));
  }

  #counts(label) {
    const { counts, nSamples } = this.model;
    if (!counts) return null;
    const share = nSamples ? ` of ${nSamples.toLocaleString("en-US")} rows ` +
      `(${((100 * counts[label]) / nSamples).toPrecision(3)} %)` : " rows";
    return mrmp.element("p", {}, `In ${counts[label].toLocaleString("en-US")}${share}.`);
  }

  #neighbour(link, label, haveExamples) {
    const other = this.model.other(link, label);
    const direction = this.model.direction(link, label);
    const cell = mrmp.element("td", { className: "text" }, direction ? `${direction} ` : "",
      this.#name(other), haveExamples.has(other) ? this.#both(label, other) : null);
    cell.dataset.sort = this.model.names[other];
    return [cell, this.#relation(link)];
  }

  showLabel(label, links) {
    const examples = this.model.examplesWith(label);
    const haveExamples = new Set(examples.flatMap((example) => example.labels));
    const title = this.model.names[label];
    this.root.replaceChildren(...[
      mrmp.element("h3", {}, title), this.#counts(label),
      mrmp.element("p", {}, `${mrmp.count(links.length, "neighbour")}.`),
      this.#examples(examples, `Rows with “${title}”`),
      this.#table(["neighbour", "relation"], links,
        (link) => this.#neighbour(link, label, haveExamples), label),
    ].filter((part) => part !== null));
  }

  showAll(links) {
    const { model } = this;
    const ends = (link) => [
      ...[model.source[link], model.target[link]].map((label) => {
        const cell = mrmp.element("td", { className: "text" }, this.#name(label));
        cell.dataset.sort = model.names[label];
        return cell;
      }),
      this.#relation(link)];
    this.root.replaceChildren(
      mrmp.element("h3", {}, "The strongest links"),
      mrmp.element("p", {}, "Search a label, or click one, to see its neighbours. " +
        model.strengthMeaning),
      this.#table(["label", "label", "relation"], links, ends, null));
  }
};
