/** What implements an operation: its module and the digest over it and everything local that it imports. */
export interface ModuleSource {
  /** Path from the program's root, or the file's name for a module that lies elsewhere. */
  source_module: string;
  /** Null where the sources can neither be read nor looked up. */
  source_sha256: string | null;
}

export interface SourceHashes {
  /** Describes modules by URL; files that changed since the last call are read again. */
  describe(moduleUrls: Iterable<string>): Promise<Map<string, ModuleSource>>;
}
