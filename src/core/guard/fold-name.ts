/** Folds a name as a lenient file system or reader would; tables of names compare folded names. Pure. */

/** Lower case (`ß` is `ss` to APFS and ext4), NFKC, without invisible characters and endings that file systems drop. */
export function foldName(name: string): string {
  if (/^(?:[\w.-]*[\w-])?$/.test(name)) return name.toLowerCase();
  const seen = name
    .replace(/\p{Default_Ignorable_Code_Point}/gu, "")
    .normalize("NFKC")
    .toUpperCase()
    .toLowerCase()
    .normalize("NFKC");
  const plain = seen.replace(/\p{Default_Ignorable_Code_Point}/gu, "").trimStart();
  return (plain.split(":")[0] ?? "").replace(/[\s.]+$/, "");
}
