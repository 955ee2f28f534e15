/** Numbers of the system calls that a tape makes, for x64 and arm64. */
import type { Machine } from "./machine-code.ts";

const numbers = {
  write: [1, 64],
  close: [3, 57],
  rt_sigprocmask: [14, 135],
  ioctl: [16, 29],
  socket: [41, 198],
  clone: [56, 220],
  execve: [59, 221],
  kill: [62, 129],
  fcntl: [72, 25],
  fchdir: [81, 50],
  chdir: [80, 49],
  capset: [126, 91],
  prctl: [157, 167],
  mount: [165, 40],
  sethostname: [170, 161],
  exit_group: [231, 94],
  openat: [257, 56],
  mkdirat: [258, 34],
  mknodat: [259, 33],
  symlinkat: [266, 36],
  unshare: [272, 97],
  dup3: [292, 24],
  prlimit64: [302, 261],
  seccomp: [317, 277],
  open_tree: [428, 428],
  move_mount: [429, 429],
  close_range: [436, 436],
  mount_setattr: [442, 442],
  landlock_create_ruleset: [444, 444],
  landlock_add_rule: [445, 445],
  landlock_restrict_self: [446, 446],
} as const;

export type CallName = keyof typeof numbers;

export const numberOf = (name: CallName, machine: Machine): number => numbers[name][machine === "x64" ? 0 : 1];
