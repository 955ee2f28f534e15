/** Changes of files as tests write them: texts, bytes or blobs. */
import type { Blob, Change } from "../../src/core/change.ts";
import type { RelPath } from "../../src/core/path.ts";

type Content = string | Uint8Array | Blob;

export const file = (content: string | Uint8Array, mode = 0o644): Blob => ({
  kind: "file",
  bytes: typeof content === "string" ? new TextEncoder().encode(content) : content,
  mode,
});

const blobOf = (content: Content | null): Blob | null =>
  typeof content === "string" || content instanceof Uint8Array ? file(content) : content;

export const change = (
  path: string,
  before: Content | null,
  after: Content | null,
  from: string | null = null,
): Change => ({ path: path as RelPath, before: blobOf(before), after: blobOf(after), from: from as RelPath | null });
