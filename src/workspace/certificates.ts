/** Tells public certificates from keys: their files have the same ending, and only their content differs. */
import { orNull } from "../core/error.ts";
import type { RelPath } from "../core/path.ts";
import type { Root } from "./confine.ts";

const maxBytes = 1024 * 1024;

function isCertificate(text: string): boolean {
  const labels = [...text.matchAll(/-----BEGIN ([^\n-]*)-----/g)].map(([, label]) => label);
  return labels.length > 0 && labels.every((label) => label === "CERTIFICATE");
}

/** For `PathRules`. A file is read each time that it is asked about. */
export const openCertificates = (root: Root) => ({
  has(path: string): boolean {
    if (!path.toLowerCase().endsWith(".pem")) return false;
    // null: no file, too large, or a second name of something closed.
    const file = orNull(() => root.readBytes(path as RelPath, maxBytes));
    return file !== null && isCertificate(Buffer.from(file.bytes).toString("latin1"));
  },
});
