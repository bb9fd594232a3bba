"use strict";
(() => {
  const main = document.querySelector("main[data-stream]");
  if (!main) return;
  const SILENCE = 60000;   // Without news for this long, a connection may be dead: the computer has slept.
  const ANNOUNCE = 20000;  // A screen reader is told at most this often.
  const LEAVE = 1500;      // To read that it is one's turn.
  const live = main.querySelector("[aria-live]");
  const title = document.title;
  let stream = null;
  let heard = Date.now();
  let announced = 0;
  let poll = 0;
  let over = false;

  const set = (name, text) => {
    const place = main.querySelector(`[data-room="${name}"]`);
    if (place && place.textContent !== text) place.textContent = text;
  };

  const announce = (standing, now) => {
    if (!live || (!now && Date.now() - announced < ANNOUNCE)) return;
    announced = Date.now();
    const parts = [standing.shown.headline];
    if (standing.position) {
      parts.push(`${live.dataset.label}: ${standing.shown.ahead}`);
      parts.push(`${standing.shown.label_wait}: ${standing.shown.wait}`);
    } else {
      parts.push(standing.shown.detail);
    }
    live.textContent = parts.join(". ");
  };

  const enter = () => location.replace(main.dataset.next);

  const show = (standing) => {
    heard = Date.now();
    delete main.dataset.lost;
    const changed = main.dataset.state !== standing.state;
    main.dataset.state = standing.state;
    for (const name of Object.keys(standing.shown)) set(name, standing.shown[name]);
    const bar = main.querySelector("progress");
    if (bar) bar.value = standing.progress;
    const mark = standing.state === "admitted" ? standing.shown.headline : standing.shown.position;
    document.title = mark ? `${mark} · ${title}` : title;
    announce(standing, changed);
    if (standing.state === "admitted" && !over) setTimeout(enter, LEAVE);
    if (standing.state === "admitted" || standing.state === "ended") {
      over = true;
      close();
    }
  };

  const close = () => {
    if (stream) stream.close();
    stream = null;
    clearTimeout(poll);
  };

  // Where something between here and the server holds streams back, or refuses them.
  const ask = async () => {
    try {
      const answer = await fetch(`${main.dataset.status}?back=1`, {headers: {Accept: "application/json"}, cache: "no-store"});
      show(await answer.json());
    } catch {
      main.dataset.lost = "";
    }
    if (!over) poll = setTimeout(ask, 5000 + Math.random() * 5000);
  };

  const open = () => {
    close();
    if (over) return;
    heard = Date.now();
    stream = new EventSource(main.dataset.stream);
    stream.addEventListener("standing", (event) => show(JSON.parse(event.data)));
    stream.onerror = () => {
      main.dataset.lost = "";
      if (stream && stream.readyState === EventSource.CLOSED) {
        close();
        poll = setTimeout(ask, 1000 + Math.random() * 4000);
      }
    };
  };

  const wake = () => {
    if (!over && document.visibilityState === "visible" && Date.now() - heard > SILENCE) open();
  };
  document.addEventListener("visibilitychange", wake);
  addEventListener("online", () => over || open());
  addEventListener("pageshow", (event) => event.persisted && location.reload());
  addEventListener("pagehide", close);
  setInterval(wake, 10000);
  if (main.dataset.state === "ended") return;
  open();
})();
