/** Says why a level of the sandbox is not reached, and what would mend that. */
import type { SetupFailure } from "./launch.ts";

interface Reason {
  readonly why: string;
  readonly mend: string | null;
}

const kernelTooOld = (what: string, version: string): Reason => ({
  why: `this kernel has no ${what} (${version})`,
  mend: null,
});

const container = "run pai outside the container, or let it make user namespaces (--security-opt seccomp=unconfined)";
const apparmor = "install bubblewrap, or: sysctl kernel.apparmor_restrict_unprivileged_userns=0";

/** The first rule whose step begins like the one that failed, and whose errors hold its error. */
const rules: readonly (readonly [step: string, errnos: string, reason: Reason])[] = [
  ["start", "ENOSYS", { why: "programs in memory are not possible here (memfd, FFI)", mend: null }],
  ["start", "EACCES EPERM", { why: "programs in memory may not be run", mend: "sysctl vm.memfd_noexec=0" }],
  ["unshare", "ENOSPC", { why: "no more user namespaces are allowed", mend: "sysctl user.max_user_namespaces=10000" }],
  ["unshare", "EPERM EACCES", { why: "namespaces are refused (container or sysctl)", mend: container }],
  ["unshare", "EINVAL ENOSYS", kernelTooOld("user namespaces", "CONFIG_USER_NS")],
  ["/proc/self/", "EACCES EPERM", { why: "AppArmor takes the rights in a user namespace away", mend: apparmor }],
  ["private mounts", "EACCES EPERM", { why: "AppArmor takes the rights in a user namespace away", mend: apparmor }],
  ["take ", "ENOSYS", kernelTooOld("open_tree", "Linux 5.2")],
  ["read-only disk", "ENOSYS", kernelTooOld("mount_setattr", "Linux 5.12")],
  [
    "read-only disk",
    "EINVAL EPERM EBUSY",
    { why: "a mount of this machine cannot be made read-only (autofs?)", mend: null },
  ],
  ["proc", "EPERM EACCES", { why: "/proc is masked (container)", mend: container }],
  ["bubblewrap", "", { why: "bubblewrap could not set it up", mend: null }],
  ["overlay over ", "", { why: "a mount in the project cannot be shown on a copy", mend: null }],
  ["overlay of the workspace", "", { why: "no overlay can be laid on this file system", mend: null }],
  ["cache ", "", { why: "no overlay can be laid on a cache", mend: null }],
  [
    "landlock_create_ruleset",
    "ENOSYS EOPNOTSUPP",
    { why: "this kernel has no Landlock", mend: "boot with lsm=landlock,…" },
  ],
  ["seccomp", "EINVAL ENOSYS", kernelTooOld("seccomp filters", "CONFIG_SECCOMP_FILTER")],
];

/** One sentence: what failed, why that usually is, what helps. */
export function explainFailure({ step, errno }: SetupFailure): string {
  const reason = rules.find(
    ([start, errnos]) => step.startsWith(start) && (errnos === "" || errnos.split(" ").includes(errno)),
  )?.[2];
  const what = `${step}: ${errno}`;
  if (reason === undefined) return what;
  return `${reason.why} (${what})${reason.mend === null ? "" : `; ${reason.mend}`}`;
}
