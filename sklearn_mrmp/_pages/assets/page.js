/* What every page has: making elements, unpacking arrays, and tables that sort and filter. */
"use strict";

const mrmp = {};

/* Make an element. Texts become text nodes, so that names may hold any characters. */
mrmp.element = function (tag, properties, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(properties || {})) {
    if (name in node) node[name] = value;
    else node.setAttribute(name, value);
  }
  node.append(...children.filter((child) => child !== null));
  return node;
};

/* Arrays as `packed` of template.py writes them. */
mrmp.unpack = function (packed) {
  if (packed === null) return null;
  const text = atob(packed.bytes);
  const bytes = new Uint8Array(text.length);
  for (let i = 0; i < text.length; i++) bytes[i] = text.charCodeAt(i);
  const type = { Uint8Array, Uint16Array, Uint32Array, Float32Array }[packed.type];
  return new type(bytes.buffer);
};

mrmp.readBlock = (root, name) => JSON.parse(root.querySelector(`script.${name}`).textContent);

mrmp.count = (number, noun) =>
  `${number.toLocaleString("en-US")} ${noun}${number === 1 ? "" : "s"}`;

mrmp.fixed = (value, digits) => (Number.isFinite(value) ? value.toFixed(digits) : "–");

(function () {
  const NUMBER = /^[<≤]?\s*[+-]?[\d,]*\.?\d+(e[+-]?\d+)?( %| ?±.*)?$/i;

  const cellText = (row, column) => {
    const cell = row.cells[column];
    return (cell.dataset.sort ?? cell.textContent).trim();
  };
  const isMissing = (text) => text === "" || text === "–" || text === "error";
  const toNumber = (text) => parseFloat(text.replace(/[<≤,\s]/g, ""));

  /* Rows in order of a column; what is missing comes last, either way. */
  function sortedRows(rows, column, falling) {
    const keyed = rows.map((row) => [cellText(row, column), row]);
    const present = keyed.filter(([text]) => !isMissing(text));
    const numeric = present.every(([text]) => NUMBER.test(text));
    const collator = new Intl.Collator("en", { numeric: true, sensitivity: "base" });
    const compare = numeric
      ? ([a], [b]) => toNumber(a) - toNumber(b)
      : ([a], [b]) => collator.compare(a, b);
    const falls = falling === null ? numeric : falling; // numbers: largest first, at first
    present.sort((a, b) => (falls ? compare(b, a) : compare(a, b)));
    const missing = keyed.filter(([text]) => isMissing(text));
    return [[...present, ...missing].map(([, row]) => row), falls];
  }

  function sortBy(table, header) {
    const before = header.getAttribute("aria-sort");
    const falling = before === null ? null : before === "ascending";
    const body = table.tBodies[0];
    const [rows, falls] = sortedRows([...body.rows], header.cellIndex, falling);
    table.querySelectorAll("th[aria-sort]").forEach((th) => th.removeAttribute("aria-sort"));
    header.setAttribute("aria-sort", falls ? "descending" : "ascending");
    body.append(...rows);
  }

  mrmp.makeSortable = function (table) {
    table.querySelectorAll("thead th").forEach((header) => {
      header.tabIndex = 0;
      header.title = "Sort by this column";
      header.addEventListener("click", () => sortBy(table, header));
      header.addEventListener("keydown", (event) => {
        if (event.key === "Enter") sortBy(table, header);
      });
    });
  };

  /* Hide the rows whose first cell does not hold the text. */
  mrmp.filterRows = function (table, text) {
    const wanted = text.trim().toLowerCase();
    for (const row of table.tBodies[0].rows) {
      row.hidden = !row.cells[0].textContent.toLowerCase().includes(wanted);
    }
  };

  /* A search box above a table. */
  mrmp.makeFilter = function (table) {
    const input = mrmp.element("input", {
      type: "search", placeholder: "Filter labels", "aria-label": "Filter labels",
    });
    input.addEventListener("input", () => mrmp.filterRows(table, input.value));
    (table.closest(".scroll") ?? table).before(input); // outside of what scrolls
  };

  document.querySelectorAll("table.sortable").forEach(mrmp.makeSortable);
  document.querySelectorAll("table.filtered").forEach(mrmp.makeFilter);
})();
