/** The type of a path that has passed the parser; only `workspace/confine.ts` may make one. */

declare const relPath: unique symbol;

/** Relative to the root, `/`-separated, no empty, `.` or `..` part; "" is the root itself. */
export type RelPath = string & { readonly [relPath]: true };

/** What a path is wanted for; the policy differs. `list` alone accepts the root. */
export type PathUse = "read" | "list" | "write" | "folder" | "delete" | "move";
