/** Reads what a kept run changed from the journal alone, without opening the project or undoing anything. */
import type { Change } from "../../core/change.ts";
import { takeLock } from "../../system/lock.ts";
import { openDisk } from "../system/disk.ts";
import { readRun, workOfRun } from "./journal-run.ts";

/** The changes of a run; null: they are not kept in this state folder, or the journal is damaged. */
export function readWork(stateFolder: string, id: string): readonly Change[] | null {
  try {
    const state = { folder: stateFolder, disk: openDisk(), takeLock };
    const run = readRun(state, id);
    return run && workOfRun(state, run);
  } catch {
    return null;
  }
}
