/** Numbers of system errors, equal on all supported machines. `node:os` has them too, but takes 0.2 ms to load. */
export const errno = {
  ENOENT: 2,
  EINTR: 4,
  EIO: 5,
  EAGAIN: 11,
  EINVAL: 22,
  ENAMETOOLONG: 36,
  ENOSYS: 38,
  ENODATA: 61,
  ENOTSUP: 95,
} as const;
