// The site works without this script: it adds the search, the switch of colours, buttons to copy code, and the navigation of narrow screens.
"use strict";

const root = document.body.dataset.root;

// Colours: the reader's system decides until the switch is used.
document.getElementById("theme").addEventListener("click", () => {
  const current = document.documentElement.dataset.theme || (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light");
  const next = current === "dark" ? "light" : "dark";
  document.documentElement.dataset.theme = next;
  try { localStorage.setItem("theme", next); } catch { /* without storage the choice lasts for this page */ }
});

// Navigation of narrow screens.
const menu = document.getElementById("menu");
menu.addEventListener("click", () => {
  menu.setAttribute("aria-expanded", document.documentElement.classList.toggle("menu-open"));
});
const here = document.querySelector("#navigation [aria-current]");
if (here) {
  const list = document.getElementById("navigation");
  list.scrollTop = here.offsetTop - list.clientHeight / 3;
}

// Buttons to copy code. Comments that show output are copied, too: they do nothing in a shell.
for (const block of document.querySelectorAll(".code")) {
  const button = document.createElement("button");
  button.className = "copy";
  button.textContent = "Copy";
  button.addEventListener("click", async () => {
    try {
      await navigator.clipboard.writeText(block.querySelector("pre").textContent);
      button.textContent = "Copied";
    } catch {
      button.textContent = "Select the text and copy it";
    }
    setTimeout(() => { button.textContent = "Copy"; }, 2000);
  });
  block.append(button);
}

// The list of headings shows which section is in view.
const entries = new Map([...document.querySelectorAll(".contents a")].map((a) => [decodeURIComponent(a.hash.slice(1)), a]));
if (entries.size && "IntersectionObserver" in window) {
  const observer = new IntersectionObserver((changes) => {
    for (const change of changes) {
      if (change.isIntersecting) {
        entries.forEach((a) => a.classList.remove("here"));
        entries.get(change.target.id).classList.add("here");
      }
    }
  }, { rootMargin: "-70px 0px -70% 0px" });
  for (const id of entries.keys()) observer.observe(document.getElementById(id));
}

// Search. The index is a script, so that it also loads from a file system, and it loads when the search is first used.
const input = document.getElementById("search");
const results = document.getElementById("results");
const shown = 12;
let loading;

function loadIndex() {
  loading ??= new Promise((resolve, reject) => {
    const script = document.createElement("script");
    script.src = root + "search.js";
    script.onload = () => resolve(window.searchIndex.map((entry) => ({
      ...entry, title: entry.t.toLowerCase(), heading: (entry.h || "").toLowerCase(), text: entry.x.toLowerCase(),
    })));
    script.onerror = reject;
    document.head.append(script);
  });
  return loading;
}

// alternatives are words of these pages for words that people type.
const alternatives = {
  rollback: ["go back", "way back", "roll back"], stuck: ["not end", "hang", "wait"], hangs: ["not end", "hang"], throttled: ["429", "throttl"],
  byo: ["bring your own", "existing"], vnet: ["network"], vmss: ["scale set"], aso: ["service operator"], established: ["capz"],
  migrate: ["moving", "migration"], upgrade: ["update"], remove: ["delet"],
};

// formsOf returns the beginnings that a word of the query matches: "delete" also finds "deleting" and "deletion".
function formsOf(word) {
  const stem = word.length > 5 && /^[a-z]+$/.test(word) ? word.replace(/(ations?|ions?|ings?|ed|es|e|s)$/, "") : word;
  return [word, ...(stem.length >= 4 && stem !== word ? [stem] : []), ...(alternatives[word] || [])];
}

// scoreWord rates a word of the query in one text: whole words before beginnings of words before parts of words, and more of them before one.
function scoreWord(text, word) {
  let best = 0;
  formsOf(word).forEach((form, i) => {
    const count = text.split(form).length - 1;
    if (!count) return;
    const begins = new RegExp("(^|[^\\p{L}\\p{N}])" + escapePattern(form) + "($|[^\\p{L}\\p{N}])?", "u").exec(text);
    const kind = begins ? (begins[2] !== undefined ? 4 : 2.5) : 1;
    best = Math.max(best, (i ? 0.7 : 1) * kind * (1 + Math.log2(count) / 3));
  });
  return best;
}

function escapePattern(text) { return text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"); }

// find returns the best sections that have all words of a query, or whose page has the rest. If none has all, those with most of them.
function find(index, query) {
  const words = query.toLowerCase().split(/\s+/).filter(Boolean);
  const pages = new Map();
  for (const entry of index) {
    const page = entry.p.split("#")[0];
    pages.set(page, (pages.get(page) || "") + " " + entry.title + " " + entry.heading + " " + entry.text);
  }
  const inPage = new Map([...pages].map(([page, text]) => [page, words.map((word) => scoreWord(text, word))]));
  const found = [];
  let most = 0;
  for (const entry of index) {
    const page = inPage.get(entry.p.split("#")[0]);
    let score = 0;
    let matched = 0;
    let here = 0;
    words.forEach((word, i) => {
      const part = 8 * scoreWord(entry.heading, word) + (entry.h ? 3 : 10) * scoreWord(entry.title, word) + scoreWord(entry.text, word);
      if (part > 0) here++;
      if (page[i] > 0) matched++;
      score += part + page[i];
    });
    if (!here) continue;
    if (words.length > 1 && (entry.title + " " + entry.heading + " " + entry.text).includes(words.join(" "))) score += 15;
    most = Math.max(most, matched);
    found.push({ entry, score: score * (entry.w || 1) * here / words.length, matched });
  }
  return found.filter((f) => f.matched === most).sort((a, b) => b.score - a.score).slice(0, shown);
}

// excerpt returns the text around the first word that it has.
function excerpt(entry, words) {
  const first = words.map((w) => entry.text.indexOf(w)).filter((i) => i >= 0).sort((a, b) => a - b)[0] ?? 0;
  const from = first < 60 ? 0 : entry.x.lastIndexOf(" ", first - 50) + 1;
  return (from ? "… " : "") + entry.x.slice(from, from + 170) + (entry.x.length > from + 170 ? " …" : "");
}

// appendMarked adds text to a node and marks the words of the query in it.
function appendMarked(node, text, words) {
  const pattern = new RegExp("(" + words.map(escapePattern).join("|") + ")", "gi");
  text.split(pattern).forEach((part, i) => {
    if (i % 2) {
      const mark = document.createElement("mark");
      mark.textContent = part;
      node.append(mark);
    } else {
      node.append(part);
    }
  });
}

function close() {
  results.hidden = true;
  results.replaceChildren();
}

async function search() {
  const query = input.value.trim();
  if (query.length < 2) return close();
  let index;
  try {
    index = await loadIndex();
  } catch {
    loading = undefined;
    index = [];
  }
  if (input.value.trim() !== query) return undefined; // a later input has its own search
  const words = query.toLowerCase().split(/\s+/).filter(Boolean);
  results.replaceChildren(...find(index, query).map(({ entry }, i) => {
    const a = document.createElement("a");
    a.href = root + entry.p;
    a.setAttribute("role", "option");
    a.setAttribute("aria-selected", i === 0);
    const title = document.createElement("b");
    title.textContent = entry.h ? `${entry.t} › ${entry.h}` : entry.t;
    const text = document.createElement("p");
    appendMarked(text, excerpt(entry, words), words);
    a.append(title, text);
    a.addEventListener("click", close);
    return a;
  }));
  if (!results.children.length) {
    const none = document.createElement("p");
    none.className = "none";
    none.textContent = `No page has “${query}”.`;
    results.append(none);
  }
  results.hidden = false;
  return undefined;
}

input.addEventListener("input", search);
input.addEventListener("focus", search);
input.addEventListener("keydown", (event) => {
  const options = [...results.querySelectorAll("a")];
  const at = options.findIndex((a) => a.getAttribute("aria-selected") === "true");
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (step && options.length) {
    event.preventDefault();
    const next = (at + step + options.length) % options.length;
    options.forEach((a, i) => a.setAttribute("aria-selected", i === next));
    options[next].scrollIntoView({ block: "nearest" });
  } else if (event.key === "Enter" && options[at]) {
    options[at].click();
  } else if (event.key === "Escape") {
    input.blur();
    close();
  }
});
document.addEventListener("click", (event) => {
  if (!event.target.closest(".search")) close();
});
document.addEventListener("keydown", (event) => {
  if (event.key === "/" && !/^(INPUT|TEXTAREA|SELECT)$/.test(event.target.tagName) && !event.ctrlKey && !event.metaKey && !event.altKey) {
    event.preventDefault();
    input.focus();
  }
});
