"use strict";
// One position at a time: `here`, at the end of `trail`, the positions that `path` goes through.
const $ = (id) => document.getElementById(id);
const inside = JSON.parse($("data").textContent); // null when a server has the data
const cache = new Map();
const RANKS = "AKQJT98765432";
const REACHED = "#6fb07f";
const MOST_ROWS = 300;
let about = null, path = [], trail = [], here = null, cursor = 0, player = 0, version = 0;
let chosen = null; // {title, hands: [index]} of the private states in the detail
let order = null; // {key, down} by which a report is sorted

function h(tag, properties = {}, ...children) {
  const node = document.createElement(tag);
  for (const [key, value] of Object.entries(properties)) {
    if (value === false || value === null || value === undefined) continue;
    if (key.startsWith("on")) node.addEventListener(key.slice(2), value);
    else if (key === "style") node.style.cssText = value;
    else node.setAttribute(key, value === true ? "" : value);
  }
  node.append(...children.filter((c) => c !== null));
  return node;
}

const percent = (x) => (x === null ? "–" : `${(100 * x).toFixed(x < 0.0995 ? 1 : 0)}%`);
const number = (x) => (x === null ? "–"
  : (Math.abs(x) < 5e-4 ? 0 : x).toFixed(Math.abs(x) >= 100 ? 1 : Math.abs(x) >= 1 ? 2 : 3));
const chip = (colour) => h("span", {class: "chip", style: `background:${colour}`});
const facts = (box, entries) => box.replaceChildren(...Object.entries(entries).map(
  ([key, value]) => h("div", {}, h("dt", {}, key),
    h("dd", {}, ...(key === "board" ? value.split(" ").map(card) : [value])))));

async function ask(url, body) {
  const options = body && {method: "POST", headers: {"Content-Type": "application/json"},
    body: JSON.stringify(body)};
  const reply = await fetch(url, options);
  const found = await reply.json();
  if (!reply.ok) throw new Error(found.error);
  return found;
}

async function position(at) {
  const key = JSON.stringify(at);
  if (!cache.has(key)) {
    const found = inside ? inside.positions[key]
      : await ask(`/api/position?path=${encodeURIComponent(key)}`);
    if (!found) throw new Error("This file has only the positions that play reaches most; `jaxsolve view` shows all.");
    cache.set(key, found);
  }
  return cache.get(key);
}

let request = 0;
async function go(to) {
  const mine = ++request;
  try {
    document.body.setAttribute("aria-busy", "true");
    const found = [];
    for (let k = 0; k <= to.length; k++) found.push(await position(to.slice(0, k)));
    if (mine !== request) return; // the reader has gone elsewhere in the meantime
    const same = here && JSON.stringify(here.path) === JSON.stringify(to);
    [path, trail, here] = [to, found, found[to.length]];
    if (!same) [cursor, chosen, order] = [0, null, null];
    const acts = here.privates.findIndex((p) => p.acts);
    if (!same && acts >= 0) player = acts;
    $("message").textContent = "";
    draw();
    if (!inside) history.replaceState(null, "", path.length ? `#${encodeURIComponent(JSON.stringify(path))}` : "#");
  } catch (error) {
    $("message").textContent = error.message;
  } finally {
    if (mine === request) document.body.removeAttribute("aria-busy");
  }
}

function draw() {
  drawLine();
  $("title").textContent = here.title;
  facts($("here"), {...here.facts, reached: percent(here.probability),
    ...Object.fromEntries(here.privates.map((p, i) => [`EV ${p.player}`, number(here.values[i])]))});
  $("tabs").replaceChildren(...here.privates.map((p, i) => h("button", {
    type: "button", "aria-pressed": String(i === player),
    onclick: () => { player = i; chosen = null; draw(); }}, p.acts ? `${p.player} (acts)` : p.player)));
  const modes = [...(here.privates[player].acts ? ["strategy"] : []), "reach", "EV", "equity"];
  const old = $("mode").value;
  $("mode").replaceChildren(...modes.map((m) => h("option", {}, m)));
  $("mode").value = modes.includes(old) ? old : modes[0];
  $("shading").hidden = !about.grid;
  $("body").className = about.grid && here.kind !== "chance" ? "beside" : "";
  drawSummary();
  $("hands").replaceChildren(about.grid ? grid() : list(here.privates[player], all(), true));
  drawDetail();
}

function drawLine() {
  const steps = trail.map((at, k) => {
    const now = k === path.length;
    const buttons = at.moves.map((move, m) => h("button", {
      type: "button", class: !now && move.name === path[k] ? "chosen" : null,
      "aria-current": now && m === cursor ? "true" : null,
      onclick: () => go([...path.slice(0, k), move.name])},
    h("span", {}, move.label), h("small", {}, percent(move.probability))));
    return h("div", {class: now ? "step now" : "step"}, h("h3", {}, at.title), ...buttons);
  });
  $("line").replaceChildren(...steps);
  const last = steps[steps.length - 1];
  $("line").scrollLeft = $("line").scrollWidth;
  const marked = last.querySelector("[aria-current]");
  if (marked) last.scrollTop = marked.offsetTop - last.offsetTop - last.clientHeight / 2;
  for (const step of steps) {
    const mark = step.querySelector(".chosen");
    if (mark) step.scrollTop = mark.offsetTop - step.offsetTop - step.clientHeight / 2;
  }
}

function drawSummary() {
  if (!here.moves.length) return $("summary").replaceChildren();
  const next = [...new Set(here.moves.flatMap((m) => Object.keys(m.next)))];
  const wide = here.kind === "chance" ? next : [];
  const columns = [
    {title: here.kind === "chance" ? "Outcome" : "Action", of: (m) => m.label, show: String},
    {title: "Frequency", of: (m) => m.probability, show: percent},
    ...here.privates.map((p, i) => ({title: `EV ${p.player}`, of: (m) => m.values[i], show: number})),
    ...wide.map((name) => ({title: name, of: (m) => m.next[name] ?? null, show: percent}))];
  let moves = [...here.moves];
  if (order) {
    const value = columns[order.key].of;
    moves.sort((a, b) => (value(a) < value(b) ? -1 : value(a) > value(b) ? 1 : 0) * (order.down ? -1 : 1));
  }
  const head = columns.map((c, k) => h("th", {scope: "col",
    "aria-sort": order && order.key === k ? (order.down ? "descending" : "ascending") : null},
  h("button", {type: "button", style: "border:0;padding:0;background:none", onclick: () => {
    order = {key: k, down: order && order.key === k ? !order.down : k > 0};
    drawSummary();
    document.querySelectorAll("#summary th button")[k].focus();
  }}, c.title)));
  const rows = moves.map((m) => {
    const colour = here.colours[here.actions.indexOf(m.label)];
    const name = h("button", {type: "button", style: "border:0;padding:0;background:none",
      onclick: () => go([...path, m.name])}, m.label);
    return h("tr", {}, h("td", {}, ...(colour ? [chip(colour)] : []), name),
      ...columns.slice(1).map((c) => h("td", {}, c.show(c.of(m)))));
  });
  const title = here.kind === "chance" ? "Report over the outcomes: what comes, what it is worth, and what is done next"
    : "Actions of the whole range";
  $("summary").replaceChildren(h("div", {class: "scroll", tabindex: "0", role: "region", "aria-label": title,
    style: "max-height:330px;overflow:auto"},
  h("table", {}, h("caption", {}, title), h("thead", {}, h("tr", {}, ...head)), h("tbody", {}, ...rows))));
}

const all = () => here.privates[player].names.map((_, i) => i);
const sum = (values) => values.reduce((a, b) => a + b, 0);

// Means over private states, by their weight, or by their own reach where play does not come.
function mean(p, hands, values) {
  const some = hands.filter((i) => values[i] !== null);
  for (const weights of [p.weight, p.reach]) {
    const total = sum(some.map((i) => weights[i]));
    if (total > 0) return sum(some.map((i) => weights[i] * values[i])) / total;
  }
  return some.length ? sum(some.map((i) => values[i])) / some.length : null;
}
const column = (table, k) => table.map((row) => row[k]);
const mixture = (p, hands) => here.actions.map((_, k) => mean(p, hands, column(p.strategy, k)) ?? 0);

function mix(shares, style = "") {
  const words = here.actions.map((a, k) => `${a} ${percent(shares[k] ?? 0)}`).join(", ");
  return h("span", {class: "mix", role: "img", "aria-label": words, title: words, style},
    ...shares.map((x, k) => h("i", {style: `width:${100 * (x ?? 0)}%;background:${here.colours[k]}`})));
}

// A table of private states; a click chooses one.
function list(p, hands, main) {
  const equity = p.equity !== null;
  const head = [about.grid ? "Hand" : "Infostate", ...(p.acts ? ["Strategy"] : []), "EV",
    ...(equity ? ["Equity"] : []), "Reach", ...(main ? ["Share"] : [])];
  const top = hands.length <= MOST_ROWS ? hands
    : [...hands].sort((a, b) => p.weight[b] - p.weight[a]).slice(0, MOST_ROWS);
  const rows = top.map((i) => {
    const name = p.names[i];
    const pick = () => { chosen = {title: name, hands: [i]}; draw(); };
    return h("tr", {tabindex: "0", class: p.locked[i] ? "held" : null,
      "aria-selected": String(chosen !== null && chosen.title === name), onclick: pick,
      onkeydown: (e) => { if (e.key === "Enter" || e.key === " ") { e.preventDefault(); pick(); } }},
    h("td", {}, ...(about.grid ? [card(name.slice(0, 2)), card(name.slice(2))] : [name])),
    ...(p.acts ? [h("td", {}, p.strategy[i].every((x) => x === null) ? "–" : mix(p.strategy[i]))] : []),
    h("td", {}, number(p.value[i])), ...(equity ? [h("td", {}, percent(p.equity[i]))] : []),
    h("td", {}, percent(p.reach[i])), ...(main ? [h("td", {}, percent(p.weight[i]))] : []));
  });
  return h("div", {class: "scroll"}, h("table", {},
    top === hands ? null : h("caption", {}, `The ${MOST_ROWS} most likely of ${hands.length}`),
    h("thead", {}, h("tr", {}, ...head.map((t) => h("th", {scope: "col"}, t)))), h("tbody", {}, ...rows)));
}

function card(name) {
  const [sign, colour] = {c: ["♣", "#2e8b57"], d: ["♦", "#3f7fd6"], h: ["♥", "#d64545"],
    s: ["♠", "inherit"]}[name[1]];
  return h("span", {style: `color:${colour}`}, name[0] + sign);
}

function classes(p) {
  const out = new Map();
  p.names.forEach((name, i) => {
    const [a, b] = [RANKS.indexOf(name[0]), RANKS.indexOf(name[2])].sort((x, y) => x - y);
    const suited = name[1] === name[3];
    const key = suited || a === b ? 13 * a + b : 13 * b + a;
    out.set(key, [...(out.get(key) ?? []), i]);
  });
  return out;
}

function grid() {
  const p = here.privates[player], held = classes(p), mode = $("mode").value;
  const value = {EV: p.value, equity: p.equity}[mode];
  const means = new Map([...held].map(([key, hands]) => [key, value ? mean(p, hands, value) : null]));
  const known = [...means.values()].filter((x) => x !== null);
  const [low, high] = [Math.min(...known), Math.max(...known)];
  const box = h("div", {id: "grid", role: "grid", "aria-label": `Hands of ${p.player} by class`});
  for (let r = 0; r < 13; r++) {
    const row = h("div", {role: "row", style: "display:contents"});
    for (let c = 0; c < 13; c++) row.append(cell(p, r, c, held.get(13 * r + c) ?? [], mode, means, low, high));
    box.append(row);
  }
  box.addEventListener("keydown", walkGrid);
  const start = box.querySelector("[aria-selected=true]") ?? box.querySelector("button:not(.none)") ?? box.querySelector("button");
  start.tabIndex = 0;
  return box;
}

function cell(p, r, c, hands, mode, means, low, high) {
  const name = RANKS[Math.min(r, c)] + RANKS[Math.max(r, c)] + (r < c ? "s" : r > c ? "o" : "");
  const reach = hands.length ? sum(hands.map((i) => p.reach[i])) / hands.length : 0;
  const count = sum(hands.map((i) => p.reach[i]));
  const held = hands.some((i) => p.locked[i]);
  const words = [`${name}: ${count.toFixed(1)} combinations`, held ? "locked" : ""], parts = [];
  if (reach > 1e-6) {
    if (p.acts) {
      const shares = mixture(p, hands);
      words.push(...here.actions.map((a, k) => `${a} ${percent(shares[k])}`));
      if (mode === "strategy") shares.forEach((x, k) => parts.push([x, here.colours[k]]));
    }
    words.push(`EV ${number(mean(p, hands, p.value))}`);
    if (mode === "reach") parts.push([1, REACHED]);
    if (mode === "EV" || mode === "equity") {
      const x = means.get(13 * r + c);
      const share = x === null ? 0 : high > low ? (x - low) / (high - low) : 1;
      parts.push([1, `rgba(var(--heat), ${(0.08 + 0.82 * share).toFixed(3)})`]);
      words.push(mode === "EV" ? "" : `equity ${percent(x)}`);
    }
  }
  const classes_ = [reach > 1e-6 ? "" : "none", held ? "held" : ""].join(" ").trim();
  const label = words.filter(Boolean).join(", ");
  return h("button", {type: "button", role: "gridcell", tabindex: "-1", class: classes_ || null,
    "aria-label": label, title: label, "data-cell": `${r},${c}`,
    "aria-selected": String(chosen !== null && chosen.title === name),
    onclick: () => { chosen = hands.length ? {title: name, hands} : null; draw(); focusCell(r, c); }},
  h("span", {class: "fill", style: `height:${100 * Math.min(1, reach)}%`},
    ...parts.map(([x, colour]) => h("i", {style: `width:${100 * x}%;background:${colour}`}))),
  h("b", {}, name));
}

function focusCell(r, c) {
  const to = document.querySelector(`[data-cell="${r},${c}"]`);
  if (!to) return;
  for (const other of document.querySelectorAll("#grid [tabindex='0']")) other.tabIndex = -1;
  to.tabIndex = 0;
  to.focus();
}

function walkGrid(event) {
  const steps = {ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1]};
  if (event.key === "Escape") event.target.blur();
  if (!(event.key in steps)) return;
  event.preventDefault();
  event.stopPropagation();
  const [r, c] = event.target.dataset.cell.split(",").map(Number);
  const [dr, dc] = steps[event.key];
  focusCell(Math.min(12, Math.max(0, r + dr)), Math.min(12, Math.max(0, c + dc)));
}

function drawDetail() {
  const box = $("detail"), p = here.privates[player];
  if (!chosen) {
    const what = about.grid ? "a class of hands" : "an infostate";
    return box.replaceChildren(h("h2", {}, p.player), h("p", {style: "margin:4px 0"},
      `Choose ${what} to see ${about.grid ? "its hands" : "its values"}${p.acts && !inside ? " and to lock it" : ""}.`));
  }
  const parts = [h("h2", {}, `${p.player}: ${chosen.title}`)];
  if (p.acts) {
    const shares = mixture(p, chosen.hands);
    const rows = here.actions.map((action, k) => [action, k]).filter(([, k]) =>
      chosen.hands.some((i) => p.strategy[i][k] !== null)).map(([action, k]) => h("tr", {},
      h("td", {}, chip(here.colours[k]), action), h("td", {}, percent(shares[k])),
      h("td", {}, number(mean(p, chosen.hands, column(p.action_value, k))))));
    parts.push(h("table", {}, h("thead", {}, h("tr", {}, ...["Action", "Frequency", "EV"].map((t) =>
      h("th", {scope: "col"}, t)))), h("tbody", {}, ...rows)));
  }
  parts.push(list(p, about.grid ? same(p) : chosen.hands, false));
  if (p.acts && !inside) parts.push(lockForm(p, mixture(p, chosen.hands)));
  box.replaceChildren(...parts);
}

// All hands of the class of those chosen, so that one of them can be picked and left again.
function same(p) {
  for (const hands of classes(p).values()) if (hands.includes(chosen.hands[0])) return hands;
  return chosen.hands;
}

function lockForm(p, shares) {
  const legal = here.actions.map((_, k) => k).filter((k) =>
    chosen.hands.every((i) => p.strategy[i][k] !== null));
  const fields = legal.map((k) => h("label", {}, here.actions[k], h("input", {type: "number", min: "0",
    max: "100", step: "any", value: String(+(100 * shares[k]).toFixed(1)), "data-action": here.actions[k],
    "aria-label": `${here.actions[k]} in percent`})));
  const send = (hands) => {
    const raw = fields.map((f) => Math.max(0, Number(f.querySelector("input").value)));
    const total = sum(raw);
    if (!(total > 0)) return void ($("state").textContent = "give some action a share above 0");
    const strategy = Object.fromEntries(legal.map((k, j) => [here.actions[k], raw[j] / total]));
    tell("/api/lock", {path, player, hands: hands.map((i) => p.names[i]), strategy});
  };
  return h("form", {class: "lock", onsubmit: (e) => { e.preventDefault(); send(chosen.hands); }}, ...fields,
    h("button", {type: "submit"}, `Lock ${chosen.title}`),
    ...(about.grid ? [h("button", {type: "button", onclick: () => send(all())}, "Lock all hands")] : []));
}

async function tell(url, body = {}) {
  try { status(await ask(url, body)); } catch (error) { $("state").textContent = error.message; }
}

let timer = 0;
async function status(now) {
  $("locked").replaceChildren(...now.locks.map((lock, index) => h("li", {},
    `${lock.path.join(" ") || "start"}: ${lock.hands.length > 3 ? `${lock.hands.length} hands` : lock.hands.join(" ")} → `
    + Object.entries(lock.strategy).filter(([, x]) => x > 0).map(([a, x]) => `${a} ${percent(x)}`).join(", "),
    h("button", {type: "button", "aria-label": `Remove lock ${index + 1}`, onclick: () => tell("/api/unlock", {index})}, "×"))));
  $("solve").disabled = now.running;
  $("stop").hidden = $("progress").hidden = !now.running;
  $("progress").value = now.planned ? now.done / now.planned : 0;
  $("state").textContent = now.running
    ? `${now.done} of ${now.planned} iterations${now.exploitability === null ? ", compiling …" : `, exploitability ${now.exploitability}`}`
    : now.error;
  clearTimeout(timer);
  if (now.running) timer = setTimeout(() => ask("/api/status").then(status, lost), 300);
  if (now.version !== version) {
    version = now.version;
    cache.clear();
    about = await ask("/api/about");
    drawAbout();
    const keep = chosen;
    await go(path);
    chosen = keep;
    draw();
  }
}

const lost = () => { $("state").textContent = "the server does not answer; is `jaxsolve view` still running?"; };

function drawAbout() {
  document.title = $("name").textContent = about.name;
  facts($("facts"), about.facts);
  const rows = about.curve.filter((row) => row[0] > 0 && row[2] > 0);
  $("curve").hidden = rows.length < 2;
  if (rows.length < 2) return;
  const [w, t] = [340, 170], x = rows.map((r) => Math.log10(r[0])), y = rows.map((r) => Math.log10(r[2]));
  const scale = (v, lo, hi, a, b) => a + (b - a) * (v - lo) / Math.max(hi - lo, 1e-9);
  const [x0, x1, y0, y1] = [Math.floor(x[0]), Math.ceil(x[x.length - 1]), Math.floor(Math.min(...y)), Math.ceil(Math.max(...y))];
  const px = (v) => scale(v, x0, x1, 44, w - 10), py = (v) => scale(v, y0, y1, t - 24, 8);
  const svg = [];
  const ticks = (lo, hi) => Array.from({length: hi - lo + 1}, (_, k) => lo + k).filter((_, k) => k % Math.ceil((hi - lo + 1) / 6) === 0);
  for (const k of ticks(x0, x1)) svg.push(`<line x1="${px(k)}" x2="${px(k)}" y1="8" y2="${t - 24}"/><text x="${px(k)}" y="${t - 10}" text-anchor="middle">1e${k}</text>`);
  for (const k of ticks(y0, y1)) svg.push(`<line x1="44" x2="${w - 10}" y1="${py(k)}" y2="${py(k)}"/><text x="40" y="${py(k) + 3}" text-anchor="end">1e${k}</text>`);
  svg.push(`<path d="M${x.map((v, k) => `${px(v).toFixed(1)},${py(y[k]).toFixed(1)}`).join("L")}"/>`);
  const last = rows[rows.length - 1];
  $("plot").innerHTML = `<svg viewBox="0 0 ${w} ${t}" role="img" aria-label="Exploitability by iteration, ${last[2]} after ${last[0]}">${svg.join("")}</svg>`;
}

document.addEventListener("keydown", (event) => {
  if (event.target.closest("input, select, textarea") || event.ctrlKey || event.metaKey || event.altKey || !here) return;
  const count = here.moves.length;
  if (event.key === "ArrowDown" || event.key === "ArrowUp") {
    if (count) cursor = (cursor + (event.key === "ArrowDown" ? 1 : count - 1)) % count;
    drawLine();
  } else if (event.key === "ArrowRight") {
    if (count) go([...path, here.moves[cursor].name]);
  } else if (event.key === "ArrowLeft" || event.key === "Backspace") {
    if (path.length) go(path.slice(0, -1));
  } else if (event.key === "Home") go([]);
  else return;
  event.preventDefault();
});
$("mode").addEventListener("change", () => $("hands").replaceChildren(grid()));
$("again").addEventListener("submit", (event) => {
  event.preventDefault();
  tell("/api/solve", {iterations: Number($("iterations").value)});
});
$("stop").addEventListener("click", () => tell("/api/stop"));

(async () => {
  try {
    about = inside ? inside.about : await ask("/api/about");
  } catch (error) {
    return void ($("message").textContent = error.message);
  }
  $("iterations").value = about.iterations;
  $("locks").hidden = Boolean(inside);
  drawAbout();
  let first = [];
  if (!inside && location.hash.length > 1) {
    try { first = JSON.parse(decodeURIComponent(location.hash.slice(1))); } catch { first = []; }
  }
  await go(Array.isArray(first) ? first.map(String) : []);
  if (!here) await go([]);
  if (inside && !inside.complete) $("message").textContent =
    `This file holds the ${Object.keys(inside.positions).length} positions that play reaches most; jaxsolve view shows all.`;
  if (!inside) ask("/api/status").then((now) => { version = now.version; status(now); }, lost);
})();
