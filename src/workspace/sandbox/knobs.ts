/** Reads settings of this machine that explain why it refuses a step of the sandbox. */
import { textOfSystem } from "../../system/lookups.ts";

export interface Knobs {
  /** Debian's setting against user namespaces of ordinary users is active. */
  readonly isCloneOff: boolean;
  /** AppArmor removes capabilities in user namespaces, as on Ubuntu. */
  readonly isRestricted: boolean;
  /** AppArmor's profile of this process; null: none. */
  readonly profile: string | null;
  /** pai itself runs under a seccomp filter, as in containers. */
  readonly isFiltered: boolean;
}

export function readKnobs(): Knobs {
  const isOn = (name: string, value: string) => read(`/proc/sys/kernel/${name}`) === value;
  const [, profile = null] = /^(\S.*) \(\w+\)$/.exec(read("/proc/self/attr/current")) ?? [];
  return {
    isCloneOff: isOn("unprivileged_userns_clone", "0"),
    isRestricted: isOn("apparmor_restrict_unprivileged_userns", "1"),
    profile,
    isFiltered: /^Seccomp:\s*2$/m.test(read("/proc/self/status")),
  };
}

const read = (path: string): string => textOfSystem(path).replace(/\0/g, "").trim();
