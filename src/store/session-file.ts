/** Reads session files of any size; of a large one the messages of its end, and the earlier turns without messages. */
import { closeSync, openSync, readSync, statSync } from "node:fs";
import { foldTurns, readSession, type Session } from "../core/session/session.ts";
import { parseLine, type SessionLine } from "../core/session/session-line.ts";

export interface ReadSession {
  readonly session: Session;
  /** Number of unreadable lines. */
  readonly damaged: number;
  /** Number of bytes whose messages were left out; 0: none. */
  readonly leftOut: number;
}

const pieceBytes = 1024 * 1024;
/** How the lines of turns and of the session itself start in the file. */
const turnLine = /^\{"type":"(?:turn|session)\./;
const lookBytes = 20;

/** Calls `take` with each line up to the byte `end`; the last line may be incomplete. */
function eachLine(file: string, end: number, take: (line: Buffer) => void): void {
  const fd = openSync(file, "r");
  try {
    let rest: Buffer[] = [];
    for (let at = 0; at < end; ) {
      const piece = Buffer.alloc(Math.min(pieceBytes, end - at));
      const length = readSync(fd, piece, 0, piece.length, at);
      if (length === 0) break;
      at += length;
      let from = 0;
      for (let to = piece.indexOf(10); to >= 0 && to < length; to = piece.indexOf(10, from)) {
        take(Buffer.concat([...rest, piece.subarray(from, to)]));
        rest = [];
        from = to + 1;
      }
      rest.push(piece.subarray(from, length));
    }
    take(Buffer.concat(rest));
  } finally {
    closeSync(fd);
  }
}

/** The turns up to the byte `end`, without their messages, which take most of the space. */
export function readTurns(file: string, id: string, end = statSync(file).size): Session {
  const lines: SessionLine[] = [];
  eachLine(file, end, (line) => {
    if (!turnLine.test(line.toString("latin1", 0, lookBytes))) return;
    try {
      lines.push(parseLine(line.toString("utf8")));
    } catch {
      // Only this line is lost; `readSession` counts damaged lines.
    }
  });
  return foldTurns(id, lines);
}

/** The part of the limit that is read from the end of a larger file; it exceeds any model's context window. */
const lastPart = 1 / 8;

/** Reads the session; of a file with more than `most` bytes only the last messages. Throws system errors. */
export function readSessionFile(file: string, id: string, maxLoaded: number): ReadSession {
  const { size } = statSync(file);
  const fd = openSync(file, "r");
  try {
    const bytes = Buffer.alloc(size <= maxLoaded ? size : Math.floor(maxLoaded * lastPart));
    const length = readSync(fd, bytes, 0, bytes.length, size - bytes.length);
    if (size <= maxLoaded) return { ...readSession(id, bytes.toString("utf8", 0, length)), leftOut: 0 };
    // Starts at the first complete turn, as a turn without its beginning would mislead; if there is none, with no
    // message.
    const found = bytes.indexOf('\n{"type":"turn.started"');
    const start = found < 0 ? length : found + 1;
    const leftOut = size - bytes.length + start;
    const earlier = readTurns(file, id, leftOut);
    return { ...readSession(id, bytes.toString("utf8", start, length), earlier), leftOut };
  } finally {
    closeSync(fd);
  }
}
