/** Counts the terms of a request in the files of a project, in threads once there are many. */

import { isAscii } from "node:buffer";
import type { CountedFile } from "../../core/context/rank.ts";
import { isWritten, surveyLimits } from "../../core/context/survey-limits.ts";
import { openCounter, type Term } from "../../core/context/words.ts";
import type { Root } from "../confine.ts";
import { type Bunch, openReader, type SearchedFile } from "../search/search-files.ts";
import { openThreads } from "../search/threads.ts";

type Threads = ReturnType<typeof openThreads<CountReply>>;

export interface CountReply {
  readonly looked: number;
  readonly files: number;
  readonly totalLength: number;
  readonly found: readonly CountedFile[];
}

const sniffedBytes = 8_000;

/** The text of a file in lower case; null: binary, too large, or generated. */
function textOfFile({ content }: SearchedFile): string | null {
  if (content === null || content.length > surveyLimits.fileBytes) return null;
  if (content.subarray(0, sniffedBytes).includes(0)) return null;
  const bytes = Buffer.from(content.buffer, content.byteOffset, content.byteLength);
  const text = isAscii(bytes) ? bytes.toString("latin1") : bytes.toString("utf8");
  return isWritten(text) ? text.toLowerCase() : null;
}

export function openCountFiles(root: Root, terms: readonly Term[]): (bunches: readonly Bunch[]) => CountReply {
  const read = openReader(root, surveyLimits.fileBytes);
  const count = openCounter(terms);
  return (bunches) => {
    const found: CountedFile[] = [];
    let [looked, texts, totalLength] = [0, 0, 0];
    const look = (file: SearchedFile): void => {
      looked += 1;
      const text = textOfFile(file);
      if (text === null) return;
      texts += 1;
      totalLength += text.length;
      const counts = count(text);
      if (counts !== null) found.push({ path: file.path, length: text.length, counts });
    };
    for (const bunch of bunches) read(bunch, look);
    return { looked, files: texts, totalLength, found };
  };
}

const batchesHere = 3;
/** A thread without a reply for so long counts as stuck: many large files on a slow disk take seconds. */
const maxSilenceMs = 10_000;
const tickMs = 20;

const sizeOf = (batch: readonly Bunch[]) =>
  batch.reduce((sum, bunch) => sum + ("names" in bunch ? bunch.names.length : 1), 0);

/** Counts terms in the files of batches: in threads once there are many, else in the main thread. */
export function openCounting(root: Root, terms: readonly Term[]) {
  const replies: CountReply[] = [];
  /** For the main thread: too few for threads, or what a thread could not do. */
  let here: (readonly Bunch[])[] = [];
  let threads: Threads | null = null;
  let [files, asked] = [0, 0];
  const send = async (to: Threads, batch: readonly Bunch[]): Promise<void> => {
    asked += 1;
    const reply = await to.ask(batch).catch(() => null);
    asked -= 1;
    if (reply === null) here.push(batch);
    else replies.push(reply);
  };
  return {
    /** Takes files to count; threads begin with them at once, while others are listed. */
    add(batch: readonly Bunch[]): void {
      files += sizeOf(batch);
      if (threads === null) here.push(batch);
      else void send(threads, batch);
      if (threads !== null || here.length <= batchesHere) return;
      threads = openThreads({ root: root.lent, job: { terms } }, maxSilenceMs);
      for (const each of here) void send(threads, each);
      here = [];
    },
    /** Counts until all is counted or time is up; `unread`: files that no reply is about. Throws the signal's reason. */
    async finish(isLate: () => boolean, signal: AbortSignal) {
      const count = openCountFiles(root, terms);
      while (!isLate() && (here.length > 0 || asked > 0)) {
        const batch = here.shift();
        if (batch !== undefined) replies.push(count(batch));
        // Lets replies and the user's keys in.
        await Bun.sleep(batch === undefined ? tickMs : 0);
        signal.throwIfAborted();
      }
      const looked = replies.reduce((sum, reply) => sum + reply.looked, 0);
      return { replies, unread: files - looked };
    },
    close: () => threads?.close(),
  };
}
