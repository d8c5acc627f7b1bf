// What scrolls sideways on a narrow screen can be scrolled with the keyboard.
const scrolling = () => {
  for (const box of document.querySelectorAll(".table-wrapper, .highlight pre")) {
    if (box.scrollWidth > box.clientWidth) box.tabIndex = 0;
    else box.removeAttribute("tabindex");
  }
};
addEventListener("load", scrolling);
addEventListener("resize", scrolling);
