import assert from "node:assert/strict";
import { join } from "node:path";
import { sha256Json } from "../../../lib/contract/hash.ts";
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

  state(): Promise<GitState> {
    return readGitState(this.root);
  }

  /** What git itself calls changed. */
  porcelain(): string[] {
    return this.git("status", "--porcelain=v1", "--untracked-files=no", "--no-renames").split("\n").filter((line) =>
      line !== ""
    );
  }
}

function withRepository(
  body: (repository: TestRepository) => Promise<void>,
  ...options: string[]
): () => Promise<void> {
  return async () => {
    const repository = new TestRepository(...options);
    try {
      await body(repository);
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

Deno.test("a folder in no worktree has no git state, with the reason", async () => {
  const folder = Deno.makeTempDirSync({ dir: "/tmp" });
  try {
    const state = await readGitState(folder);
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
  withRepository(async (repository) => {
    const commit = seed(repository);
    repository.write("untracked.txt", "not ours");
    const expected = { root: repository.root, available: true, commit, branch: "main", ...CLEAN };
    assert.deepEqual(await repository.state(), expected);
    assert.deepEqual(await readGitState(repository.path("dir/deep")), expected);
  }),
);

Deno.test(
  "a changed file, of the same size too, makes the worktree dirty and is identified by content",
  withRepository(async (repository) => {
    seed(repository);
    const { mtime } = Deno.statSync(repository.path("a.txt"));
    repository.write("a.txt", "eno\n");
    // Even where size and time are those of the commit.
    Deno.utimeSync(repository.path("a.txt"), mtime!, mtime!);
    const state = await repository.state();
    assert.equal(state.dirty, true);
    assert.deepEqual(state.changed_files, ["a.txt"]);
    assert.deepEqual(state.diff_stat, { modified: 1, deleted: 0 });
    assert.equal(state.dirty_content_identity, sha256Json([["a.txt", repository.git("hash-object", "a.txt")]]));
    repository.write("a.txt", "one\n");
    assert.equal((await repository.state()).dirty, false);
  }),
);

Deno.test(
  "every state of a repository is read anew, of one commit and of the next",
  withRepository(async (repository) => {
    seed(repository);
    for (let again = 0; again < 3; again++) assert.equal((await repository.state()).dirty, false);
    repository.git("rm", "--quiet", "a.txt");
    for (let again = 0; again < 3; again++) assert.deepEqual((await repository.state()).changed_files, ["a.txt"]);
    const second = repository.commitAll();
    assert.deepEqual([(await repository.state()).commit, (await repository.state()).dirty], [second, false]);
    repository.git("reset", "--quiet", "--soft", "HEAD~1");
    assert.deepEqual((await repository.state()).changed_files, ["a.txt"]);
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
    assert.equal((await repository.state()).dirty, false);
    repository.write("a.txt", "eno\n");
    Deno.utimeSync(repository.path("a.txt"), mtime!, mtime!);
    assert.deepEqual((await repository.state()).changed_files, ["a.txt"]);
  } finally {
    Deno.removeSync(repository.root, { recursive: true });
  }
});

Deno.test(
  "a staged change is dirty, whatever then happens to the file",
  withRepository(async (repository) => {
    seed(repository);
    repository.write("a.txt", "staged\n");
    repository.git("add", "a.txt");
    assert.deepEqual(repository.porcelain(), ["M  a.txt"]);
    assert.deepEqual((await repository.state()).changed_files, ["a.txt"]);
    repository.write("a.txt", "one\n");
    assert.deepEqual((await repository.state()).changed_files, ["a.txt"]);
    repository.write("new/file.txt", "added\n");
    repository.git("add", "new/file.txt");
    assert.deepEqual((await repository.state()).changed_files, ["a.txt", "new/file.txt"]);
    repository.git("reset", "--quiet", "--hard");
    assert.deepEqual((await repository.state()).changed_files, []);
  }),
);

Deno.test(
  "deleted files, staged or not, and files replaced by folders",
  withRepository(async (repository) => {
    seed(repository);
    Deno.removeSync(repository.path("a.txt"));
    repository.git("rm", "--quiet", "dir/b.txt");
    const state = await repository.state();
    assert.deepEqual(state.changed_files, ["a.txt", "dir/b.txt"]);
    assert.deepEqual(state.diff_stat, { modified: 0, deleted: 2 });
    repository.git("rm", "--quiet", "--cached", "run.sh");
    assert.deepEqual((await repository.state()).changed_files, ["a.txt", "dir/b.txt", "run.sh"]);
    repository.git("reset", "--quiet", "--hard");
    Deno.removeSync(repository.path("dir"), { recursive: true });
    repository.write("dir", "now a file");
    assert.deepEqual((await repository.state()).changed_files, ["dir/b.txt", "dir/deep/c ü.txt"]);
  }),
);

Deno.test(
  "modes and links count",
  withRepository(async (repository) => {
    seed(repository);
    Deno.chmodSync(repository.path("run.sh"), 0o644);
    Deno.removeSync(repository.path("link"));
    Deno.symlinkSync("dir", repository.path("link"));
    assert.deepEqual((await repository.state()).changed_files, ["link", "run.sh"]);
    Deno.removeSync(repository.path("link"));
    repository.write("link", "a.txt");
    assert.deepEqual((await repository.state()).changed_files, ["link", "run.sh"]);
    repository.git("config", "core.fileMode", "false");
    assert.deepEqual((await repository.state()).changed_files, ["link"]);
  }),
);

Deno.test(
  "packed objects and refs, every version of the index, a split one",
  withRepository(async (repository) => {
    const commit = seed(repository);
    repository.git("gc", "--quiet", "--prune=now");
    assert.throws(() => Deno.statSync(repository.path(".git/refs/heads/main")), Deno.errors.NotFound);
    for (const change of ["--index-version=2", "--index-version=3", "--index-version=4", "--split-index"]) {
      repository.git("update-index", ...change.split("="));
      assert.deepEqual(await repository.state(), {
        root: repository.root,
        available: true,
        commit,
        branch: "main",
        ...CLEAN,
      });
      repository.write("a.txt", "staged");
      repository.git("add", "a.txt");
      assert.deepEqual((await repository.state()).changed_files, ["a.txt"], change);
      repository.git("reset", "--quiet", "--hard");
    }
  }),
);

Deno.test(
  "intent-to-add files count as changed; assume-unchanged and skip-worktree files do not",
  withRepository(async (repository) => {
    seed(repository);
    repository.write("later.txt", "x");
    repository.git("add", "--intent-to-add", "later.txt");
    assert.deepEqual((await repository.state()).changed_files, ["later.txt"]);
    repository.git("reset", "--quiet");
    repository.git("update-index", "--assume-unchanged", "a.txt");
    repository.git("update-index", "--skip-worktree", "run.sh");
    repository.write("a.txt", "changed");
    repository.write("run.sh", "changed");
    assert.deepEqual((await repository.state()).changed_files, []);
    repository.git("update-index", "--no-assume-unchanged", "a.txt");
    assert.deepEqual((await repository.state()).changed_files, ["a.txt"]);
  }),
);

Deno.test(
  "nothing that the repository configures is started",
  withRepository(async (repository) => {
    const other = seed(repository);
    const tree = repository.git("rev-parse", "HEAD^{tree}");
    repository.write("a.txt", "two\n");
    const commit = repository.commitAll();
    Deno.removeSync(repository.path(`.git/objects/${tree.slice(0, 2)}/${tree.slice(2)}`));
    const marker = repository.path(".git/started");
    const script = repository.path(".git/hostile.sh");
    Deno.writeTextFileSync(script, `#!/bin/sh\necho "$0 $*" >> '${marker}'\ncat\n`, { mode: 0o755 });
    for (const hook of ["post-index-change", "fsmonitor-watchman", "reference-transaction", "post-checkout"]) {
      Deno.copyFileSync(script, repository.path(`.git/hooks/${hook}`));
    }
    Deno.writeTextFileSync(repository.path(".git/info/attributes"), "* filter=hostile diff=hostile\n");
    const settings = [
      `[core]\nfsmonitor = ${script}\nhooksPath = .git/hooks\npager = ${script}\nsshCommand = ${script}\neditor = ${script}`,
      `[filter "hostile"]\nclean = ${script}\nsmudge = ${script}\nrequired = true`,
      `[diff "hostile"]\ncommand = ${script}\ntextconv = ${script}`,
      `[diff]\nexternal = ${script}`,
      `[alias]\nls-files = !${script}\nls-tree = !${script}\nrev-parse = !${script}`,
      `[remote "origin"]\nurl = ext::${script}\npromisor = true\npartialclonefilter = blob:none`,
      "[protocol]\nallow = always\n[submodule]\nrecurse = true",
    ].join("\n");
    Deno.writeTextFileSync(repository.path(".git/more"), settings);
    repository.git("config", "include.path", "more");
    repository.git("config", "extensions.partialClone", "origin");
    repository.write("a.txt", "changed\n");
    const state = await repository.state();
    assert.deepEqual([state.commit, state.changed_files], [commit, ["a.txt"]]);
    // Another commit, a tree of which is to be fetched.
    repository.write(".git/refs/heads/main", `${other}\n`);
    assert.match(String((await repository.state()).reason), /git ls-tree failed/);
    const started = [...Deno.readDirSync(repository.path(".git"))].filter(({ name }) => name === "started");
    assert.deepEqual(started, []);
    // What this test is about: git status starts it.
    repository.write(".git/refs/heads/main", `${commit}\n`);
    repository.git("status", "--porcelain");
    assert.match(Deno.readTextFileSync(marker), /hostile/);
  }),
);

Deno.test(
  "a detached HEAD, a branch with slashes, and the time before the first commit",
  withRepository(async (repository) => {
    assert.deepEqual(await repository.state(), {
      root: repository.root,
      available: true,
      commit: null,
      branch: "main",
      ...CLEAN,
    });
    repository.write("first.txt", "x");
    repository.git("add", "first.txt");
    assert.deepEqual((await repository.state()).changed_files, ["first.txt"]);
    const commit = repository.commitAll();
    repository.git("checkout", "--quiet", "-b", "feature/x");
    assert.equal((await repository.state()).branch, "feature/x");
    repository.git("checkout", "--quiet", "--detach");
    assert.equal((await repository.state()).branch, null);
    assert.equal((await repository.state()).commit, commit);
  }),
);

Deno.test(
  "a second worktree, an alternate, a submodule",
  withRepository(async (repository) => {
    const commit = seed(repository);
    const other = repository.path("../" + crypto.randomUUID());
    const clone = repository.path("../" + crypto.randomUUID());
    try {
      repository.git("worktree", "add", "--quiet", "-b", "other", other);
      assert.deepEqual(await readGitState(other), { root: other, available: true, commit, branch: "other", ...CLEAN });
      Deno.writeTextFileSync(join(other, "a.txt"), "changed");
      assert.deepEqual((await readGitState(other)).changed_files, ["a.txt"]);
      assert.equal((await repository.state()).dirty, false);

      repository.git("clone", "--quiet", "--shared", repository.root, clone);
      assert.equal(
        [...Deno.readDirSync(join(clone, ".git/objects"))].filter(({ name }) => name.length === 2).length,
        0,
      );
      assert.equal((await readGitState(clone)).dirty, false);

      repository.git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", clone, "sub");
      repository.commitAll("submodule");
      assert.equal((await repository.state()).dirty, false);
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
      assert.deepEqual((await repository.state()).changed_files, ["sub"]);
    } finally {
      for (const folder of [other, clone]) Deno.removeSync(folder, { recursive: true });
    }
  }),
);

Deno.test(
  "a conflict is dirty",
  withRepository(async (repository) => {
    seed(repository);
    repository.git("checkout", "--quiet", "-b", "side");
    repository.write("a.txt", "side\n");
    repository.commitAll();
    repository.git("checkout", "--quiet", "main");
    repository.write("a.txt", "main\n");
    repository.commitAll();
    assert.throws(() => repository.git("merge", "side"));
    assert.deepEqual((await repository.state()).changed_files, ["a.txt"]);
  }),
);

Deno.test(
  "line ends that git converts on checkout are no change",
  withRepository(async (repository) => {
    repository.write(".gitattributes", "*.txt text eol=crlf\n");
    repository.write("a.txt", "one\ntwo\n");
    repository.commitAll();
    Deno.removeSync(repository.path("a.txt"));
    repository.git("checkout", "--quiet", "--", "a.txt");
    assert.match(Deno.readTextFileSync(repository.path("a.txt")), /\r\n/);
    assert.deepEqual(repository.porcelain(), []);
    assert.equal((await repository.state()).dirty, false);
    repository.write("a.txt", "one\r\nTWO\r\n...\r\n");
    assert.deepEqual((await repository.state()).changed_files, ["a.txt"]);
  }),
);

Deno.test(
  "object names of SHA-256",
  withRepository(async (repository) => {
    const commit = seed(repository);
    assert.equal(commit.length, 64);
    assert.deepEqual(await repository.state(), {
      root: repository.root,
      available: true,
      commit,
      branch: "main",
      ...CLEAN,
    });
    repository.git("gc", "--quiet");
    repository.write("a.txt", "staged\n");
    repository.git("add", "a.txt");
    assert.deepEqual((await repository.state()).changed_files, ["a.txt"]);
  }, "--object-format=sha256"),
);

Deno.test(
  "what cannot be told is null, with a reason",
  withRepository(async (repository) => {
    const commit = seed(repository);
    const late = await readGitState(repository.root, 0);
    assert.equal(late.available, true);
    assert.equal(late.dirty, null);
    assert.match(String(late.reason), /longer than/);
    const index = Deno.readFileSync(repository.path(".git/index"));
    for (const length of [7, 12, 40, 100]) {
      Deno.writeFileSync(repository.path(".git/index"), index.subarray(0, length));
      const state = await repository.state();
      assert.equal(state.commit, commit);
      assert.equal(state.dirty, null);
      assert.equal(typeof state.reason, "string");
    }
    Deno.writeFileSync(repository.path(".git/index"), index);
    Deno.removeSync(repository.path(`.git/objects/${commit.slice(0, 2)}/${commit.slice(2)}`));
    assert.match(String((await repository.state()).reason), /git ls-tree failed: fatal: not a tree object/);
  }),
);

Deno.test(
  "agrees with git on random changes",
  withRepository(async (repository) => {
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
      assert.deepEqual((await repository.state()).changed_files, expected, `round ${round}`);
      if (round % 5 === 4) repository.commitAll();
    }
  }),
);

Deno.test({
  name: "without the right to start git, or without git, commit and branch are read from files",
  // deno-lint-ignore require-await -- as all bodies
  fn: withRepository(async (repository) => {
    const commit = seed(repository);
    repository.git("pack-refs", "--all");
    const module = new URL("../../../lib/run/git.ts", import.meta.url).href;
    const code = `import { readGitState } from ${JSON.stringify(module)};
console.log(JSON.stringify(await readGitState(${JSON.stringify(repository.root)})));`;
    const cases: [string[], string, RegExp][] = [
      [["--allow-read"], "/usr/bin:/bin", /not permitted/],
      [["--allow-all"], "/nonexistent", /not installed/],
    ];
    for (const [rights, path, reason] of cases) {
      const { stdout, stderr } = new Deno.Command(Deno.execPath(), {
        args: ["run", "--no-prompt", "--no-config", ...rights, "data:text/javascript," + encodeURIComponent(code)],
        env: { PATH: path },
      }).outputSync();
      const state = JSON.parse(new TextDecoder().decode(stdout) || `"${new TextDecoder().decode(stderr)}"`);
      assert.match(state.reason, reason);
      assert.deepEqual({ ...state, reason: null }, {
        root: repository.root,
        available: true,
        commit,
        branch: "main",
        dirty: null,
        changed_files: null,
        diff_stat: null,
        dirty_content_identity: null,
        reason: null,
      });
    }
  }),
});
