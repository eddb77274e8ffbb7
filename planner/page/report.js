"use strict";
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const every = (selector, root = document) => [...root.querySelectorAll(selector)];
  const states = data.states;
  const compare = new Intl.Collator("en", { numeric: true }).compare;

  // Sort key of a cell: its number, else its text; missing values are last in either order.
  const missing = (text) => text === "" || text === "-";
  function valueOf(cell) {
    const text = cell.textContent.trim();
    if (cell.dataset.v !== undefined) return Number(cell.dataset.v);
    return text !== "" && !Number.isNaN(Number(text)) ? Number(text) : text;
  }
  function order(a, b, down) {
    const gone = Number(typeof a === "string" && missing(a)) - Number(typeof b === "string" && missing(b));
    if (gone) return gone;
    const found = typeof a === "number" && typeof b === "number" ? a - b : compare(String(a), String(b));
    return down ? -found : found;
  }
  // First click: numbers in falling order, words in rising order.
  function nextSort(head, number) {
    const now = head.getAttribute("aria-sort");
    const down = now === "none" ? number : now === "ascending";
    for (const each of head.parentElement.children) each.setAttribute("aria-sort", "none");
    head.setAttribute("aria-sort", down ? "descending" : "ascending");
    return down;
  }

  for (const table of every("table.sortable")) {
    const body = table.tBodies[0];
    table.tHead.addEventListener("click", (event) => {
      const button = event.target.closest("button");
      if (!button) return;
      const head = button.parentElement;
      const down = nextSort(head, head.classList.contains("n"));
      const place = head.cellIndex;
      const rows = [...body.rows].map((row) => [valueOf(row.cells[place]), row]);
      rows.sort((a, b) => order(a[0], b[0], down));
      body.append(...rows.map((pair) => pair[1]));
    });
  }

  for (const form of every("form.filter[data-for]")) {
    const table = document.getElementById(form.dataset.for);
    const words = form.querySelector("input");
    const verdict = form.querySelector("select");
    const said = form.querySelector("output");
    const rows = [...table.tBodies[0].rows];
    function filter() {
      const wanted = words.value.toLowerCase().split(/\s+/).filter(Boolean);
      let shown = 0;
      for (const row of rows) {
        const text = row.textContent.toLowerCase();
        const fits = wanted.every((word) => text.includes(word)) &&
          (!verdict || !verdict.value || row.dataset.verdict === verdict.value);
        row.hidden = !fits;
        shown += Number(fits);
      }
      said.textContent = shown === rows.length ? `${shown} rows` : `${shown} of ${rows.length} rows`;
    }
    form.addEventListener("input", filter);
    form.addEventListener("submit", (event) => event.preventDefault());
    form.addEventListener("filter", filter);
    filter(); // a browser may have kept the typed filter
  }

  // Growth: each step was computed in advance; tiles and columns of counts follow.
  for (const part of every("section.part")) {
    const steps = data.growth[part.dataset.part];
    const box = part.querySelector(".growth");
    if (!box || !steps) continue;
    box.hidden = false;
    const slider = box.querySelector("input");
    const said = box.querySelector("output");
    const tables = every("table.sortable", part).map((table) => ({
      table, places: Object.fromEntries([...table.tHead.rows[0].cells].map((head) => [head.dataset.key, head.cellIndex])),
      rows: new Map([...table.tBodies[0].rows].map((row) => [row.cells[0].textContent, row])),
    }));
    const items = new Map(every("details.item", part).map((item) => [item.dataset.name, item]));
    const rank = (row) => Object.keys(states).indexOf(row.dataset.verdict);
    const badge = (element, text) => {
      element.textContent = text;
      element.className = `verdict ${states[text] || "open"}`;
    };
    for (const { table, rows } of tables) [...rows.values()].forEach((row, k) => { row.dataset.place = k; });
    function move() {
      const step = steps[Number(slider.value)];
      said.textContent = step.words;
      slider.setAttribute("aria-valuetext", step.words);
      part.querySelector("[data-says]").textContent = step.headline || part.querySelector("[data-says]").textContent;
      part.classList.toggle("grown", slider.value !== "0");
      for (const tile of every(".tile[data-follows]", part)) {
        const text = step.tiles[tile.dataset.follows];
        tile.querySelector(".value").textContent = text;
        tile.className = `tile ${text === "0" ? "" : tile.dataset.state}`;
        const detail = tile.querySelector(".detail");
        const more = { short: "to add", spare: "to give", needed: "range" }[tile.dataset.follows];
        if (detail && more && step.tiles[more] !== undefined) detail.textContent = step.tiles[more];
      }
      for (const [name, texts] of Object.entries(step.counts)) {
        const item = items.get(name);
        if (item) badge(item.querySelector("summary .verdict"), texts.verdict);
      }
      for (const { table, places, rows } of tables) {
        for (const [name, texts] of Object.entries(step.counts)) {
          const row = rows.get(name);
          if (!row) continue;
          for (const [key, text] of Object.entries(texts)) {
            if (places[key] === undefined) continue;
            const cell = row.cells[places[key]];
            if (key === "verdict") {
              badge(cell.firstElementChild, text);
              row.dataset.verdict = text;
            } else {
              cell.textContent = text;
              delete cell.dataset.v;
            }
          }
          for (const [key, place] of Object.entries(places)) {
            if (!(key in texts) && !data.first.includes(key)) row.cells[place].classList.add("still");
          }
        }
        // Worst first, as in the answer, unless the reader chose another order.
        if (every("[aria-sort=ascending], [aria-sort=descending]", table).length) continue;
        const lack = (row) => Number(row.cells[places.in_use].textContent) - Number(row.cells[places.recommended].textContent);
        const order = [...rows.values()].sort((a, b) => slider.value === "0" ? a.dataset.place - b.dataset.place :
          rank(a) - rank(b) || lack(a) - lack(b) || a.dataset.place - b.dataset.place);
        table.tBodies[0].append(...order);
      }
      for (const form of every("form.filter[data-for]", part)) form.dispatchEvent(new Event("filter"));
    }
    slider.addEventListener("input", move);
    move();
  }

  // All volumes: many thousand rows; only visible ones become table rows.
  const lazy = document.querySelector("form[data-lazy]");
  if (lazy) {
    const AT_ONCE = 100;
    const { rows, limits } = data.volumes;
    const table = document.getElementById("volumes");
    const heads = [...table.tHead.rows[0].cells];
    const body = table.tBodies[0];
    const said = lazy.querySelector("output");
    const more = lazy.querySelector(".more");
    const words = lazy.querySelector("input");
    const texts = rows.map((row) => row.join(" ").toLowerCase());
    let found = rows.map((_, k) => k);
    let count = AT_ONCE;
    let by = null;
    function draw() {
      const lines = found.slice(0, count).map((k) => {
        const line = document.createElement("tr");
        rows[k].forEach((value, c) => {
          const cell = document.createElement(c ? "td" : "th");
          if (!c) cell.scope = "row";
          const classes = [];
          if (heads[c].classList.contains("n")) classes.push("n");
          const limit = Array.isArray(limits[c]) ? rows[k][limits[c][0]] * limits[c][1] : limits[c];
          if (limit !== null && typeof value === "number" && value > limit) classes.push("hot");
          if (value === 0) classes.push("zero");
          if (classes.length) cell.className = classes.join(" ");
          cell.textContent = value === null ? "-" : typeof value === "number" ? value.toLocaleString("en") : value;
          line.append(cell);
        });
        return line;
      });
      body.replaceChildren(...lines);
      const shown = Math.min(count, found.length);
      const told = [shown, found.length, rows.length].map((each) => each.toLocaleString("en"));
      const of = found.length === rows.length ? told[2] : `${told[1]} found of ${told[2]}`;
      said.textContent = `${told[0]} shown, ${of} volumes`;
      more.hidden = shown === found.length;
    }
    function choose() {
      const wanted = words.value.toLowerCase().split(/\s+/).filter(Boolean);
      found = rows.map((_, k) => k).filter((k) => wanted.every((word) => texts[k].includes(word)));
      if (by) {
        const value = (k) => (rows[k][by.place] === null ? "-" : rows[k][by.place]);
        found.sort((a, b) => order(value(a), value(b), by.down));
      }
      count = AT_ONCE;
      draw();
    }
    lazy.addEventListener("input", choose);
    lazy.addEventListener("submit", (event) => event.preventDefault());
    more.addEventListener("click", () => { count += 10 * AT_ONCE; draw(); });
    table.tHead.addEventListener("click", (event) => {
      const button = event.target.closest("button");
      if (!button) return;
      const head = button.parentElement;
      by = { place: head.cellIndex, down: nextSort(head, head.classList.contains("n")) };
      choose();
    });
    choose();
  }

  // A link to a pool opens it.
  function open() {
    const wanted = location.hash.length > 1 && document.getElementById(location.hash.slice(1));
    if (wanted && wanted.tagName === "DETAILS") {
      wanted.open = true;
      wanted.scrollIntoView();
    }
  }
  addEventListener("hashchange", open);
  document.addEventListener("click", (event) => {
    const link = event.target.closest("a[href^='#']");
    if (link && link.hash === location.hash) open();
    const button = event.target.closest("button");
    if (!button) return;
    const { open: these, close: those, save } = button.dataset;
    if (these || those) {
      for (const each of every("details.item", document.getElementById(these || those))) each.open = Boolean(these);
    }
    if (save) {
      const kind = save.endsWith(".json") ? "application/json" : "text/csv";
      const text = save.endsWith(".json") ? JSON.stringify(data.answers, null, 2) : data.csv[save];
      const link = document.createElement("a");
      link.href = URL.createObjectURL(new Blob([text], { type: kind }));
      link.download = save;
      link.click();
      setTimeout(() => URL.revokeObjectURL(link.href), 10000);
    }
  });
  open();
  // Show a hint for tables that scroll.
  const fit = () => every(".scroll").forEach((box) => box.classList.toggle("wide", box.scrollWidth > box.clientWidth + 1));
  new ResizeObserver(fit).observe(document.body);
  document.addEventListener("toggle", fit, true);
  fit();
  document.documentElement.dataset.ready = "yes";
})();
