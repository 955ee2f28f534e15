/** Every action there is, in the order they are told to models. */
import type { AnyAction } from "../core/action.ts";
import { mkdir, modify, mv, rm, touch, write } from "./act.ts";
import { runCommand } from "./command.ts";
import { glob, listPath, ls, read, search, tree } from "./look.ts";
import { diagnose, mapRoot, profile, sniffLogs } from "./project.ts";

export const allActions: readonly AnyAction[] = [
  read,
  tree,
  listPath,
  ls,
  search,
  glob,
  write,
  modify,
  mkdir,
  touch,
  rm,
  mv,
  runCommand,
  mapRoot,
  sniffLogs,
  diagnose,
  profile,
];
