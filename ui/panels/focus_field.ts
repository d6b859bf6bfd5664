/** Tries, and the time between them: a part of the page may be loaded before its field is there. */
const TRIES = 100, BETWEEN_MS = 20;

/** Focuses a field as soon as it is there. */
export function focusField(selector: string, tries = TRIES): void {
  setTimeout(() => {
    const field = document.querySelector<HTMLElement>(selector);
    if (field !== null) field.focus();
    else if (tries > 1) focusField(selector, tries - 1);
  }, BETWEEN_MS);
}
