/*
 * Attacks on what a sandbox must keep apart, and work that must go on inside it. Compiled by scripts/prove-sandbox.ts.
 * probe WORLD VICTIM TCP_PORT UDP_PORT USER_ID [NAME ...]: one fork for each, one line "name yes|no ERRNO" each.
 * "probe listen NAME [apart]" is a service until its input ends; "probe serve USER_ID" keeps, until its input ends, what some of the attacks look for; "probe" alone lists the names.
 * An attack answers yes when it got what it wanted; work whose name begins with a plus answers yes when it was done.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <linux/vm_sockets.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/ptrace.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <time.h>
#include <unistd.h>

struct probe { const char *name; int (*run)(void); };
#define PROBE(id, label) \
  static int id(void); \
  static const struct probe id##_entry __attribute__((used, section("probes"), aligned(8))) = {label, id}; \
  static int id(void)
#define ATTACK(id) PROBE(id, #id)
#define WORK(id) PROBE(work_##id, "+" #id)

static const char *world;
static pid_t victim;
static int tcp_port, udp_port, user;
static char buffer[65536];

static const char *at(const char *path) {
  static char all[8][4096];
  static int n;
  n = (n + 1) & 7;
  snprintf(all[n], sizeof all[n], "%s/%s", world, path);
  return all[n];
}
static const char *of_victim(const char *name) {
  static char path[256];
  snprintf(path, sizeof path, "/proc/%d/%s", victim, name);
  return path;
}
static int put(const char *path, int flags) {
  int fd = open(path, O_WRONLY | flags, 0644);
  if (fd < 0) return 0;
  int done = write(fd, "evil\n", 5) == 5;
  close(fd);
  return done;
}
static int holds(const char *path, const char *text) {
  int fd = open(path, O_RDONLY);
  if (fd < 0) return 0;
  ssize_t length = read(fd, buffer, sizeof buffer);
  close(fd);
  return length > 0 && memmem(buffer, length, text, strlen(text)) != NULL;
}
static struct sockaddr_in loopback(int port) {
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(port), .sin_addr = {htonl(INADDR_LOOPBACK)}};
  return address;
}
static int reach(int port) {
  struct sockaddr_in address = loopback(port);
  int fd = socket(AF_INET, SOCK_STREAM, 0);
  return fd >= 0 && connect(fd, (void *)&address, sizeof address) == 0;
}
static int reach_unix(const char *path, int abstract) {
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  int fd = socket(AF_UNIX, SOCK_STREAM, 0);
  strncpy(address.sun_path + abstract, path, sizeof address.sun_path - 2);
  return fd >= 0 && connect(fd, (void *)&address, abstract ? 3 + strlen(path) : sizeof address) == 0;
}
static int child_ends_well(pid_t child) {
  int status;
  return child > 0 && waitpid(child, &status, 0) == child && status == 0;
}

/* Files outside */
ATTACK(write_outside) { return put(at("outside/f"), 0); }
ATTACK(create_outside) { return put(at("outside/new"), O_CREAT); }
ATTACK(append_start_file_of_shell) { return put(at("home/.bashrc"), O_APPEND); }
ATTACK(write_through_link) { return put(at("ws/link"), 0); }
ATTACK(write_through_hard_link) { unlink(at("ws/h")); return link(at("outside/f"), at("ws/h")) == 0 && put(at("ws/h"), 0); }
ATTACK(rename_into_workspace) { return rename(at("outside/mv"), at("ws/mv")) == 0; }
ATTACK(rename_out_of_workspace) { put(at("ws/o"), O_CREAT); return rename(at("ws/o"), at("outside/o")) == 0; }
ATTACK(exchange_names) { put(at("ws/e"), O_CREAT); return syscall(SYS_renameat2, AT_FDCWD, at("ws/e"), AT_FDCWD, at("outside/x"), 2) == 0; }
ATTACK(truncate_outside) { return truncate(at("outside/t"), 0) == 0; }
ATTACK(chmod_outside) { return chmod(at("outside/f"), 0777) == 0; }
ATTACK(chown_outside) { return chown(at("outside/f"), getuid(), getgid()) == 0; }
ATTACK(touch_outside) { return utimensat(AT_FDCWD, at("outside/f"), NULL, 0) == 0; }
ATTACK(attribute_outside) { return setxattr(at("outside/f"), "user.x", "1", 1, 0) == 0; }
ATTACK(truncate_by_reading) { int fd = open(at("outside/t"), O_RDONLY | O_TRUNC); return fd >= 0; }
ATTACK(create_by_openat2) { struct { unsigned long long flags, mode, resolve; } how = {O_WRONLY | O_CREAT, 0644, 0}; return syscall(437, AT_FDCWD, at("outside/by-openat2"), &how, sizeof how) >= 0; }
ATTACK(chmod_by_fchmodat2) { return syscall(452, AT_FDCWD, at("outside/f"), 0666, 0) == 0; }
ATTACK(attribute_by_setxattrat) { struct { unsigned long long value; unsigned size, flags; } how = {(unsigned long long)"1", 1, 0}; return syscall(463, AT_FDCWD, at("outside/f"), 0, "user.y", &how, sizeof how) == 0; }
ATTACK(flags_of_file_outside) { int fd = open(at("outside/f"), O_RDONLY), flags = 0; if (fd < 0 || ioctl(fd, 0x80086601, &flags) != 0) return 0; flags ^= 0x80; int done = ioctl(fd, 0x40086602, &flags) == 0; flags ^= 0x80; if (done) ioctl(fd, 0x40086602, &flags); return done; }
ATTACK(lease_on_file_outside) { int fd = open(at("outside/f"), O_RDONLY); int done = fd >= 0 && fcntl(fd, F_SETLEASE, F_RDLCK) == 0; if (done) fcntl(fd, F_SETLEASE, F_UNLCK); return done; }
ATTACK(write_through_old_descriptor_path) { char path[64]; int fd = open(at("outside/f"), O_RDONLY); snprintf(path, sizeof path, "/proc/self/fd/%d", fd); return fd >= 0 && put(path, 0); }
ATTACK(unlink_outside) { return unlink(at("outside/u")) == 0; }
ATTACK(mkdir_outside) { return mkdir(at("outside/d"), 0755) == 0; }
ATTACK(symlink_outside) { return symlink("/etc/passwd", at("outside/l")) == 0; }
ATTACK(fifo_outside) { return mkfifo(at("outside/p"), 0644) == 0; }
ATTACK(socket_file_outside) {
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  int fd = socket(AF_UNIX, SOCK_STREAM, 0);
  strncpy(address.sun_path, at("outside/s"), sizeof address.sun_path - 1);
  unlink(address.sun_path);
  return fd >= 0 && bind(fd, (void *)&address, sizeof address) == 0;
}
ATTACK(open_by_parent_folder) { int fd = open(at("ws/../outside/f"), O_WRONLY); return fd >= 0; }
ATTACK(write_by_proc_cwd_of_victim) { return put(of_victim("cwd/outside/f"), 0); }
ATTACK(write_by_proc_root_of_victim) { char path[4200]; snprintf(path, sizeof path, "/proc/%d/root%s", victim, at("outside/f")); return put(path, 0); }

/* The repository */
ATTACK(git_hook) { return put(at("ws/.git/hooks/pre-commit"), O_CREAT); }
ATTACK(git_config) { return put(at("ws/.git/config"), O_APPEND); }
ATTACK(git_common_folder) { return put(at("ws/.git/commondir"), O_CREAT); }
ATTACK(git_head_removed) { return unlink(at("ws/.git/HEAD")) == 0; }
ATTACK(git_moved_away) { int done = rename(at("ws/.git"), at("ws/g2")) == 0; if (done) rename(at("ws/g2"), at("ws/.git")); return done; }
ATTACK(git_hooks_renamed) { int done = rename(at("ws/.git/hooks"), at("ws/.git/h2")) == 0; if (done) rename(at("ws/.git/h2"), at("ws/.git/hooks")); return done; }
ATTACK(git_of_submodule) { return put(at("ws/sub/.git/config"), O_APPEND); }

/* Secrets */
ATTACK(read_env_file) { return holds(at("ws/.env"), "canary"); }
ATTACK(read_env_by_hard_link) { unlink(at("ws/e2")); return link(at("ws/.env"), at("ws/e2")) == 0 && holds(at("ws/e2"), "canary"); }
ATTACK(read_env_by_old_hard_link) { return holds(at("ws/config.txt"), "canary"); }
ATTACK(read_env_renamed) { int done = rename(at("ws/.env"), at("ws/e3")) == 0 && holds(at("ws/e3"), "canary"); rename(at("ws/e3"), at("ws/.env")); return done; }
ATTACK(read_env_of_folder_that_is_not_listed) { chmod(at("ws/shut"), 0700); return holds(at("ws/shut/.env"), "canary"); }
ATTACK(read_env_of_folder_moved_away) { int done = rename(at("ws/held"), at("ws/free")) == 0; if (done) rename(at("ws/free"), at("ws/held")); return done; }
ATTACK(read_key_of_workspace) { return holds(at("ws/deep/id_rsa"), "canary"); }
ATTACK(read_secret) { return holds(at("secret/key"), "canary"); }
ATTACK(read_secret_by_proc_root) { char path[4200]; snprintf(path, sizeof path, "/proc/%d/root%s", victim, at("secret/key")); return holds(path, "canary"); }
ATTACK(read_secret_by_proc_cwd) { return holds(of_victim("cwd/secret/key"), "canary"); }
ATTACK(environ_of_victim) { return holds(of_victim("environ"), "CANARY"); }
ATTACK(command_line_of_victim) { return holds(of_victim("cmdline"), "sleep"); }
ATTACK(environ_of_parents) {
  for (pid_t pid = getppid(), n = 0; pid > 1 && n < 8; n++) {
    char path[64]; snprintf(path, sizeof path, "/proc/%d/environ", pid);
    if (holds(path, "PROVE_CANARY")) return 1;
    snprintf(path, sizeof path, "/proc/%d/stat", pid);
    int fd = open(path, O_RDONLY); if (fd < 0) return 0;
    ssize_t length = read(fd, buffer, 4095); close(fd); if (length <= 0) return 0;
    buffer[length] = 0; char *end = strrchr(buffer, ')'); char state; if (!end || sscanf(end + 2, "%c %d", &state, &pid) != 2) return 0;
  }
  return 0;
}

/* Somebody outside puts new files there all the while (write by another name, then rename). */
static int appears(const char *path) { for (int n = 0; n < 120; n++) { if (holds(path, "canary")) return 1; usleep(5000); } return 0; }
ATTACK(read_secret_of_home_replaced_meanwhile) { return appears(at("home/.npmrc")); }
ATTACK(read_secret_of_home_made_meanwhile) { return appears(at("home/.netrc")); }

/* Rights that stay behind with a file */
static int has_identity(const char *path) { struct stat is; return stat(path, &is) == 0 && (is.st_mode & 06000) != 0; }
static const char *fresh(void) { unlink(at("ws/suid")); put(at("ws/suid"), O_CREAT); return at("ws/suid"); }
ATTACK(user_id_by_chmod) { const char *path = fresh(); chmod(path, 04755); return has_identity(path); }
ATTACK(group_id_by_chmod) { const char *path = fresh(); chmod(path, 02755); return has_identity(path); }
ATTACK(user_id_by_fchmod) { const char *path = fresh(); int fd = open(path, O_RDONLY); fchmod(fd, 04755); return has_identity(path); }
ATTACK(user_id_by_fchmodat) { const char *path = fresh(); fchmodat(AT_FDCWD, path, 04755, 0); return has_identity(path); }
ATTACK(user_id_by_fchmodat2) { const char *path = fresh(); syscall(452, AT_FDCWD, path, 04755, 0); return has_identity(path); }
ATTACK(user_id_by_open) { unlink(at("ws/suid")); open(at("ws/suid"), O_CREAT | O_WRONLY, 04755); return has_identity(at("ws/suid")); }
ATTACK(user_id_by_creat) { unlink(at("ws/suid")); syscall(SYS_creat, at("ws/suid"), 04755); return has_identity(at("ws/suid")); }
ATTACK(user_id_by_openat2) { unlink(at("ws/suid")); unsigned long long how[3] = {O_CREAT | O_WRONLY, 04755, 0}; syscall(437, AT_FDCWD, at("ws/suid"), how, sizeof how); return has_identity(at("ws/suid")); }
ATTACK(user_id_by_mknod) { unlink(at("ws/suid")); mknod(at("ws/suid"), S_IFREG | 04755, 0); return has_identity(at("ws/suid")); }
ATTACK(user_id_by_unnamed_file) { char path[64]; unlink(at("ws/suid")); int fd = open(at("ws"), O_TMPFILE | O_WRONLY, 04755); snprintf(path, sizeof path, "/proc/self/fd/%d", fd); linkat(AT_FDCWD, path, AT_FDCWD, at("ws/suid"), AT_SYMLINK_FOLLOW); return has_identity(at("ws/suid")); }
ATTACK(user_id_of_file_outside) { int done = chmod(at("outside/x"), 04755) == 0; if (done) chmod(at("outside/x"), 0644); return done; }

/* Other processes */
ATTACK(memory_of_victim) { return open(of_victim("mem"), O_RDWR) >= 0; }
ATTACK(descriptor_of_victim) { return open(of_victim("fd/0"), O_RDONLY) >= 0; }
ATTACK(signal_victim) { return kill(victim, SIGCONT) == 0; }
ATTACK(signal_everybody) { return kill(-1, 0) == 0 && kill(victim, 0) == 0; }
ATTACK(priority_of_victim) { return setpriority(0, victim, 5) == 0; }
ATTACK(limits_of_victim) { struct { unsigned long a, b; } limit; return syscall(SYS_prlimit64, victim, 7, NULL, &limit) == 0; }
ATTACK(trace_victim) { int done = ptrace(PTRACE_SEIZE, victim, 0, 0) == 0; if (done) ptrace(PTRACE_DETACH, victim, 0, 0); return done; }
ATTACK(trace_child) { pid_t child = fork(); if (child == 0) pause(); int done = ptrace(PTRACE_SEIZE, child, 0, 0) == 0; kill(child, SIGKILL); return done; }
ATTACK(trace_parent) { return ptrace(PTRACE_SEIZE, getppid(), 0, 0) == 0; }
ATTACK(memory_of_init) { return open("/proc/1/mem", O_RDWR) >= 0; }
ATTACK(read_memory_of_victim) { struct iovec a = {buffer, 8}, b = {(void *)buffer, 8}; return process_vm_readv(victim, &a, 1, &b, 1, 0) >= 0 || errno == EFAULT; }
ATTACK(take_descriptor_of_victim) { int fd = syscall(434, victim, 0); return fd >= 0 && syscall(438, fd, 0, 0) >= 0; }
ATTACK(set_limits_of_victim) { unsigned long limit[2]; return syscall(SYS_prlimit64, victim, 7, NULL, limit) == 0 && syscall(SYS_prlimit64, victim, 7, limit, NULL) == 0; }
ATTACK(input_priority_of_victim) { return syscall(SYS_ioprio_set, 1, victim, 0x4004) == 0; }
ATTACK(processors_of_victim) { unsigned long mask[16]; return syscall(SYS_sched_getaffinity, victim, sizeof mask, mask) > 0 && syscall(SYS_sched_setaffinity, victim, sizeof mask, mask) == 0; }
ATTACK(signal_victim_by_descriptor) { int fd = syscall(434, victim, 0); return fd >= 0 && syscall(424, fd, SIGCONT, NULL, 0) == 0; }
ATTACK(signal_group_of_victim) { pid_t group = getpgid(victim); return group > 0 && group != getpgrp() && kill(-group, SIGCONT) == 0; }
ATTACK(process_behind_output) { int peer = -1; socklen_t length = sizeof peer; return getsockopt(1, SOL_SOCKET, 77, &peer, &length) == 0 && peer >= 0; }
ATTACK(advise_victim) { int fd = syscall(434, victim, 0); struct iovec part = {buffer, 4096}; return fd >= 0 && (syscall(440, fd, &part, 1, 21, 0) >= 0 || errno == EFAULT || errno == EINVAL); }
ATTACK(oom_score_of_victim) { return put(of_victim("oom_score_adj"), 0) || errno == EINVAL; }
ATTACK(survive) {
  if (fork() == 0) {
    setsid();
    if (fork() == 0) { signal(SIGTERM, SIG_IGN); signal(SIGHUP, SIG_IGN); close(0); close(1); close(2); sleep(3); put(at("ws/survived"), O_CREAT); _exit(0); }
    _exit(0);
  }
  usleep(50000);
  return 0;
}

/* The network and sockets */
ATTACK(tcp_to_host) { return reach(tcp_port); }
ATTACK(udp_to_host) {
  struct sockaddr_in address = loopback(udp_port);
  struct timeval limit = {0, 300000};
  int fd = socket(AF_INET, SOCK_DGRAM, 0);
  if (fd < 0) return 0;
  setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
  return sendto(fd, "x", 1, 0, (void *)&address, sizeof address) == 1 && recv(fd, buffer, 10, 0) > 0;
}
ATTACK(see_ports_of_host) { struct sockaddr_in address = loopback(tcp_port); int fd = socket(AF_INET, SOCK_STREAM, 0); return fd >= 0 && bind(fd, (void *)&address, sizeof address) < 0 && errno == EADDRINUSE; }
ATTACK(raw_socket) { return socket(AF_INET, SOCK_RAW, 1) >= 0 && reach(tcp_port); }
ATTACK(raw_socket_opened) { return socket(AF_INET, SOCK_RAW, IPPROTO_ICMP) >= 0; }
ATTACK(packet_socket) { return socket(AF_PACKET, SOCK_RAW, 0x300) >= 0; }
ATTACK(links_of_host) {
  struct { struct nlmsghdr head; struct rtgenmsg body; } ask = {{sizeof ask, RTM_GETLINK, NLM_F_REQUEST | NLM_F_DUMP, 1, 0}, {AF_UNSPEC}};
  int fd = socket(AF_NETLINK, SOCK_RAW, 0), links = 0;
  if (fd < 0 || send(fd, &ask, sizeof ask, 0) < 0) return 0;
  ssize_t length = recv(fd, buffer, sizeof buffer, 0);
  for (struct nlmsghdr *each = (void *)buffer; NLMSG_OK(each, length); each = NLMSG_NEXT(each, length)) links += each->nlmsg_type == RTM_NEWLINK;
  return links > 1;
}
ATTACK(vsock) { return socket(AF_VSOCK, SOCK_STREAM, 0) >= 0; }
ATTACK(crypto_socket) { return socket(38, SOCK_SEQPACKET, 0) >= 0; }
ATTACK(bluetooth_socket) { return socket(31, SOCK_RAW, 1) >= 0; }
ATTACK(key_socket) { return socket(15, SOCK_RAW, 2) >= 0; }
ATTACK(io_uring) { static char parameters[256]; return syscall(425, 4, parameters) >= 0; }
ATTACK(socket_of_service) { return reach_unix(at("outside/docker.sock"), 0); }
ATTACK(socket_of_service_by_relative_name) { return reach_unix(at("outside/relative.sock"), 0); }
ATTACK(socket_of_service_of_other_network) { return reach_unix(at("outside/network.sock"), 0); }
ATTACK(abstract_socket_of_service) { char name[64]; snprintf(name, sizeof name, "pai-prove-%d", user); return reach_unix(name, 1); }

/* More rights */
ATTACK(new_user_namespace) { return unshare(CLONE_NEWUSER) == 0; }
ATTACK(new_mount_namespace) { return unshare(CLONE_NEWNS) == 0; }
ATTACK(clone_user_namespace) { pid_t child = syscall(SYS_clone, CLONE_NEWUSER | SIGCHLD, 0, 0, 0, 0); if (child == 0) _exit(0); return child > 0; }
ATTACK(clone3_user_namespace) { unsigned long long how[11] = {CLONE_NEWUSER, 0, 0, 0, SIGCHLD}; pid_t child = syscall(435, how, 64); if (child == 0) _exit(0); return child > 0; }
ATTACK(enter_namespace_of_victim) { int fd = open(of_victim("ns/net"), O_RDONLY); return fd >= 0 && setns(fd, 0) == 0; }
ATTACK(mount_memory) { int done = mount("none", "/mnt", "tmpfs", 0, 0) == 0; if (done) umount("/mnt"); return done; }
ATTACK(unmount_a_mask) { return umount2(at("ws/.env"), MNT_DETACH) == 0 && holds(at("ws/.env"), "canary"); }
ATTACK(remount_writable) { return mount(0, "/", 0, MS_REMOUNT | MS_BIND, 0) == 0; }
ATTACK(bind_mount) { int done = mount(at("ws"), "/mnt", 0, MS_BIND, 0) == 0; if (done) umount("/mnt"); return done; }
ATTACK(clone_tree) { return syscall(428, AT_FDCWD, "/", 1) >= 0; }
ATTACK(open_file_system) { return syscall(430, "tmpfs", 0) >= 0; }
ATTACK(change_mount_attributes) { static unsigned long long how[4] = {0, 1, 0, 0}; return syscall(442, AT_FDCWD, "/", 0, how, 32) == 0; }
ATTACK(change_root) { return chroot(at("ws")) == 0; }
ATTACK(suid_gain) { return prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 0; }
ATTACK(capability_left) {
  static const int harmless[] = {0, 1, 3, 4};
  for (int each = 0; each <= 40; each++) {
    int ours = 0;
    for (unsigned n = 0; n < sizeof harmless / sizeof *harmless; n++) ours |= harmless[n] == each;
    if (!ours && prctl(PR_CAPBSET_READ, each, 0, 0, 0) == 1 && getuid() == 0) return 1;
  }
  return 0;
}
ATTACK(call_of_32_bits) {
#ifdef __x86_64__
  int result;
  __asm__ volatile("int $0x80" : "=a"(result) : "a"(20) : "memory");
  return result > 0;
#else
  return 0;
#endif
}
ATTACK(call_of_x32) { return syscall(0x40000000 | 39) > 0; }

/* The machine */
ATTACK(make_disk) { unlink(at("ws/disk")); return mknod(at("ws/disk"), S_IFBLK | 0600, makedev(254, 0)) == 0 && open(at("ws/disk"), O_RDONLY) >= 0; }
ATTACK(make_device_by_renaming) { struct stat is; put(at("ws/w1"), O_CREAT); return syscall(SYS_renameat2, AT_FDCWD, at("ws/w1"), AT_FDCWD, at("ws/w2"), 4) == 0 && stat(at("ws/w1"), &is) == 0 && S_ISCHR(is.st_mode); }
ATTACK(read_disk) { return open("/dev/vda", O_RDONLY) >= 0 || open("/dev/sda", O_RDONLY) >= 0; }
ATTACK(kernel_messages) { return open("/dev/kmsg", O_RDONLY) >= 0; }
ATTACK(kernel_log) { return syscall(SYS_syslog, 10, 0, 0) >= 0; }
ATTACK(core_pattern) { int fd = open("/proc/sys/kernel/core_pattern", O_RDWR); if (fd < 0) return 0; ssize_t length = read(fd, buffer, 200); lseek(fd, 0, 0); return write(fd, buffer, length) == length; }
ATTACK(system_request) { return open("/proc/sysrq-trigger", O_WRONLY) >= 0; }
ATTACK(kernel_settings) { return open("/proc/sys/vm/drop_caches", O_WRONLY) >= 0; }
ATTACK(devices_of_kernel) { return open("/sys/kernel/uevent_helper", O_WRONLY) >= 0 || open("/sys/power/state", O_WRONLY) >= 0; }
ATTACK(control_group) { int done = mkdir("/sys/fs/cgroup/pids/pai-prove", 0755) == 0 || mkdir("/sys/fs/cgroup/pai-prove", 0755) == 0; rmdir("/sys/fs/cgroup/pids/pai-prove"); rmdir("/sys/fs/cgroup/pai-prove"); return done; }
ATTACK(key_ring) { return syscall(SYS_keyctl, 0, -3, 1) >= 0; }
ATTACK(add_key) { return syscall(SYS_add_key, "user", "pai-prove", "x", 1, -2) >= 0; }
ATTACK(bpf_map) { static char how[128]; *(int *)how = 2; *(int *)(how + 4) = 4; *(int *)(how + 8) = 4; *(int *)(how + 12) = 1; return syscall(SYS_bpf, 0, how, 128) >= 0 || errno == EINVAL; }
ATTACK(performance_counters) { static char how[128]; *(int *)how = 1; *(int *)(how + 4) = 112; return syscall(SYS_perf_event_open, how, 0, -1, -1, 0) >= 0; }
ATTACK(page_faults_of_user) { return syscall(SYS_userfaultfd, 1) >= 0; }
ATTACK(load_module) { return syscall(SYS_init_module, buffer, 10, "") < 0 && errno != EPERM && errno != ENOSYS; }
ATTACK(watch_everything) { return syscall(SYS_fanotify_init, 0x200, 0) >= 0; }
ATTACK(change_attributes_of_tree) { static unsigned long long how[4] = {0, 1, 0, 0}; return syscall(467, AT_FDCWD, "/", 1, how, 32) >= 0; }
ATTACK(memory_of_kernel) { return open("/proc/kcore", O_RDONLY) >= 0 || open("/dev/mem", O_RDONLY) >= 0; }
ATTACK(virtual_machine_device) { return open("/dev/kvm", O_RDWR) >= 0; }
ATTACK(loop_device) { return open("/dev/loop-control", O_RDWR) >= 0; }
ATTACK(file_system_in_user_space) { return open("/dev/fuse", O_RDWR) >= 0; }
ATTACK(switches_of_machine) { return open("/proc/acpi/wakeup", O_WRONLY) >= 0 || open("/proc/scsi/scsi", O_WRONLY) >= 0 || open("/proc/mtrr", O_WRONLY) >= 0; }
ATTACK(open_by_handle) {
  static struct { struct file_handle head; char rest[128]; } handle;
  int id, folder = open(world, O_RDONLY | O_DIRECTORY);
  handle.head.handle_bytes = 128;
  return name_to_handle_at(AT_FDCWD, at("outside/f"), &handle.head, &id, 0) == 0 && open_by_handle_at(folder, &handle.head, O_RDONLY) >= 0;
}
ATTACK(type_for_the_user) {
  setsid();
  int fd = posix_openpt(O_RDWR | O_NOCTTY);
  if (fd < 0) return 0;
  grantpt(fd); unlockpt(fd);
  int terminal = open(ptsname(fd), O_RDWR);
  if (terminal < 0) return 0;
  ioctl(terminal, TIOCSCTTY, 0);
  return ioctl(terminal, TIOCSTI, "x") == 0;
}
ATTACK(terminal_of_pai) { int fd = open("/dev/tty", O_RDWR); return fd >= 0; }
ATTACK(shared_memory_of_others) { return open("/dev/shm/pai-prove-canary", O_RDONLY) >= 0; }
ATTACK(old_shared_memory_of_others) { return shmget(0x5a100 + user, 0, 0) >= 0; }
ATTACK(temporary_files_of_others) { struct stat stat_; return stat("/tmp/pai-prove-canary", &stat_) == 0; }
ATTACK(run_time_files_of_others) { struct stat stat_; return stat("/run/utmp", &stat_) == 0 || stat("/run/lock", &stat_) == 0; }
ATTACK(inherited_descriptor) { for (int fd = 3; fd < 1024; fd++) if (fcntl(fd, F_GETFD) >= 0) return 1; return 0; }
ATTACK(set_clock) { struct timespec now; clock_gettime(CLOCK_REALTIME, &now); return clock_settime(CLOCK_REALTIME, &now) == 0; }
ATTACK(set_host_name) { char name[99]; gethostname(name, sizeof name); return sethostname(name, strlen(name)) == 0; }
ATTACK(swap) { return syscall(SYS_swapoff, "/nonexistent") < 0 && errno != EPERM; }

/* Ordinary work */
WORK(write_in_workspace) { return put(at("ws/w"), O_CREAT); }
WORK(make_folder) { rmdir(at("ws/md")); return mkdir(at("ws/md"), 0755) == 0; }
WORK(rename_across_folders) { put(at("ws/r1"), O_CREAT); mkdir(at("ws/rd"), 0755); return rename(at("ws/r1"), at("ws/rd/r1")) == 0; }
WORK(link_in_workspace) { unlink(at("ws/sl")); return symlink("w", at("ws/sl")) == 0; }
WORK(hard_link_in_workspace) { unlink(at("ws/hl")); put(at("ws/w2"), O_CREAT); return link(at("ws/w2"), at("ws/hl")) == 0; }
WORK(temporary_file) { const char *folder = getenv("TMPDIR"); char path[4096]; snprintf(path, sizeof path, "%s/x-%d", folder ? folder : "/tmp", getpid()); int done = put(path, O_CREAT); unlink(path); return done; }
WORK(null_device) { return put("/dev/null", 0); }
WORK(random_device) { int fd = open("/dev/urandom", O_RDONLY); return fd >= 0 && read(fd, buffer, 8) == 8; }
WORK(read_programs) { return open("/usr/bin/env", O_RDONLY) >= 0; }
WORK(read_settings_of_system) { return open("/etc/passwd", O_RDONLY) >= 0; }
WORK(socket_pair) { int pair[2]; return socketpair(AF_UNIX, SOCK_STREAM, 0, pair) == 0; }
WORK(pipeline_of_shell) { return system("/bin/sh -c 'echo a | cat >/dev/null'") == 0; }
WORK(own_process_files) { return open("/proc/self/status", O_RDONLY) >= 0; }
WORK(own_terminal) { int fd = posix_openpt(O_RDWR | O_NOCTTY); return fd >= 0 && !grantpt(fd) && !unlockpt(fd) && open(ptsname(fd), O_RDWR | O_NOCTTY) >= 0; }
WORK(loopback_server) {
  struct sockaddr_in address = loopback(0);
  socklen_t length = sizeof address;
  int server = socket(AF_INET, SOCK_STREAM, 0), client = socket(AF_INET, SOCK_STREAM, 0);
  if (server < 0 || bind(server, (void *)&address, length) || listen(server, 1)) return 0;
  getsockname(server, (void *)&address, &length);
  return connect(client, (void *)&address, length) == 0;
}
WORK(unix_server) {
  struct sockaddr_un address = {.sun_family = AF_UNIX, .sun_path = "us"};
  int server = socket(AF_UNIX, SOCK_STREAM, 0), client = socket(AF_UNIX, SOCK_STREAM, 0);
  if (chdir(at("ws")) != 0) return 0;
  unlink("us");
  return server >= 0 && bind(server, (void *)&address, sizeof address) == 0 && listen(server, 1) == 0 && connect(client, (void *)&address, sizeof address) == 0;
}
WORK(shared_memory) { int fd = open("/dev/shm/pai-own", O_CREAT | O_RDWR, 0600); unlink("/dev/shm/pai-own"); return fd >= 0; }
WORK(signal_own_child) { pid_t child = fork(); if (child == 0) { pause(); _exit(0); } return kill(child, SIGKILL) == 0; }
WORK(run_own_program) { put(at("ws/run.sh"), O_CREAT | O_TRUNC); int fd = open(at("ws/run.sh"), O_WRONLY | O_TRUNC); if (write(fd, "#!/bin/sh\nexit 0\n", 17) != 17) return 0; close(fd); chmod(at("ws/run.sh"), 0755); pid_t child = fork(); if (child == 0) { execl(at("ws/run.sh"), "run.sh", NULL); _exit(1); } return child_ends_well(child); }
WORK(map_memory_to_run) { return mmap(0, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) != MAP_FAILED; }

extern const struct probe __start_probes[], __stop_probes[];

/* What others keep: a service behind an abstract socket and a segment of shared memory. */
static int serve(void) {
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  int fd = socket(AF_UNIX, SOCK_STREAM, 0);
  int length = snprintf(address.sun_path + 1, sizeof address.sun_path - 1, "pai-prove-%d", user);
  int ready = fd >= 0 && bind(fd, (void *)&address, 3 + length) == 0 && listen(fd, 9) == 0;
  int memory = shmget(0x5a100 + user, 4096, IPC_CREAT | 0600);
  puts(ready && memory >= 0 ? "ready" : "failed");
  fflush(stdout);
  getchar();
  shmctl(memory, IPC_RMID, NULL);
  return 0;
}

/* A service in a file, bound by the name that is given, in a network of its own when there is a further word. */
static int listen_at(const char *name, int apart) {
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  if (apart && unshare(CLONE_NEWNET | (getuid() == 0 ? 0 : CLONE_NEWUSER)) != 0) { puts("no network of its own"); return 1; }
  int fd = socket(AF_UNIX, SOCK_STREAM, 0);
  strncpy(address.sun_path, name, sizeof address.sun_path - 1);
  puts(fd >= 0 && bind(fd, (void *)&address, sizeof address) == 0 && listen(fd, 9) == 0 ? "ready" : "failed");
  fflush(stdout);
  getchar();
  return 0;
}

int main(int count, char **words) {
  if (count >= 3 && strcmp(words[1], "listen") == 0) return listen_at(words[2], count > 3);
  if (count == 3 && strcmp(words[1], "serve") == 0) { user = atoi(words[2]); return serve(); }
  if (count == 1) {
    for (const struct probe *each = __start_probes; each < __stop_probes; each++) puts(each->name);
    return 0;
  }
  world = words[1]; victim = atoi(words[2]); tcp_port = atoi(words[3]); udp_port = atoi(words[4]); user = atoi(words[5]);
  for (const struct probe *each = __start_probes; each < __stop_probes; each++) {
    int wanted = count == 6, status;
    for (int n = 6; n < count; n++) wanted |= strcmp(words[n], each->name) == 0;
    if (!wanted) continue;
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
      errno = 0;
      int done = each->run(), why = errno;
      printf("%s %s %d\n", each->name, done ? "yes" : "no", done ? 0 : why);
      fflush(stdout);
      _exit(0);
    }
    while (waitpid(child, &status, 0) != child);
    if (WIFSIGNALED(status)) printf("%s no signal %d\n", each->name, WTERMSIG(status));
  }
  return 0;
}
