/** The files with instructions for agents: which of them a request shows, within one budget for all. */
import { fence } from "../../core/data-fence.ts";
import { parentOf, type RelPath } from "../../core/path.ts";
import { type PlanClaim, pathsOfClaim } from "../../core/plan/scope.ts";
import type { Run } from "../run.ts";
import type { OuterGuide } from "./reading.ts";
import {
  cutText,
  guideNames,
  hideSource,
  memoryName,
  noteHidden,
  noteSent,
  readSource,
  type Source,
} from "./sources.ts";

/** Characters of all guides together; the nearest get theirs first. */
export const maxGuides = 8_000;

/** The first guide that a folder of the project has; null: it has none. `folder`: "" for the root. */
async function readGuide(run: Run, folder: string): Promise<Source | null> {
  for (const name of guideNames) {
    const read = await readSource(run, (folder === "" ? name : `${folder}/${name}`) as RelPath);
    if (read !== null) return hideSource(run, read);
  }
  return null;
}

/** Guides and memory as a request shows them: those from outside first, the nearest last. */
export interface Knowledge {
  readonly outer: readonly OuterGuide[];
  readonly files: readonly Source[];
}

/** Reads the guides from outside, the one at the root and MEMORY.md. `maxLength`: characters of the guides together. */
export async function readKnowledge(run: Run, maxLength = maxGuides): Promise<Knowledge> {
  const { reading, veil } = run;
  if (reading.namesOnly) return { outer: [], files: [] };
  const guide = await readGuide(run, "");
  let room = Math.max(0, maxLength - (guide?.text.length ?? 0));
  const outer: OuterGuide[] = [];
  for (const { path, text } of reading.outer.toReversed()) {
    if (room === 0) break;
    const shown = cutText(veil.hideRaw(text), room);
    room = Math.max(0, room - shown.length);
    outer.unshift({ path, text: shown });
  }
  const read = await readSource(run, memoryName as RelPath);
  const memory = read === null ? null : hideSource(run, read);
  const files = [guide, memory].flatMap((each) =>
    each === null ? [] : [{ ...each, shown: cutText(each.text, maxLength) }],
  );
  reading.guides = [...outer.map(({ path }) => path), ...files.map(({ path }) => path)];
  reading.guideRoom = room;
  return { outer, files };
}

export const renderGuide = (path: string, text: string): string => fence("file", { path }, text);

/** The knowledge for the instructions of a conversation; notes it as sent. */
export function renderKnowledge(run: Run, { outer, files }: Knowledge): string {
  for (const { path, shown } of files) noteHidden(run, path, shown);
  noteSent(run, files);
  return [
    ...outer.map(({ path, text }) => renderGuide(path, text)),
    ...files.map(({ path, shown }) => renderGuide(path, shown)),
  ].join("\n\n");
}

/** The folders below the root that hold one of these paths, outer ones first. */
function foldersOf(claims: readonly PlanClaim[]): readonly string[] {
  const folders = new Set<string>();
  for (const path of claims.flatMap(pathsOfClaim))
    for (let folder: string = parentOf(path); folder !== ""; folder = parentOf(folder as RelPath)) folders.add(folder);
  return [...folders].sort((a, b) => a.split("/").length - b.split("/").length || (a < b ? -1 : 1));
}

/** Reads the guides of the folders that a plan touches, into the room that those of the first request left. */
export async function readNested(run: Run, claims: readonly PlanClaim[]): Promise<void> {
  const { reading } = run;
  const nested: Source[] = [];
  for (const folder of foldersOf(claims)) {
    const guide = await readGuide(run, folder);
    if (guide !== null) nested.push(guide);
  }
  let room = reading.guideRoom;
  reading.nested = nested
    .toReversed()
    .flatMap((guide) => {
      if (room === 0) return [];
      const shown = cutText(guide.text, room);
      room = Math.max(0, room - shown.length);
      return [{ ...guide, shown }];
    })
    .toReversed();
}

/** The guides of folders that the plan touches, for the work; notes them as sent. "": there are none. */
export function renderNested(run: Run): string {
  const { nested } = run.reading;
  for (const { path, shown } of nested) noteHidden(run, path, shown);
  noteSent(run, nested);
  return nested.map(({ path, shown }) => renderGuide(path, shown)).join("\n\n");
}
