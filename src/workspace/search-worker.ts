/** The thread that tries a pattern, so that one which never ends can be ended. */
import { decode } from "../core/text.ts";
import { type Matches, matchLines, type Pattern } from "./match.ts";

export interface MatchRequest {
  readonly pattern: Pattern;
  readonly limit: number;
  readonly files: readonly Uint8Array[];
}

/** One for each file, in order; null: binary. */
export type MatchReply = readonly (Matches | null)[];

declare const self: Worker;

self.onmessage = ({ data }: MessageEvent<MatchRequest>) => {
  let left = data.limit;
  const reply: MatchReply = data.files.map((bytes) => {
    const text = decode(bytes)?.text ?? null;
    if (text === null) return null;
    const matches = matchLines(text, data.pattern, left);
    left -= matches.hits.length;
    return matches;
  });
  self.postMessage(reply);
};
