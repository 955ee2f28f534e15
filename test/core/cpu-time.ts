/** Measures work so that a busy machine does not fail a test. */

/** Processor time in milliseconds. */
export function measureCpu(work: () => void): number {
  const before = process.cpuUsage();
  work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}
