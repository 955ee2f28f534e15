/** HTML and XML for colours. No two ways to read one text: patterns that have them take for ever over a tag left open. */
import type { ShjLanguageData } from "@speed-highlight/core/tokenize";

export const markup: ShjLanguageData = [
  { type: "cmnt", match: /<!--[\s\S]*?(?:-->|$)/g },
  { match: /(?<=<script\b[^<>]*>)[\s\S]+?(?=<\/script|$)/gi, sub: "js" },
  { match: /(?<=<style\b[^<>]*>)[\s\S]+?(?=<\/style|$)/gi, sub: "css" },
  {
    match: /<[!?/]?[a-z](?:[^<>"']|"[^"]*"|'[^']*')*>/gi,
    sub: [
      { type: "str", match: /"[^"]*"|'[^']*'|(?<==)[^\s"'<>]+/g },
      { type: "class", match: /(?<=\s)[^\s"'<>=/?]+/g },
    ],
  },
  { type: "num", match: /&#?\w{1,31};/g },
];
