/**
 * Ends worker threads without a chance of one that stays. `Worker.terminate` of Deno sets a flag and wakes the thread's
 * event loop. The wake is lost when it comes between the loop's look at the flag and its sleep, and the thread of an idle
 * worker then never ends, nor what waits for it. A message before it wakes the loop in any case.
 */

const END = "end of thread";

/** Ends a worker that has called `endWhenAsked`: at once when it is idle, else within two seconds. */
export function endThread(worker: Worker): void {
  worker.postMessage(END);
  worker.terminate();
}

/** Lets a worker end itself. Called before it sets `onmessage`, which does not see the message. */
export function endWhenAsked(): void {
  self.addEventListener("message", (event) => {
    if ((event as MessageEvent).data !== END) return;
    event.stopImmediatePropagation();
    self.close();
  });
}
