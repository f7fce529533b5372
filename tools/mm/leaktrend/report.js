"use strict";
/* Without this the page has the same content: it only sorts tables and zooms. */
for (const table of document.querySelectorAll("table.sortable")) {
  const body = table.tBodies[0];
  table.querySelectorAll("th").forEach((th, column) => {
    const button = document.createElement("button");
    button.textContent = th.textContent;
    button.title = "sort by this column";
    th.replaceChildren(button);
    let down = true;
    button.addEventListener("click", () => {
      const key = (row) => {
        const cell = row.cells[column];
        return cell.dataset.v === undefined ? cell.textContent : Number(cell.dataset.v);
      };
      const rows = Array.from(body.rows).sort((a, b) => {
        const x = key(a), y = key(b);
        return (x > y ? 1 : x < y ? -1 : 0) * (down ? -1 : 1);
      });
      body.replaceChildren(...rows);
      for (const other of table.querySelectorAll("th")) other.removeAttribute("aria-sort");
      th.setAttribute("aria-sort", down ? "descending" : "ascending");
      down = !down;
    });
  });
}
for (const flame of document.querySelectorAll(".flame")) {
  const frames = Array.from(flame.children);
  const zoom = (to) => {
    const left = Number(to.dataset.x), width = Number(to.dataset.w);
    for (const f of frames) {
      const x = (Number(f.dataset.x) - left) / width, w = Number(f.dataset.w) / width;
      f.style.display = x + w <= 1e-9 || x >= 1 - 1e-9 ? "none" : "";
      const begin = Math.max(x, 0), end = Math.min(x + w, 1);
      f.style.left = begin * 100 + "%";
      f.style.width = (end - begin) * 100 + "%";
    }
  };
  for (const f of frames) {
    f.addEventListener("click", () => zoom(f));
    f.addEventListener("keydown", (e) => { if (e.key === "Enter") zoom(f); });
  }
}
