/** The index of a workspace as the rest of pai uses it: opens, refreshes, describes and drops it. */
import { existsSync, statSync } from "node:fs";
import { join } from "node:path";
import { digest } from "../../core/digest.ts";
import type { RelPath } from "../../core/path.ts";
import type { Root } from "../confine.ts";
import type { Repository } from "../git/find-repository.ts";
import { listBuiltInRules, type PathRules } from "../path-policy.ts";
import type { IndexFile } from "./index-file.ts";
import { indexName, isDamage, removeIndex } from "./index-name.ts";
import type { IndexRequest } from "./index-worker.ts";
import type { Refreshed } from "./refresh.ts";

export interface IndexStatus {
  /** Path of the index file. */
  readonly file: string;
  /** Size on disk in bytes. */
  readonly bytes: number;
  readonly files: number;
  /** Characters of text in the indexed files. */
  readonly length: number;
  readonly commits: boolean;
  /** All files were known when it was last written. */
  readonly complete: boolean;
}

export interface ProjectIndex {
  /** Whether an index file exists, usable or not. */
  exists(): boolean;
  /** null: there is none, or it is unusable. */
  open(): Promise<IndexFile | null>;
  /** Takes what was thrown when it was read: removes it if it is damaged. */
  giveUp(thrown: unknown): void;
  /** Refreshes it in a worker a moment later; the process may end before that. */
  refreshLater(): void;
  /** Refreshes it now. Throws io_failed where none can be kept; an earlier one stays unless it is damaged. */
  refresh(signal: AbortSignal): Promise<Refreshed>;
  /** null: there is none. */
  status(): Promise<IndexStatus | null>;
  /** Removes it; returns whether there was one. */
  drop(): boolean;
}

export interface IndexParts {
  readonly root: Root;
  readonly rules: PathRules;
  /** pai's folder for this workspace. */
  readonly stateFolder: string;
  /** PATH for finding git, without folders of the project. */
  readonly path: string;
}

const laterMs = 250;
const maxExclude = 1024 * 1024;

/** Digest of what decides which files are scanned, apart from the ignore files in the project. */
function digestRules(root: Root, rules: PathRules): string {
  let exclude = "";
  try {
    exclude = Buffer.from(root.readBytes(".git/info/exclude" as RelPath, maxExclude)?.bytes ?? []).toString("latin1");
  } catch {
    // The root is a worktree, which has no `info/exclude` of its own.
  }
  return digest(JSON.stringify([indexName, root.path, rules, listBuiltInRules(), exclude, root.userIgnore]));
}

const repositoryOf = async (root: Root): Promise<Repository | null> => {
  const { findRepository } = await import("../git/find-repository.ts");
  const found = findRepository(root.path);
  return typeof found === "string" ? null : found;
};

/** URL of the worker. In the compiled file modules are in the top folder, but entry points keep their path below src. */
function workerUrl(): string {
  const built = !import.meta.url.endsWith("/workspace/index/project-index.ts");
  return new URL(built ? "./workspace/index/index-worker.ts" : "./index-worker.ts", import.meta.url).href;
}

export function openProjectIndex({ root, rules, stateFolder, path }: IndexParts): ProjectIndex {
  const file = join(stateFolder, indexName);
  const open = async (): Promise<IndexFile | null> => {
    if (!existsSync(file)) return null;
    const { openIndex } = await import("./index-file.ts");
    try {
      return openIndex(file, digestRules(root, rules), false);
    } catch (thrown) {
      giveUp(thrown);
      return null;
    }
  };
  const giveUp = (thrown: unknown): void => {
    if (!isDamage(thrown)) return;
    try {
      removeIndex(file);
    } catch {
      // It is in a folder that cannot be written, or is a folder itself: it is passed over each time.
    }
  };
  return {
    exists: () => existsSync(file),
    open,
    giveUp,
    refreshLater() {
      const request = async (): Promise<IndexRequest> => ({
        root: root.lent,
        rules,
        file,
        digest: digestRules(root, rules),
        repository: await repositoryOf(root),
        path,
      });
      const start = async () => {
        const asked = await request();
        const worker = new Worker(workerUrl(), { smol: true });
        worker.unref();
        worker.onmessage = () => worker.terminate();
        worker.onerror = () => worker.terminate();
        worker.postMessage(asked);
      };
      // If the refresh fails, the next request reads the files instead.
      setTimeout(() => void start().catch(() => {}), laterMs).unref();
    },
    async refresh(signal) {
      const { keepIndex } = await import("./keep-index.ts");
      const repository = await repositoryOf(root);
      return keepIndex({ root, rules, file, digest: digestRules(root, rules), repository, path, signal });
    },
    async status() {
      const index = await open();
      if (index === null) return null;
      try {
        const { folders, history, complete } = index.read();
        const all = [...folders.values()].flatMap(({ files }) => [...files.values()]);
        const length = all.reduce((sum, each) => sum + Math.max(0, each.length), 0);
        const { size: bytes } = statSync(file);
        return { file, bytes, files: all.length, length, commits: history !== null, complete };
      } catch (thrown) {
        giveUp(thrown);
        return null;
      } finally {
        index.close();
      }
    },
    drop() {
      const had = existsSync(file);
      removeIndex(file);
      return had;
    },
  };
}
