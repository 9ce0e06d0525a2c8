// Figures behind tabs: click or arrow keys; a link to a hidden figure brings it to the front.
function makeTabs(list) {
  const tabs = [...list.querySelectorAll("[role=tab]")];
  const panel = (tab) => byId(tab.getAttribute("aria-controls"));
  const select = (chosen, focus = false) => {
    for (const tab of tabs) {
      const on = tab === chosen;
      tab.setAttribute("aria-selected", String(on));
      tab.tabIndex = on ? 0 : -1;
      panel(tab).classList.toggle("behind", !on);
    }
    if (focus) chosen.focus();
  };
  tabs.forEach((tab, i) => {
    tab.addEventListener("click", () => select(tab));
    tab.addEventListener("keydown", (event) => {
      const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
      if (!step) return;
      event.preventDefault();
      select(tabs[(i + step + tabs.length) % tabs.length], true);
    });
  });
  select(tabs[0]);
  const follow = () => {
    const wanted = tabs.find((tab) => `#${panel(tab).id}` === location.hash);
    if (wanted) select(wanted);
  };
  window.addEventListener("hashchange", follow);
  follow();
}
