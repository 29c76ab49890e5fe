// The pages work without this. It adds keys, the slider, copying, names for a statement, the choice of theme, and the notice of a newer commit.
"use strict";
(() => {
  const root = document.documentElement;
  const store = (name, value) => {
    try {
      if (value === undefined) return localStorage.getItem(name);
      localStorage.setItem(name, value);
    } catch { /* no storage: the choice lasts for this page */ }
    return value;
  };
  const setTheme = (theme) => {
    if (theme === "light" || theme === "dark") root.dataset.theme = theme;
    else delete root.dataset.theme;
  };
  setTheme(store("theme")); // before the body is drawn
  root.classList.add("js"); // the style keeps the room of what is shown below

  const make = (tag, text) => {
    const element = document.createElement(tag);
    if (text !== undefined) element.textContent = text;
    return element;
  };

  const ready = () => {
    const strip = document.getElementById("asof");

    const theme = document.getElementById("theme");
    const themes = ["auto", "light", "dark"];
    const said = () => { theme.title = "Theme: " + (root.dataset.theme || "auto"); theme.setAttribute("aria-label", theme.title); };
    theme.hidden = false;
    said();
    theme.addEventListener("click", () => {
      const next = themes[(themes.indexOf(root.dataset.theme || "auto") + 1) % themes.length];
      store("theme", next);
      setTheme(next);
      said();
    });

    const copy = async (text, button) => {
      try {
        await navigator.clipboard.writeText(text);
        if (button) button.textContent = "Copied";
      } catch {
        if (button) button.textContent = "Select and copy";
      }
    };
    for (const button of document.querySelectorAll("button.copy")) {
      button.hidden = false;
      button.addEventListener("click", () => copy(button.dataset.copy, button));
    }

    for (const time of document.querySelectorAll("time")) {
      if (!time.title) time.title = time.dateTime + " · here " + new Date(time.dateTime).toLocaleString();
    }

    // On a narrow screen the strip is folded. On another one its summary is not shown, so it is open.
    const fold = strip.querySelector(".fold");
    const narrow = matchMedia("(max-width: 640px)");
    const refold = () => { fold.open = !narrow.matches; };
    refold();
    root.classList.add("ready");
    narrow.addEventListener("change", refold);

    // The slider moves over the days of the select; letting go is one step of the history.
    const slide = strip.querySelector(".slide");
    if (slide) {
      const day = document.getElementById("day");
      slide.max = day.options.length - 1;
      slide.value = day.selectedIndex;
      const speak = () => {
        day.selectedIndex = slide.value;
        slide.setAttribute("aria-valuetext", day.options[slide.value].dataset.said);
      };
      speak();
      slide.addEventListener("input", speak);
      slide.addEventListener("change", () => day.form.submit());
      slide.hidden = false;
    }

    // A name of the list goes to where the reader is in the statement.
    const names = document.querySelector(".names");
    if (names) {
      const box = document.getElementById("sql");
      box.setSelectionRange(box.value.length, box.value.length);
      for (const name of names.querySelectorAll("code")) {
        const button = make("button", name.textContent);
        button.type = "button";
        name.replaceWith(button);
      }
      names.addEventListener("click", (event) => {
        if (!event.target.matches("button")) return;
        const before = box.value.slice(0, box.selectionStart);
        const text = (/[\w",)]$/.test(before) ? " " : "") + event.target.textContent;
        box.focus();
        if (!document.execCommand("insertText", false, text)) box.setRangeText(text, box.selectionStart, box.selectionEnd, "end"); // the first can be undone
      });
    }

    // The last statements of this reader: the address of each is that of the page as of the same instant.
    const past = document.getElementById("past");
    if (past) {
      let last = [];
      try { last = JSON.parse(store("sql")).map(String); } catch { /* none, or not of this program */ }
      const box = document.getElementById("sql");
      if (past.dataset.ran) {
        last = [box.value, ...last.filter((text) => text !== box.value)].slice(0, 20);
        store("sql", JSON.stringify(last));
      }
      for (const text of last) {
        const link = make("a", text.length > 200 ? text.slice(0, 199) + "…" : text);
        link.href = "?" + new URLSearchParams({ sql: text });
        const item = make("li");
        item.append(link);
        past.querySelector("ul").append(item);
      }
      past.querySelector("button").addEventListener("click", () => { store("sql", "[]"); past.hidden = true; });
      past.hidden = !last.length;
    }

    const news = document.getElementById("news");
    const poll = async () => {
      if (document.hidden || strip.dataset.pinned === "true") return;
      try {
        const answer = await (await fetch(strip.dataset.poll)).json();
        if (answer.commit <= Number(strip.dataset.commit)) return;
        news.textContent = "Commit " + answer.commit + " has come. ";
        const again = make("a", "Reload");
        again.href = location.href;
        news.append(again);
        news.hidden = false;
      } catch { /* the server is gone for now */ }
    };
    setInterval(poll, 30000);

    // Keys. They are off in fields, and can be turned off.
    const rows = () => [...document.querySelectorAll("main tbody tr")].filter((row) => row.querySelector("a"));
    let at = -1, waiting = 0;
    const step = (by) => {
      const all = rows();
      if (!all.length) return;
      if (all[at]) all[at].classList.remove("on");
      at = Math.max(0, Math.min(all.length - 1, at + by));
      all[at].classList.add("on");
      all[at].querySelector("a").focus();
      all[at].scrollIntoView({ block: "nearest" });
    };
    const follow = (selector) => {
      const link = document.querySelector(selector);
      if (link) link.click();
    };
    let marked;
    const mark = () => {
      const row = rows()[at];
      if (!row || !row.closest("table").dataset.marks) return;
      if (!marked || marked === row) {
        marked = row.classList.toggle("marked") ? row : undefined;
        return;
      }
      const [against, v] = [marked, row].map((version) => Number(version.cells[0].textContent)).sort((a, b) => a - b);
      location.href = "?" + new URLSearchParams({ tab: "diff", against, v });
    };
    const help = [["g then the first letter", "a page: " + [...document.querySelectorAll("nav [data-key]")].map((a) => a.dataset.key + " " + a.textContent).join(", ")],
      ["/", "search"], ["[ ]", "one commit back, forward"], ["{ }", "one day back, forward"], [".", "exact instant"], ["n", "newest state"],
      ["j k", "next, previous row"], ["Enter", "open the row"], ["x", "mark a version; the second one is compared with it"], ["s", "the statements"], ["Ctrl+Enter", "run the statement (SQL)"], ["y", "copy a link to this view, pinned"], ["?", "this list"]];
    const showHelp = () => {
      const dialog = make("dialog");
      dialog.append(make("h2", "Keys"));
      const list = make("dl");
      for (const [key, what] of help) list.append(make("dt", key), make("dd", what));
      const off = make("button", store("keys") === "off" ? "Turn keys on" : "Turn keys off");
      off.addEventListener("click", () => { store("keys", store("keys") === "off" ? "on" : "off"); dialog.close(); });
      const close = make("button", "Close");
      close.addEventListener("click", () => dialog.close());
      dialog.append(list, off, " ", close);
      dialog.addEventListener("close", () => dialog.remove());
      document.body.append(dialog);
      dialog.showModal();
      close.focus();
    };
    const keys = document.getElementById("keys");
    keys.hidden = false;
    keys.addEventListener("click", showHelp);
    document.addEventListener("keydown", (event) => {
      const field = event.target.closest("input, select, textarea, dialog");
      if (event.key === "Enter" && (event.ctrlKey || event.metaKey) && event.target.matches("textarea")) event.target.form.requestSubmit();
      if (event.key === "Escape" && field && field.blur) field.blur();
      if (field || event.ctrlKey || event.metaKey || event.altKey) return;
      if (event.key === "?") { event.preventDefault(); showHelp(); return; }
      if (store("keys") === "off") return;
      if (waiting && Date.now() - waiting < 1500) {
        waiting = 0;
        follow('nav [data-key="' + CSS.escape(event.key) + '"]');
        return;
      }
      const does = {
        g: () => { waiting = Date.now(); },
        "/": () => document.getElementById("q").focus(),
        ".": () => { fold.open = true; document.getElementById("at").select(); },
        n: () => follow('[data-move="n"]'),
        j: () => step(1), k: () => step(-1), x: mark,
        s: () => { const asked = document.querySelector(".asked details"); if (asked) { asked.open = !asked.open; asked.querySelector("summary").focus(); } },
        y: () => copy(new URL(strip.dataset.pinned === "true" ? location.href : strip.dataset.pin, location.href).href),
      }[event.key] || ("[]{}".includes(event.key) ? () => follow('[data-move="' + CSS.escape(event.key) + '"]') : null);
      if (does) { event.preventDefault(); does(); }
    });
  };
  if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", ready);
  else ready();
})();
