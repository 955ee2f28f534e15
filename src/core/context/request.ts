/** Takes a request apart: what a person says in it, and the code that is only an example. Pure. */

const fenced = /^([ \t]*)(`{3,}|~{3,})[^\n]*\n([\s\S]*?)(?:^[ \t]*\2[^\n]*$|$(?![\s\S]))/gm;
/** Lines with four spaces or a tab in front, behind an empty line. */
const indented = /(?<=\n[ \t]*\n|^)(?:(?: {4}|\t)[^\n]*(?:\n|$(?![\s\S])))+/g;
const stringInCode = /"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'/g;
/** In a sentence, quotes around one identifier or path name it; around anything else they hold a text. */
const textInProse = /(?<![\p{L}\p{N}])(["'])(?!\1)((?:(?!\1)[^\n]){1,200})\1(?![\p{L}\p{N}])/gu;
const isName = (text: string) => /^[\p{L}\p{N}_$.:#/\\@()<>*-]+$/u.test(text);

const maxRequest = 16_000;

/** Splits the request. What looks like code beside its sentences is found by fences and by its indentation. */
export function splitRequest(whole: string) {
  const request = whole.slice(0, maxRequest);
  const blocks: string[] = [];
  const keep = (block: string): string => {
    blocks.push(block.replace(stringInCode, " "));
    return "\n";
  };
  const prose = request
    .replace(fenced, (_, __, ___, block: string) => keep(block))
    .replace(indented, keep)
    .replace(textInProse, (found, _, text: string) => (isName(text) ? found : " "));
  return {
    /** The sentences, without blocks of code and without texts in quotes. */
    prose: /\p{L}/u.test(prose) ? prose : request,
    /** The blocks of code, without the strings in them; "": there are none. */
    code: blocks.join("\n"),
  };
}
