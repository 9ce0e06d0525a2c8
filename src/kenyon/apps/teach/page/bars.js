// What the learner thinks of the present sample: a bar for each class.

class Bars {
  constructor(list) {
    this.list = list;
    this.rows = [];
  }

  /** `shares` add up to 1, or are all zero where there is nothing to judge. */
  show(labels, shares) {
    byId("NoClasses").hidden = labels.length > 0;
    this.list.classList.toggle("many", labels.length > 12);
    while (this.rows.length > labels.length) this.rows.pop().row.remove();
    while (this.rows.length < labels.length) {
      const [name, fill, share] = ["name", "", "share"].map((kind) => element("span", kind ? { class: kind } : {}));
      const row = element("li", {}, name, element("span", { class: "bar" }, fill), share);
      this.list.append(row);
      this.rows.push({ row, name, fill, share });
    }
    const best = shares.some((share) => share > 0) ? shares.indexOf(Math.max(...shares)) : -1;
    this.rows.forEach(({ row, name, fill, share }, j) => {
      if (name.textContent !== labels[j]) name.textContent = name.title = labels[j];
      fill.style.width = `${100 * shares[j]}%`;
      share.textContent = best < 0 ? "" : `${Math.round(100 * shares[j])} %`;
      row.classList.toggle("best", j === best);
      if (j === best) row.setAttribute("aria-current", "true");
      else row.removeAttribute("aria-current");
    });
  }
}
