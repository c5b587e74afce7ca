"use strict";
(() => {
  const slides = [...document.querySelectorAll(".slide")];
  // Smaller letters until all is on the slide; at 12 pixels it gives up, and a test says so.
  for (const slide of slides) {
    const body = slide.querySelector(".body");
    const overfull = () => body.scrollHeight > body.clientHeight || [...body.children].some((part) => part.offsetWidth > 1300);
    for (let size = 34; size > 12 && overfull(); size--) body.style.fontSize = size + "px";
  }
  slides.forEach((slide, i) => (slide.querySelector(".number").textContent = `${i + 1} / ${slides.length}`));

  let now = 0;
  const show = (at) => {
    now = Math.max(0, Math.min(slides.length - 1, at));
    slides.forEach((slide, i) => slide.classList.toggle("now", i === now));
    history.replaceState(null, "", "#" + (now + 1));
  };
  const scale = () => {
    const factor = Math.min(innerWidth / 1440, innerHeight / 900);
    for (const slide of slides) slide.style.transform = `translate(${(innerWidth - 1440 * factor) / 2}px, ${(innerHeight - 900 * factor) / 2}px) scale(${factor})`;
  };
  const steps = { ArrowRight: 1, ArrowDown: 1, PageDown: 1, " ": 1, ArrowLeft: -1, ArrowUp: -1, PageUp: -1, Home: -Infinity, End: Infinity };
  addEventListener("keydown", (event) => {
    if (!(event.key in steps) || event.ctrlKey || event.altKey || event.metaKey) return;
    event.preventDefault();
    show(now + steps[event.key]);
  });
  addEventListener("click", (event) => show(now + (event.clientX < innerWidth / 4 ? -1 : 1)));
  addEventListener("hashchange", () => show(Number(location.hash.slice(1)) - 1 || 0));
  addEventListener("resize", scale);
  document.body.classList.add("shown");
  scale();
  show(Number(location.hash.slice(1)) - 1 || 0);
})();
