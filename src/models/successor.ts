/** Which model takes the place of one that its provider no longer serves: the one it names, or the nearest of its kind. */
import type { ListedModel } from "../core/listed-model.ts";
import { suggestSome } from "../core/suggest.ts";
import { findModel, knownModels, priceOn } from "./catalogue.ts";

/** The model that a refusal names: "Please update your code to use models/gemini-3.5-flash-lite"; null: it names none. */
export function namedSuccessor(said: string): string | null {
  // A name has a number in it.
  const [, name = null] =
    /\buse (?:the )?(?:model )?["'`]?(?:models\/)?([a-z~][\w./:-]{0,99}\d[\w/:-]{0,99})/i.exec(said) ?? [];
  return name;
}

/** The models of a provider that a new user may get on `day`: as its server lists them, or else as the catalogue knows. */
export function namesOnOffer(provider: string, listed: readonly ListedModel[] | null, day: string): readonly string[] {
  const all = listed ?? knownModels.filter((each) => each.provider === provider);
  return all.filter(({ name, ends }) => isOnOffer(provider, name, ends ?? null, day)).map(({ name }) => name);
}

function isOnOffer(provider: string, name: string, ends: string | null, day: string): boolean {
  const known = findModel(provider, name);
  return (ends ?? known?.ends ?? "9") > day && known?.closed === undefined;
}

/** Up to three names near to a mistyped one; a name without its maker is compared with what follows the maker's. */
export function nearNames(name: string, names: readonly string[]): readonly string[] {
  const near = suggestSome(name, names, 3);
  if (near.length > 0 || name.includes("/")) return near;
  const bare = (each: string): string => each.replace(/^.*\//, "");
  const kinds = suggestSome(name, [...new Set(names.map(bare))], 3);
  return kinds.flatMap((kind) => names.find((each) => bare(each) === kind) ?? []);
}

/** The parts of a name: its numbers are a version, `preview`, `latest` and dates say nothing of the kind. */
const partsOf = (name: string): readonly string[] => name.toLowerCase().split(/[-:_]/);
const isVersion = (part: string): boolean => /^v?\d{1,3}(\.\d+)*[a-z]?$/.test(part);
const isRemark = (part: string): boolean => /^(latest|preview|exp|experimental|stable|\d{4,8})$/.test(part);

/** "gemini-3.5-flash-lite" is a gemini-flash-lite, "claude-sonnet-5-5" a claude-sonnet, "o3" an o. */
const kindOf = (name: string): string =>
  partsOf(name)
    .filter((part) => !isVersion(part) && !isRemark(part))
    .join("-")
    .replace(/\d+$/, "");

const versionOf = (name: string): readonly number[] =>
  partsOf(name)
    .filter((part) => !isRemark(part))
    .flatMap((part) => part.match(/\d+/g) ?? [])
    .map(Number);

function compareVersions(a: readonly number[], b: readonly number[]): number {
  const at = a.findIndex((number, index) => number !== b[index]);
  return at < 0 ? a.length - b.length : (a[at] ?? 0) - (b[at] ?? -1);
}

/** How far two prices of output are apart, as the logarithm of their ratio; an unknown one counts as three times the other. */
const distanceOf = (price: number | null, from: number | null): number =>
  price === null || from === null ? Math.log(3) : Math.abs(Math.log((price + 0.01) / (from + 0.01)));

/**
 * The model to use instead; null: none of the same kind is known. `listed` null: what its server lists is not known, so
 * the catalogue counts.
 */
export function findSuccessor(
  { provider, name, said }: { readonly provider: string; readonly name: string; readonly said: string },
  listed: readonly ListedModel[] | null,
  day: string,
): string | null {
  const names = namesOnOffer(provider, listed, day).filter((each) => each !== name);
  const named = namedSuccessor(said);
  const isOfMaker = named !== null && partsOf(named)[0] === partsOf(name)[0];
  if (isOfMaker && named !== name && (listed === null || names.includes(named))) return named;
  const priceOf = (each: string): number | null => {
    const known = findModel(provider, each);
    const price = listed?.find((row) => row.name === each)?.price ?? (known === null ? null : priceOn(day, known));
    return price?.output ?? null;
  };
  const wanted = priceOf(name) ?? findModel(provider, name)?.prices.at(-1)?.output ?? null;
  const rank = (each: string) => ({
    name: each,
    isStable: !partsOf(each).some(isRemark),
    isNewer: compareVersions(versionOf(each), versionOf(name)) >= 0,
    distance: distanceOf(priceOf(each), wanted),
  });
  const ranked = names
    .filter((each) => kindOf(each) === kindOf(name))
    .map(rank)
    .toSorted(
      (a, b) =>
        Number(b.isStable) - Number(a.isStable) ||
        Number(b.isNewer) - Number(a.isNewer) ||
        a.distance - b.distance ||
        compareVersions(versionOf(b.name), versionOf(a.name)),
    );
  return ranked[0]?.name ?? null;
}
