// Strips of views that are wider than a phone: they fade where there is more, and begin where the view that is shown is seen.

const STRIPS = '#nav, .views';

/** Fades the ends of a strip behind which there is more. */
function fade(strip) {
  const left = strip.scrollLeft > 1;
  const right = strip.scrollLeft + strip.clientWidth < strip.scrollWidth - 1;
  strip.classList.toggle('more-left', left);
  strip.classList.toggle('more-right', right);
}

/** Brings the strips up to date after a drawing; at a new address the view that is shown comes into sight. */
function showStrips(isNew) {
  for (const strip of document.querySelectorAll(STRIPS)) {
    const current = isNew && strip.querySelector('[aria-current]');
    if (current) strip.scrollLeft += current.getBoundingClientRect().left - strip.getBoundingClientRect().left - (strip.clientWidth - current.offsetWidth) / 2;
    fade(strip);
  }
}

document.addEventListener('scroll', (event) => { if (event.target instanceof Element && event.target.matches(STRIPS)) fade(event.target); }, { capture: true, passive: true });
window.addEventListener('resize', () => showStrips(true));
