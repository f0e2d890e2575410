/* A label graph in the browser: its links as arrays, and what the page asks about them. */
"use strict";

mrmp.GraphModel = class {
  constructor(content) {
    Object.assign(this, content);
    const arrays = ["source", "target", "relation", "strength", "out", "back", "together",
      "log10_p", "counts", "positions"];
    for (const name of arrays) this[name] = mrmp.unpack(content[name]);
    this.nLabels = this.names.length;
    this.nLinks = this.source.length;
    this.lowerNames = this.names.map((name) => name.toLowerCase());
    this.largestStrength = this.nLinks ? this.strength[0] : 1;
    this.#indexLinks();
    this.#indexExamples();
  }

  /* Links of each label one after the other, strongest first, as the links are. */
  #indexLinks() {
    this.begins = new Uint32Array(this.nLabels + 1);
    for (const ends of [this.source, this.target]) {
      for (const label of ends) this.begins[label + 1] += 1;
    }
    for (let i = 0; i < this.nLabels; i++) this.begins[i + 1] += this.begins[i];
    const next = this.begins.slice();
    this.links = new Uint32Array(2 * this.nLinks);
    for (let link = 0; link < this.nLinks; link++) {
      this.links[next[this.source[link]]++] = link;
      this.links[next[this.target[link]]++] = link;
    }
  }

  #indexExamples() {
    this.examplesOf = this.names.map(() => []);
    this.examples.forEach((example, position) => {
      for (const label of example.labels) this.examplesOf[label].push(position);
    });
  }

  linksOf(label, filter) {
    const all = this.links.subarray(this.begins[label], this.begins[label + 1]);
    return Array.from(all).filter((link) => this.passes(link, filter));
  }

  passes(link, filter) {
    return filter.relations[this.relation[link]] && this.strength[link] >= filter.strength;
  }

  other(link, label) {
    return this.source[link] === label ? this.target[link] : this.source[link];
  }

  /* The strongest links of each relation, at most `most`, between labels of a set (or all). */
  strongest(filter, most, labels = null) {
    const left = this.relations.map(() => most);
    const found = [];
    for (let link = 0; link < this.nLinks; link++) {
      const relation = this.relation[link];
      if (left[relation] === 0 || !this.passes(link, filter)) continue;
      if (labels && !(labels.has(this.source[link]) && labels.has(this.target[link]))) continue;
      left[relation] -= 1;
      found.push(link);
    }
    return found;
  }

  nPassing(filter) {
    let n = 0;
    for (let link = 0; link < this.nLinks; link++) n += this.passes(link, filter) ? 1 : 0;
    return n;
  }

  /* Labels whose name begins with the text, then those that hold it. */
  search(text, most) {
    const wanted = text.trim().toLowerCase();
    if (!wanted) return [];
    const begin = [], inside = [];
    this.lowerNames.forEach((name, label) => {
      const place = name.indexOf(wanted);
      if (place === 0) begin.push(label);
      else if (place > 0) inside.push(label);
    });
    begin.sort((a, b) => this.names[a].length - this.names[b].length);
    return begin.concat(inside).slice(0, most);
  }

  /* How many times as often as by chance the two labels are together. */
  lift(link) {
    if (!this.together) return NaN;
    const [i, j] = [this.source[link], this.target[link]];
    return (this.together[link] * this.nSamples) / (this.counts[i] * this.counts[j]);
  }

  pValue(link) {
    const exponent = this.log10_p ? this.log10_p[link] : NaN;
    if (!Number.isFinite(exponent)) return "–";
    if (exponent > -4) return (10 ** exponent).toPrecision(2);
    const whole = Math.floor(exponent);
    const digits = (10 ** (exponent - whole)).toFixed(1);
    return digits === "10.0" ? `1.0e${whole + 1}` : `${digits}e${whole}`;
  }

  /* Whether the link has one direction, and if so whether it leads away from the label. */
  direction(link, label) {
    if (this.out[link] > 0 && this.back[link] > 0) return "";
    const away = (this.out[link] > 0) === (this.source[link] === label);
    return away ? "→" : "←";
  }

  weights(link, label) {
    const pair = [this.out[link], this.back[link]];
    const [away, towards] = this.source[link] === label ? pair : pair.reverse();
    const text = (weight) => Number(weight.toPrecision(3)).toString();
    return away === towards ? text(away) : `${text(away)} / ${text(towards)}`;
  }

  examplesWith(label, other = null) {
    return this.examplesOf[label]
      .map((position) => this.examples[position])
      .filter((example) => other === null || example.labels.includes(other));
  }
};
