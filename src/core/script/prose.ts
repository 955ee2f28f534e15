/** Replies that are prose: whether one is an answer, or only announces work. Pure. */
import { readLooseReply } from "./loose-reply.ts";
import { parseScript } from "./parser.ts";

/** Work that is still to come, or that words alone claim. */
const announcement =
  /\b(?:I(?:['’]ll| will| would (?:first|now)|(?:['’]m| am) going to|(?:['’]ve| have) (?!looked|read)\w+ed)|let(?:['’]s| me(?! know))|saya (?:akan|sudah|telah))\b/i;
const done = "done|fixed|added|updated|changed|created|removed|renamed|implemented|applied";
/** Work that is said to be done, or agreed to and no more. */
const claim = new RegExp(
  `^\\W*(?:${done}|all set)\\b|\\b(?:is|are|was|were|been) (?:now )?(?:${done})\\b|^\\W*(?:sure|of course|okay|will do)\\W*$`,
  "i",
);
/** An offer is no announcement. */
const offer = /\?|\b(?:if you|jika|kalau)\b/i;

/** Whether a sentence outside of code announces work or, where nothing was asked, claims it. */
const announces = (text: string, asks: boolean): boolean =>
  text
    .replace(/^(```|~~~)[\s\S]*?^\1/gm, "")
    .split(/(?<=[.!?:])\s|\n/)
    .some((said) => (announcement.test(said) || (!asks && claim.test(said))) && !offer.test(said));

const opening = "(?:(?:and|but|so|ok|okay|now|then|also|please|dan|lalu|tolong)\\W+)*";
const example = "(?:show|give) me (?:how|why|what|where|an example|some examples)";
const asking = `why|how|what|where|who|which|when|is|are|does|did|explain|describe|tell me|${example}|apa|kenapa|bagaimana|jelaskan`;
const question = new RegExp(`\\?|^\\W*${opening}(?:${asking})\\b`, "i");

export const asksToKnow = (request: string): boolean => question.test(request);

/** Whether what the user said to a plan or a diff is a question. "when it is empty, return 0" is not: it is a wish. */
export const isQuestion = (words: string): boolean =>
  /\?\s*$|^\W*(?:why|how|what|who|apa|kenapa|bagaimana)\b/i.test(words);

/** `answer`: prose that answers the request; `words`: it announces or claims work, or shows code; null: no prose. */
export function readProse(text: string, request: string): "answer" | "words" | null {
  const { actions } = parseScript(text, { stop: "end", read: () => null, tag: "EOT" });
  const { seen } = readLooseReply(text, [], () => null);
  const hasCode = /\bfenced\b/.test(seen);
  if (actions.length > 0 || text.trim() === "" || (seen !== "" && !hasCode)) return null;
  const asks = asksToKnow(request);
  return announces(text, asks) || (hasCode && !asks) ? "words" : "answer";
}
