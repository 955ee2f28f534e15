/** Numbers of system errors. They are the same on every machine that pai runs on; `node:os`, which has them too, takes 0.2 ms to load. */
export const errno = {
  EINTR: 4,
  EIO: 5,
  EAGAIN: 11,
  EINVAL: 22,
  ENAMETOOLONG: 36,
  ENOSYS: 38,
  ENODATA: 61,
  ENOTSUP: 95,
} as const;
