/**
 * Chunks of a task, claimed one at a time by idle threads. Chunks are claimed in rising order, so a chunk that waits
 * for its predecessor always waits for a running thread.
 */
/**
 * Words of a job's control memory: the next chunk to claim, the number of finished ones, the current turn, whether one
 * failed.
 */
const NEXT = 0;
const DONE = 1;
const TURN = 2;
const FAILED = 3;
const WORDS = 4;

/** Value of the turn that ends all waiting. */
const NO_TURNS = 2 ** 31 - 1;

/** Work that threads can share; a helper finds it by name, see tasks.ts. */
export interface Task<Args = unknown> {
  name: string;
  run(args: Args, chunk: number, turns: Turns): void;
}

/** The message to a helper. */
export interface Job<Args = unknown> {
  task: string;
  args: Args;
  chunks: number;
  control: Int32Array<SharedArrayBuffer>;
}

export function newJob<Args>({ name }: Task<Args>, args: Args, chunks: number): Job<Args> {
  return { task: name, args, chunks, control: new Int32Array(new SharedArrayBuffer(4 * WORDS)) };
}

/** The order of the chunks of a job, for tasks in which a chunk depends on the end of its predecessor. */
export class Turns {
  readonly #control: Int32Array;

  constructor(control: Int32Array) {
    this.#control = control;
  }

  /** Waits until every chunk before this one has ended its turn. */
  await(chunk: number): void {
    for (let turn = Atomics.load(this.#control, TURN); turn < chunk; turn = Atomics.load(this.#control, TURN)) {
      Atomics.wait(this.#control, TURN, turn);
    }
  }

  /** Ends the turn; writes of this thread are then visible to the next chunk. */
  end(chunk: number): void {
    Atomics.compareExchange(this.#control, TURN, chunk, chunk + 1);
    Atomics.notify(this.#control, TURN);
  }
}

/**
 * Runs chunks until none is left to claim.
 * @returns the number of chunks it ran
 */
export function claimChunks<Args>({ args, chunks, control }: Job<Args>, task: Task<Args>): number {
  const turns = new Turns(control);
  for (let done = 0;; done++) {
    const chunk = Atomics.add(control, NEXT, 1);
    if (chunk >= chunks) return done;
    try {
      task.run(args, chunk, turns);
    } catch (error) {
      // The job failed: the others stop claiming, and no thread waits for a turn that never comes.
      Atomics.store(control, FAILED, 1);
      Atomics.store(control, TURN, NO_TURNS);
      Atomics.notify(control, TURN);
      throw error;
    } finally {
      Atomics.add(control, DONE, 1);
      Atomics.notify(control, DONE);
    }
  }
}

/** Waits until the chunks claimed by other threads are done. @throws Error when one of them failed */
export function awaitChunks({ chunks, control }: Job): void {
  for (let done = Atomics.load(control, DONE); done < chunks; done = Atomics.load(control, DONE)) {
    Atomics.wait(control, DONE, done);
  }
  if (Atomics.load(control, FAILED)) throw new Error("Cannot finish the work: a helper thread failed");
}
