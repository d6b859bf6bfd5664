import assert from "node:assert/strict";
import { join } from "node:path";
import { sha256Json } from "../../../lib/contract/hash.ts";
import { applyDelta } from "../../../lib/run/git_objects.ts";
import { parseIndex } from "../../../lib/run/git_index.ts";
import { type GitState, readGitState as readWithin } from "../../../lib/run/git.ts";

/** No test waits for a slow machine to be quick. */
const readGitState = (folder: string, timeLimitMs = 60_000) => readWithin(folder, timeLimitMs);

/** A repository made with the git command, without the settings of whoever runs the tests. */
class TestRepository {
  readonly root = Deno.makeTempDirSync();

  constructor(...options: string[]) {
    this.git("init", "--quiet", "--initial-branch=main", ...options, ".");
    this.git("config", "user.name", "Tester");
    this.git("config", "user.email", "tester@example.org");
    // A repository that lives for a second needs no durable objects, and no upkeep behind our back.
    this.git("config", "core.fsync", "none");
    this.git("config", "gc.auto", "0");
    this.git("config", "pack.threads", "1");
  }

  git(...args: string[]): string {
    return this.gitIn(this.root, ...args);
  }

  gitIn(cwd: string, ...args: string[]): string {
    const { success, stdout, stderr } = new Deno.Command("git", {
      args,
      cwd,
      env: {
        GIT_CONFIG_GLOBAL: "/dev/null",
        GIT_CONFIG_NOSYSTEM: "1",
        GIT_AUTHOR_DATE: "2026-01-01T00:00:00Z",
        GIT_COMMITTER_DATE: "2026-01-01T00:00:00Z",
      },
    }).outputSync();
    assert.ok(success, new TextDecoder().decode(stderr));
    return new TextDecoder().decode(stdout).trimEnd();
  }

  path(name: string): string {
    return join(this.root, name);
  }

  write(name: string, text: string): void {
    const folder = join(this.root, name, "..");
    Deno.mkdirSync(folder, { recursive: true });
    Deno.writeTextFileSync(this.path(name), text);
  }

  commitAll(message = "change"): string {
    this.git("add", "--all");
    this.git("commit", "--quiet", "--allow-empty", "-m", message);
    return this.git("rev-parse", "HEAD");
  }

  state(): GitState {
    return readGitState(this.root);
  }

  /** What git itself calls changed. */
  porcelain(): string[] {
    return this.git("status", "--porcelain=v1", "--untracked-files=no", "--no-renames").split("\n").filter((line) =>
      line !== ""
    );
  }
}

function withRepository(body: (repository: TestRepository) => void, ...options: string[]): () => void {
  return () => {
    const repository = new TestRepository(...options);
    try {
      body(repository);
    } finally {
      Deno.removeSync(repository.root, { recursive: true });
    }
  };
}

function seed(repository: TestRepository): string {
  repository.write("a.txt", "one\n");
  repository.write("dir/b.txt", "two\n");
  repository.write("dir/deep/c ü.txt", "three\n");
  repository.write("run.sh", "#!/bin/sh\n");
  Deno.chmodSync(repository.path("run.sh"), 0o755);
  Deno.symlinkSync("a.txt", repository.path("link"));
  return repository.commitAll();
}

const CLEAN = { dirty: false, changed_files: [], diff_stat: { modified: 0, deleted: 0 }, dirty_content_identity: null };

Deno.test("a folder in no worktree has no git state, with the reason", () => {
  const folder = Deno.makeTempDirSync({ dir: "/tmp" });
  try {
    const state = readGitState(folder);
    assert.equal(state.available, false);
    assert.equal(state.commit, null);
    assert.equal(state.dirty, null);
    assert.match(String(state.reason), /not in a git worktree/);
  } finally {
    Deno.removeSync(folder, { recursive: true });
  }
});

Deno.test(
  "a clean worktree, also seen from a folder inside",
  withRepository((repository) => {
    const commit = seed(repository);
    repository.write("untracked.txt", "not ours");
    const expected = { root: repository.root, available: true, commit, branch: "main", ...CLEAN };
    assert.deepEqual(repository.state(), expected);
    assert.deepEqual(readGitState(repository.path("dir/deep")), expected);
  }),
);

Deno.test(
  "a changed file, of the same size too, makes the worktree dirty and is identified by content",
  withRepository((repository) => {
    seed(repository);
    const { mtime } = Deno.statSync(repository.path("a.txt"));
    repository.write("a.txt", "eno\n");
    // Even where size and time are those of the commit.
    Deno.utimeSync(repository.path("a.txt"), mtime!, mtime!);
    const state = repository.state();
    assert.equal(state.dirty, true);
    assert.deepEqual(state.changed_files, ["a.txt"]);
    assert.deepEqual(state.diff_stat, { modified: 1, deleted: 0 });
    assert.equal(state.dirty_content_identity, sha256Json([["a.txt", repository.git("hash-object", "a.txt")]]));
    repository.write("a.txt", "one\n");
    assert.equal(repository.state().dirty, false);
  }),
);

Deno.test(
  "every state of a repository is read anew, of one commit and of the next",
  withRepository((repository) => {
    seed(repository);
    for (let again = 0; again < 3; again++) assert.equal(repository.state().dirty, false);
    repository.git("rm", "--quiet", "a.txt");
    for (let again = 0; again < 3; again++) assert.deepEqual(repository.state().changed_files, ["a.txt"]);
    const second = repository.commitAll();
    assert.deepEqual([repository.state().commit, repository.state().dirty], [second, false]);
    repository.git("reset", "--quiet", "--soft", "HEAD~1");
    assert.deepEqual(repository.state().changed_files, ["a.txt"]);
  }),
);

Deno.test("a forged time hides no change once the index is older", async () => {
  const repository = new TestRepository();
  try {
    seed(repository);
    const { mtime } = Deno.statSync(repository.path("a.txt"));
    // Times of changes are told in whole seconds.
    await new Promise((resolve) => setTimeout(resolve, 1100));
    repository.write("late.txt", "late\n");
    repository.commitAll();
    assert.equal(repository.state().dirty, false);
    repository.write("a.txt", "eno\n");
    Deno.utimeSync(repository.path("a.txt"), mtime!, mtime!);
    assert.deepEqual(repository.state().changed_files, ["a.txt"]);
  } finally {
    Deno.removeSync(repository.root, { recursive: true });
  }
});

Deno.test(
  "a staged change is dirty, whatever then happens to the file",
  withRepository((repository) => {
    seed(repository);
    repository.write("a.txt", "staged\n");
    repository.git("add", "a.txt");
    assert.deepEqual(repository.porcelain(), ["M  a.txt"]);
    assert.deepEqual(repository.state().changed_files, ["a.txt"]);
    repository.write("a.txt", "one\n");
    assert.deepEqual(repository.state().changed_files, ["a.txt"]);
    repository.write("new/file.txt", "added\n");
    repository.git("add", "new/file.txt");
    assert.deepEqual(repository.state().changed_files, ["a.txt", "new/file.txt"]);
    repository.git("reset", "--quiet", "--hard");
    assert.deepEqual(repository.state().changed_files, []);
  }),
);

Deno.test(
  "deleted files, staged or not, and files replaced by folders",
  withRepository((repository) => {
    seed(repository);
    Deno.removeSync(repository.path("a.txt"));
    repository.git("rm", "--quiet", "dir/b.txt");
    const state = repository.state();
    assert.deepEqual(state.changed_files, ["a.txt", "dir/b.txt"]);
    assert.deepEqual(state.diff_stat, { modified: 0, deleted: 2 });
    repository.git("rm", "--quiet", "--cached", "run.sh");
    assert.deepEqual(repository.state().changed_files, ["a.txt", "dir/b.txt", "run.sh"]);
    repository.git("reset", "--quiet", "--hard");
    Deno.removeSync(repository.path("dir"), { recursive: true });
    repository.write("dir", "now a file");
    assert.deepEqual(repository.state().changed_files, ["dir/b.txt", "dir/deep/c ü.txt"]);
  }),
);

Deno.test(
  "modes and links count",
  withRepository((repository) => {
    seed(repository);
    Deno.chmodSync(repository.path("run.sh"), 0o644);
    Deno.removeSync(repository.path("link"));
    Deno.symlinkSync("dir", repository.path("link"));
    assert.deepEqual(repository.state().changed_files, ["link", "run.sh"]);
    Deno.removeSync(repository.path("link"));
    repository.write("link", "a.txt");
    assert.deepEqual(repository.state().changed_files, ["link", "run.sh"]);
    repository.git("config", "core.fileMode", "false");
    assert.deepEqual(repository.state().changed_files, ["link"]);
  }),
);

Deno.test(
  "packed objects with deltas, packed refs, every version of the index",
  withRepository((repository) => {
    // Versions of one long file and of a wide folder are stored as deltas of each other.
    for (let n = 0; n < 12; n++) {
      const lines = Array.from({ length: 400 }, (_, i) => `line ${i} ${i % 12 === n ? "changed" : "kept"} ${i * 7919}`);
      repository.write("long.txt", lines.join("\n"));
      for (let i = 0; i < 60; i++) repository.write(`wide/file_${i}.txt`, `${i} ${i === n ? n : ""}\n`);
      repository.commitAll(`version ${n}`);
    }
    const commit = repository.git("rev-parse", "HEAD");
    repository.git("gc", "--quiet", "--prune=now");
    assert.equal(
      [...Deno.readDirSync(repository.path(".git/objects"))].filter(({ name }) => name.length === 2).length,
      0,
    );
    const pack = [...Deno.readDirSync(repository.path(".git/objects/pack"))].find(({ name }) => name.endsWith(".idx"))!;
    assert.match(repository.git("verify-pack", "-v", `.git/objects/pack/${pack.name}`), /chain length = [1-9]/);
    assert.throws(() => Deno.statSync(repository.path(".git/refs/heads/main")), Deno.errors.NotFound);
    for (const version of ["2", "3", "4"]) {
      repository.git("update-index", "--index-version", version);
      assert.deepEqual(repository.state(), {
        root: repository.root,
        available: true,
        commit,
        branch: "main",
        ...CLEAN,
      });
      repository.write("wide/file_7.txt", "staged");
      repository.git("add", "wide/file_7.txt");
      assert.deepEqual(repository.state().changed_files, ["wide/file_7.txt"]);
      repository.git("reset", "--quiet", "--hard");
    }
    // An extended entry makes version 3 real.
    repository.git("update-index", "--index-version", "2");
    repository.write("later.txt", "x");
    repository.git("add", "--intent-to-add", "later.txt");
    const bytes = Deno.readFileSync(repository.path(".git/index"));
    assert.equal(bytes[7], 3);
    assert.ok(parseIndex(bytes, 20).some(({ path, intentToAdd }) => path === "later.txt" && intentToAdd));
    assert.deepEqual(repository.state().changed_files, ["later.txt"]);
    // Reference deltas appear when a pack is not allowed offsets.
    repository.git("reset", "--quiet", "--hard");
    repository.git("-c", "repack.useDeltaBaseOffset=false", "repack", "-a", "-d", "-f", "--quiet");
    assert.equal(repository.state().dirty, false);
  }),
);

Deno.test(
  "a detached HEAD, a branch with slashes, and the time before the first commit",
  withRepository((repository) => {
    assert.deepEqual(repository.state(), {
      root: repository.root,
      available: true,
      commit: null,
      branch: "main",
      ...CLEAN,
    });
    repository.write("first.txt", "x");
    repository.git("add", "first.txt");
    assert.deepEqual(repository.state().changed_files, ["first.txt"]);
    const commit = repository.commitAll();
    repository.git("checkout", "--quiet", "-b", "feature/x");
    assert.equal(repository.state().branch, "feature/x");
    repository.git("checkout", "--quiet", "--detach");
    assert.equal(repository.state().branch, null);
    assert.equal(repository.state().commit, commit);
  }),
);

Deno.test(
  "a second worktree, an alternate, a submodule",
  withRepository((repository) => {
    const commit = seed(repository);
    const other = repository.path("../" + crypto.randomUUID());
    const clone = repository.path("../" + crypto.randomUUID());
    try {
      repository.git("worktree", "add", "--quiet", "-b", "other", other);
      assert.deepEqual(readGitState(other), { root: other, available: true, commit, branch: "other", ...CLEAN });
      Deno.writeTextFileSync(join(other, "a.txt"), "changed");
      assert.deepEqual(readGitState(other).changed_files, ["a.txt"]);
      assert.equal(repository.state().dirty, false);

      repository.git("clone", "--quiet", "--shared", repository.root, clone);
      assert.equal(
        [...Deno.readDirSync(join(clone, ".git/objects"))].filter(({ name }) => name.length === 2).length,
        0,
      );
      assert.equal(readGitState(clone).dirty, false);

      repository.git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", clone, "sub");
      repository.commitAll("submodule");
      assert.equal(repository.state().dirty, false);
      repository.gitIn(
        repository.path("sub"),
        "-c",
        "user.name=T",
        "-c",
        "user.email=t@example.org",
        "commit",
        "--quiet",
        "--allow-empty",
        "-m",
        "more",
      );
      assert.deepEqual(repository.state().changed_files, ["sub"]);
    } finally {
      for (const folder of [other, clone]) Deno.removeSync(folder, { recursive: true });
    }
  }),
);

Deno.test(
  "a conflict is dirty",
  withRepository((repository) => {
    seed(repository);
    repository.git("checkout", "--quiet", "-b", "side");
    repository.write("a.txt", "side\n");
    repository.commitAll();
    repository.git("checkout", "--quiet", "main");
    repository.write("a.txt", "main\n");
    repository.commitAll();
    assert.throws(() => repository.git("merge", "side"));
    assert.deepEqual(repository.state().changed_files, ["a.txt"]);
  }),
);

Deno.test(
  "line ends that git converts on checkout are no change",
  withRepository((repository) => {
    repository.write(".gitattributes", "*.txt text eol=crlf\n");
    repository.write("a.txt", "one\ntwo\n");
    repository.commitAll();
    Deno.removeSync(repository.path("a.txt"));
    repository.git("checkout", "--quiet", "--", "a.txt");
    assert.match(Deno.readTextFileSync(repository.path("a.txt")), /\r\n/);
    assert.deepEqual(repository.porcelain(), []);
    assert.equal(repository.state().dirty, false);
    repository.write("a.txt", "one\r\nTWO\r\n...\r\n");
    assert.deepEqual(repository.state().changed_files, ["a.txt"]);
  }),
);

Deno.test(
  "object names of SHA-256",
  withRepository((repository) => {
    const commit = seed(repository);
    assert.equal(commit.length, 64);
    assert.deepEqual(repository.state(), { root: repository.root, available: true, commit, branch: "main", ...CLEAN });
    repository.git("gc", "--quiet");
    repository.write("a.txt", "staged\n");
    repository.git("add", "a.txt");
    assert.deepEqual(repository.state().changed_files, ["a.txt"]);
  }, "--object-format=sha256"),
);

Deno.test(
  "what cannot be told is null, with a reason",
  withRepository((repository) => {
    const commit = seed(repository);
    const late = readGitState(repository.root, 0);
    assert.equal(late.available, true);
    assert.equal(late.dirty, null);
    assert.match(String(late.reason), /longer than/);
    const index = Deno.readFileSync(repository.path(".git/index"));
    for (const length of [0, 7, 12, 40, 100]) {
      Deno.writeFileSync(repository.path(".git/index"), index.subarray(0, length));
      const state = repository.state();
      assert.equal(state.commit, commit);
      assert.equal(state.dirty, null);
      assert.equal(typeof state.reason, "string");
    }
    Deno.writeFileSync(repository.path(".git/index"), index);
    Deno.removeSync(repository.path(`.git/objects/${commit.slice(0, 2)}/${commit.slice(2)}`));
    assert.match(String(repository.state().reason), /is not in this repository/);
  }),
);

Deno.test(
  "agrees with git on random changes",
  withRepository((repository) => {
    let state = 7;
    const random = (n: number) => (state = (state * 1103515245 + 12345) % 2147483648) % n;
    const names = Array.from({ length: 30 }, (_, n) => `d${n % 4}/e${n % 3}/f${n}.txt`);
    for (const name of names) repository.write(name, `${name}\n`);
    repository.commitAll();
    for (let round = 0; round < 15; round++) {
      for (let n = 0; n < 4; n++) {
        const name = names[random(names.length)];
        const action = random(5);
        if (action === 0) repository.write(name, `changed ${random(1000)}\n`);
        else if (action === 1) Deno.removeSync(join(repository.path(name), ".."), { recursive: true });
        else if (action === 2) repository.git("add", "--all");
        else if (action === 3 && repository.git("ls-files", name) !== "") {
          repository.git("rm", "--quiet", "--cached", name);
        } else repository.write(name, `${name}\n`);
        Deno.mkdirSync(join(repository.path(name), ".."), { recursive: true });
      }
      const expected = repository.porcelain().map((line) => line.slice(3)).sort();
      assert.deepEqual(repository.state().changed_files, expected, `round ${round}`);
      if (round % 5 === 4) repository.commitAll();
    }
  }),
);

Deno.test("deltas copy and insert, and are refused when they do not fit", () => {
  const base = new TextEncoder().encode("hello world");
  const delta = new Uint8Array([11, 9, 0x91, 6, 5, 4, 0x20, 0x21, 0x22, 0x23]);
  assert.equal(new TextDecoder().decode(applyDelta(base, delta)), 'world !"#');
  assert.throws(() => applyDelta(base.subarray(1), delta), /another base/);
  assert.throws(() => applyDelta(base, new Uint8Array([11, 9, 0x91, 6, 5])), /does not fill/);
  assert.throws(() => applyDelta(base, new Uint8Array([11, 1, 0])), /reserved/);
});
