/**
 * Chunks of a task, claimed one at a time by whoever is free. Chunks are claimed in rising order, so a chunk that waits for
 * the one before it waits for a thread that is at work, never for one that has yet to come.
 */
/** Words of a job's control memory: the next chunk to claim, how many are done, whose turn it is, whether one failed. */
const NEXT = 0;
const DONE = 1;
const TURN = 2;
const FAILED = 3;
const WORDS = 4;

/** Everyone's turn: nobody waits any more. */
const NO_TURNS = 2 ** 31 - 1;

/** Work that threads can share, by a name that a helper knows: see tasks.ts. */
export interface Task<Args = unknown> {
  name: string;
  run(args: Args, chunk: number, turns: Turns): void;
}

/** What is posted to a helper. */
export interface Job<Args = unknown> {
  task: string;
  args: Args;
  chunks: number;
  control: Int32Array<SharedArrayBuffer>;
}

export function newJob<Args>({ name }: Task<Args>, args: Args, chunks: number): Job<Args> {
  return { task: name, args, chunks, control: new Int32Array(new SharedArrayBuffer(4 * WORDS)) };
}

/** The order of the chunks of a job, for tasks in which one chunk needs to know where the one before it ended. */
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

  /** What this thread has written so far is there for the chunk whose turn is next. */
  end(chunk: number): void {
    Atomics.compareExchange(this.#control, TURN, chunk, chunk + 1);
    Atomics.notify(this.#control, TURN);
  }
}

/**
 * Does chunks until none is left to claim.
 * @returns how many it did
 */
export function claimChunks<Args>({ args, chunks, control }: Job<Args>, task: Task<Args>): number {
  const turns = new Turns(control);
  for (let done = 0;; done++) {
    const chunk = Atomics.add(control, NEXT, 1);
    if (chunk >= chunks) return done;
    try {
      task.run(args, chunk, turns);
    } catch (error) {
      // The job is lost: the others stop claiming and nobody waits for a turn that would never come.
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

/**
 * Waits until the chunks that others have claimed are done.
 * @throws Error when one of them failed
 */
export function awaitChunks({ chunks, control }: Job): void {
  for (let done = Atomics.load(control, DONE); done < chunks; done = Atomics.load(control, DONE)) {
    Atomics.wait(control, DONE, done);
  }
  if (Atomics.load(control, FAILED)) throw new Error("Cannot finish the work: a helper thread failed");
}
