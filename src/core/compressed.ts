/** Names of files that hold compressed text, and names of logs. */
import { nameOf } from "./path.ts";

/** How a file is compressed, by its name; null: it is not, or it is an archive of several files. */
export function compressionOf(path: string): "gzip" | "zstd" | null {
  const [, end] = /(?<!\.tar)\.(gz|zst)$/i.exec(path) ?? [];
  return end === undefined ? null : end.toLowerCase() === "gz" ? "gzip" : "zstd";
}

/** With what rotation adds: `.1`, `-20261101.gz`. */
const logShape =
  /(?:\.(?:log|err|out)|^(?:syslog|messages|kern|auth|daemon|mail|dmesg|secure|cron|boot)(?:\.(?:info|warn))?|^(?:access|error)_log)(?:[.-](?:\d[\w-]*|old|prev|gz|zst|xz|bz2))*$/i;

/** Whether a file is a log by its name: `app.log.2.gz`, `syslog`. */
export const isLogName = (path: string): boolean => logShape.test(nameOf(path as never));
