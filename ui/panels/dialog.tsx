/** A dialog of the browser's own: focus goes in and comes back, Escape closes it. */
import { type ComponentChildren, useEffect, useRef } from "../preact.ts";

export function Dialog(
  { title, onClose, children }: { title: string; onClose(): void; children: ComponentChildren },
) {
  const element = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    const before = document.activeElement as HTMLElement | null;
    element.current!.showModal();
    return () => before?.focus();
  }, []);
  return (
    <dialog ref={element} class="dialog" aria-label={title} onClose={onClose}>
      <div class="row spread">
        <h2>{title}</h2>
        <button type="button" class="quiet" aria-label={`Close ${title}`} onClick={() => element.current!.close()}>
          ✕
        </button>
      </div>
      {children}
    </dialog>
  );
}
