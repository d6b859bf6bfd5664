/**
 * A short message after an action, with the way to take it back: it stays for ten seconds, or while the pointer or focus is on
 * it. The message of an action under way stays until the next one.
 */
import { signal, useEffect, useState } from "./preact.ts";
import { announce } from "./state/announce.ts";
import { Close } from "./parts.tsx";

interface Message {
  text: string;
  undo?: () => void;
  stays?: true;
}

const message = signal<Message | null>(null);
const SHOWN_MS = 10_000;

/** Shows a message in the place of the one before. @param undo takes the action back */
export function toast(text: string, undo?: () => void): void {
  show({ text, ...(undo && { undo }) });
}

/** Shows the message of an action under way, which the message of its end replaces. */
export const toastUnderWay = (text: string): void => show({ text, stays: true });

function show(next: Message): void {
  message.value = next;
  announce(next.text);
}

const close = () => message.value = null;

export function Toast() {
  const shown = message.value, [held, setHeld] = useState(false);
  useEffect(() => {
    if (shown === null || shown.stays || held) return;
    const timer = setTimeout(close, SHOWN_MS);
    return () => clearTimeout(timer);
  }, [shown, held]);
  if (shown === null) return null;
  const { text, undo } = shown;
  const [hold, release] = [() => setHeld(true), () => setHeld(false)];
  return (
    <div
      class="toast row"
      role="region"
      aria-label="Message"
      onPointerEnter={hold}
      onPointerLeave={release}
      onFocusCapture={hold}
      onBlurCapture={release}
    >
      <span>{text}</span>
      {undo !== undefined && <button type="button" onClick={() => (undo(), close())}>Undo</button>}
      <Close label="Close the message" onClick={close} />
    </div>
  );
}
