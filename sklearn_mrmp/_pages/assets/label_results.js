/* Results of each label: one measure of all classifiers at a time, in a table to sort and filter. */
"use strict";

(function () {
  const { element, fixed, unpack } = mrmp;
  const RANKED = "average precision";

  class LabelResults {
    constructor(root) {
      this.root = root;
      this.data = mrmp.readBlock(root, "results-data");
      for (const name of ["support", "counted", "ranked"]) this[name] = unpack(this.data[name]);
      this.order = [...this.data.names.keys()]
        .sort((a, b) => this.support[b] - this.support[a] || a - b);
      const { measures, decisions, metrics } = this.data;
      this.measure = this.#select("measure", [...measures, RANKED]);
      this.decision = this.#select("decision", decisions);
      this.metric = this.#select("tuned for", metrics);
      const preferred = metrics.indexOf("f1_macro"); // the metric that cares for each label
      if (preferred >= 0) this.metric.selectedIndex = preferred;
      this.place = element("div", { className: "scroll" });
      this.filter = element("input", { type: "search", placeholder: "Filter labels",
        "aria-label": "Filter labels" });
      this.filter.addEventListener("input", () => this.#filterRows());
      const bar = element("div", { className: "toolbar" }, this.filter,
        ...[this.measure, this.decision, this.metric].map((select) =>
          element("label", {}, `${select.name} `, select)));
      root.append(bar, this.place);
      this.show();
    }

    #select(name, values) {
      const select = element("select", { name }, ...values.map((value) =>
        element("option", { value }, value)));
      select.addEventListener("change", () => this.show());
      return select;
    }

    /* Values of one classifier for all labels. */
    #values(method) {
      const { names, methods, measures, metrics } = this.data, n = names.length;
      if (this.measure.value === RANKED) return this.ranked.subarray(method * n, method * n + n);
      const point = this.decision.selectedIndex * metrics.length + this.metric.selectedIndex;
      const row = (point * methods.length + method) * measures.length + this.measure.selectedIndex;
      return this.counted.subarray(row * n, row * n + n);
    }

    show() {
      const isRanked = this.measure.value === RANKED;
      this.decision.disabled = this.metric.disabled = isRanked; // scores alone are ranked
      const { names, methods } = this.data;
      const columns = methods.map((_, method) => this.#values(method));
      const rows = this.order.map((label) => {
        const values = columns.map((column) => column[label]);
        const best = Math.max(...values.filter(Number.isFinite));
        const cells = values.map((value) => {
          const text = fixed(value, 3);
          return element("td", {}, value === best && methods.length > 1
            ? element("b", {}, text) : text);
        });
        return element("tr", {}, this.#name(label, names[label]),
          element("td", {}, fixed(this.support[label], 0)), ...cells);
      });
      const head = ["label", "test rows", ...methods].map((name) => element("th", {}, name));
      const table = element("table", { className: "sortable" },
        element("thead", {}, element("tr", {}, ...head)), element("tbody", {}, ...rows));
      mrmp.makeSortable(table);
      this.place.replaceChildren(table);
      this.#filterRows();
    }

    /* A name leads to the label in the graph, if the page has one. */
    #name(label, name) {
      const cell = element("td", {});
      cell.dataset.sort = name;
      const graph = document.querySelector(".label-graph");
      if (!graph) {
        cell.append(name);
        return cell;
      }
      const button = element("button", { type: "button", className: "name" }, name);
      button.addEventListener("click", () => {
        graph.view.show(label);
        graph.scrollIntoView({ block: "center" });
      });
      cell.append(button);
      return cell;
    }

    #filterRows() {
      mrmp.filterRows(this.place.querySelector("table"), this.filter.value);
    }
  }

  document.querySelectorAll(".label-results").forEach((root) => {
    root.results = new LabelResults(root);
  });
})();
