/** Folds a name as a lenient file system or reader would: names that fold alike are the same in every table of names. Pure. */

/** Lower case, compatibility forms unified, invisible characters and what some file systems drop at the end left out. */
export function foldName(name: string): string {
  if (/^(?:[\w.-]*[\w-])?$/.test(name)) return name.toLowerCase();
  const seen = name
    .replace(/\p{Default_Ignorable_Code_Point}/gu, "")
    .normalize("NFKC")
    .toLowerCase()
    .normalize("NFKC");
  const plain = seen.replace(/\p{Default_Ignorable_Code_Point}/gu, "").trimStart();
  return (plain.split(":")[0] ?? "").replace(/[\s.]+$/, "");
}
