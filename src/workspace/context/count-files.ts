/** Reads files and counts the terms of a request in them, in the main thread or in a worker. */
import { isAscii } from "node:buffer";
import type { CountedFile } from "../../core/context/rank.ts";
import { isWritten, surveyLimits } from "../../core/context/survey-limits.ts";
import { openCounter, type Term } from "../../core/context/words.ts";
import type { Root } from "../confine.ts";
import { type Bunch, openReader, type SearchedFile } from "../search/search-files.ts";

export interface CountReply {
  /** Number of files that contain human-written text. */
  readonly files: number;
  readonly totalLength: number;
  readonly found: readonly CountedFile[];
}

const sniffedBytes = 8_000;

/** The text of a file in lower case; null: binary, too large, or generated. */
export function textOf({ content }: Pick<SearchedFile, "content">): string | null {
  if (content === null || content.length > surveyLimits.fileBytes) return null;
  if (content.subarray(0, sniffedBytes).includes(0)) return null;
  const bytes = Buffer.from(content.buffer, content.byteOffset, content.byteLength);
  const text = isAscii(bytes) ? bytes.toString("latin1") : bytes.toString("utf8");
  return isWritten(text) ? text.toLowerCase() : null;
}

/** Returns a function that reads bunches of files and counts the terms in each. */
export function openCountFiles(root: Root, terms: readonly Term[]): (bunches: readonly Bunch[]) => CountReply {
  const read = openReader(root, surveyLimits.fileBytes);
  const count = openCounter(terms);
  return (bunches) => {
    const found: CountedFile[] = [];
    let [texts, totalLength] = [0, 0];
    const look = (file: SearchedFile): void => {
      const text = textOf(file);
      if (text === null) return;
      texts += 1;
      totalLength += text.length;
      const counts = count(text);
      if (counts !== null) found.push({ path: file.path, length: text.length, counts });
    };
    for (const bunch of bunches) read(bunch, look);
    return { files: texts, totalLength, found };
  };
}
