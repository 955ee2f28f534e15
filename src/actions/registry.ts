/** All actions, each with its row of the vocabulary, in the order of the vocabulary. */
import type { AnyAction } from "../core/ports.ts";
import { type ActionName, actionRows } from "../core/vocabulary.ts";
import { copy, link, mkdir, mode, modify, mv, rm, touch, write } from "./change.ts";
import { callTool, queryTool, runAction } from "./command.ts";
import { glob, listPath, ls, read, searchAction, tree } from "./look.ts";
import { diagnose, mapRoot, profile, sniffLogs } from "./project.ts";

const actions: Readonly<Record<ActionName, AnyAction>> = {
  READ: read,
  SEARCH: searchAction,
  GLOB: glob,
  TREE: tree,
  LIST_PATH: listPath,
  LS: ls,
  MAP_ROOT: mapRoot,
  SNIFF_LOGS: sniffLogs,
  DIAGNOSE: diagnose,
  WRITE: write,
  MODIFY: modify,
  MKDIR: mkdir,
  TOUCH: touch,
  RM: rm,
  MV: mv,
  COPY: copy,
  LINK: link,
  MODE: mode,
  RUN: runAction,
  CALL: callTool,
  QUERY: queryTool,
  PROFILE: profile,
};

export const allActions: readonly AnyAction[] = actionRows.map(({ name }) => actions[name]);
