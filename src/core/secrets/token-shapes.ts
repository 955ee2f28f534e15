/** Patterns of tokens that name their maker by how they begin. */
import { providers } from "../providers.ts";

/** How a token begins and how it goes on, as patterns. */
type TokenShape = readonly [kind: string, begins: string, goesOn: string];

/** The longest prefix first: several begin with `sk-`. */
const providerKeys = providers
  .flatMap(({ keyShape }) => (keyShape === null ? [] : keyShape.prefixes.map((prefix) => ({ ...keyShape, prefix }))))
  .toSorted((a, b) => b.prefix.length - a.prefix.length)
  .map(({ kind, prefix, goesOn }): TokenShape => [kind, prefix.replaceAll(".", "\\."), goesOn]);

const shapes: readonly TokenShape[] = [
  ...providerKeys,
  ["Google token", "ya29\\.", "[\\w-]{20,}"],
  ["GitHub token", "gh[pousr]_", "[A-Za-z0-9]{30,}"],
  ["GitHub token", "github_pat_", "\\w{22,}"],
  ["GitLab token", "glpat-", "[\\w-]{20,}"],
  ["Slack token", "xox[a-z]-", "[A-Za-z0-9-]{10,}"],
  ["Slack token", "xapp-", "[A-Za-z0-9-]{10,}"],
  ["AWS key id", "A[KS]IA", "[0-9A-Z]{16}(?![0-9A-Za-z])"],
  ["npm token", "npm_", "[A-Za-z0-9]{36,}"],
  ["PyPI token", "pypi-AgE", "[\\w-]{40,}"],
  ["Hugging Face token", "hf_", "[A-Za-z0-9]{30,}"],
  ["Groq key", "gsk_", "[A-Za-z0-9]{30,}"],
  ["Stripe key", "[rs]k_(?:live|test)_", "[A-Za-z0-9]{16,}"],
  ["SendGrid key", "SG\\.", "[\\w-]{20,24}\\.[\\w-]{40,}"],
  ["JSON web token", "eyJ", "[\\w-]{8,1000}\\.eyJ[\\w-]{8,8000}\\.[\\w-]{10,}"],
];

/** A token of any kind. */
export const anyToken = new RegExp(shapes.map(([, begins, goesOn]) => begins + goesOn).join("|"), "g");

const kinds = shapes.map(([kind, begins, goesOn]) => ({ kind, shape: new RegExp(`^(?:${begins}${goesOn})`) }));
/** Which kind a token is. */
export const kindOfToken = (token: string): string => kinds.find(({ shape }) => shape.test(token))?.kind ?? "API key";
