//! The table: one line for each system call that there is (numbers: include/uapi/asm-generic/unistd.h).

use hal::trap::{SYSCALLS, Syscall};

use super::{Argument, NO_FUNCTION, event, file, finish, fs, memory, misc, process, signal, socket, stat, time, timer};

macro_rules! table {
    ($($number:literal => $module:ident::$name:ident($($argument:ident),*);)*) => {{
        let mut table: [Syscall; SYSCALLS] = [NO_FUNCTION; SYSCALLS];
        $({
            #[allow(unused_variables, unused_mut)]
            extern "C" fn entry(a: u64, b: u64, c: u64, d: u64, e: u64, f: u64) -> i64 {
                let mut registers = [a, b, c, d, e, f].into_iter();
                $(let $argument = Argument::of(registers.next().unwrap_or(0));)*
                finish($module::$name($($argument),*))
            }
            table[$number] = entry;
        })*
        table
    }};
}

/// Functions by number.
pub const TABLE: [Syscall; SYSCALLS] = table! {
    17 => fs::getcwd(buffer, size);
    19 => event::eventfd2(count, flags);
    20 => event::epoll_create1(flags);
    21 => event::epoll_ctl(epoll, operation, fd, event);
    22 => event::epoll_pwait(epoll, events, count, timeout, mask, size);
    23 => file::dup(fd);
    24 => file::dup3(old, new, flags);
    25 => file::fcntl(fd, command, argument);
    29 => file::ioctl(fd, request, argument);
    33 => fs::mknodat(directory, path, mode, device);
    34 => fs::mkdirat(directory, path, mode);
    35 => fs::unlinkat(directory, path, flags);
    36 => fs::symlinkat(target, directory, path);
    37 => fs::linkat(old_directory, old, new_directory, new, flags);
    38 => fs::renameat(old_directory, old, new_directory, new);
    39 => fs::umount2(path, flags);
    40 => fs::mount(source, target, kind, flags, data);
    43 => stat::statfs(path, buffer);
    44 => stat::fstatfs(fd, buffer);
    45 => fs::truncate(path, length);
    46 => fs::ftruncate(fd, length);
    48 => fs::faccessat(directory, path, mode);
    49 => fs::chdir(path);
    50 => fs::fchdir(fd);
    52 => fs::fchmod(fd, mode);
    53 => fs::fchmodat(directory, path, mode);
    54 => fs::fchownat(directory, path, user, group, flags);
    55 => fs::fchown(fd, user, group);
    56 => file::openat(directory, path, flags, mode);
    57 => file::close(fd);
    59 => file::pipe2(fds, flags);
    61 => file::getdents64(fd, buffer, size);
    62 => file::lseek(fd, offset, whence);
    63 => file::read(fd, buffer, count);
    64 => file::write(fd, buffer, count);
    65 => file::readv(fd, vector, count);
    66 => file::writev(fd, vector, count);
    67 => file::pread64(fd, buffer, count, offset);
    68 => file::pwrite64(fd, buffer, count, offset);
    71 => file::sendfile(to, from, offset, count);
    72 => event::pselect6(count, reads, writes, exceptions, timeout, mask);
    73 => event::ppoll(fds, count, timeout, mask, size);
    74 => signal::signalfd4(fd, set, size, flags);
    78 => fs::readlinkat(directory, path, buffer, size);
    79 => stat::newfstatat(directory, path, buffer, flags);
    80 => stat::fstat(fd, buffer);
    81 => misc::nothing();
    82 => file::fsync(fd);
    83 => file::fsync(fd);
    85 => timer::timerfd_create(clock, flags);
    86 => timer::timerfd_settime(fd, flags, new, old);
    87 => timer::timerfd_gettime(fd, current);
    88 => fs::utimensat(directory, path, times, flags);
    93 => process::exit(status);
    94 => process::exit_group(status);
    95 => process::waitid(kind, id, info, options, usage);
    96 => process::set_tid_address(address);
    98 => process::futex(address, operation, value, timeout, address2, value3);
    99 => process::set_robust_list(head, len);
    100 => process::get_robust_list(tid, head, len);
    101 => time::nanosleep(request, remaining);
    102 => timer::getitimer(which, current);
    103 => timer::setitimer(which, new, old);
    107 => timer::timer_create(clock, event, id);
    108 => timer::timer_gettime(id, current);
    109 => timer::timer_getoverrun(id);
    110 => timer::timer_settime(id, flags, new, old);
    111 => timer::timer_delete(id);
    113 => time::clock_gettime(clock, time);
    114 => time::clock_getres(clock, time);
    115 => time::clock_nanosleep(clock, flags, request, remaining);
    122 => process::sched_setaffinity(pid, size, mask);
    123 => process::sched_getaffinity(pid, size, mask);
    124 => process::sched_yield();
    128 => signal::restart_syscall();
    129 => signal::kill(pid, number);
    130 => signal::tkill(tid, number);
    131 => signal::tgkill(pid, tid, number);
    132 => signal::sigaltstack(new, old);
    133 => signal::rt_sigsuspend(mask, size);
    134 => signal::rt_sigaction(number, new, old, size);
    135 => signal::rt_sigprocmask(how, new, old, size);
    136 => signal::rt_sigpending(set, size);
    137 => signal::rt_sigtimedwait(set, info, timeout, size);
    138 => signal::rt_sigqueueinfo(pid, number, info);
    139 => signal::rt_sigreturn();
    142 => misc::reboot(magic, magic2, command);
    144 => process::setgid(gid);
    146 => process::setuid(uid);
    148 => process::getresuid(real, effective, saved);
    150 => process::getresgid(real, effective, saved);
    153 => time::times(buffer);
    154 => process::setpgid(pid, group);
    155 => process::getpgid(pid);
    156 => process::getsid(pid);
    157 => process::setsid();
    158 => process::getgroups(count, list);
    159 => misc::nothing();
    160 => misc::uname(buffer);
    165 => time::getrusage(who, buffer);
    166 => fs::umask(mask);
    167 => process::prctl(option, argument, third, fourth, fifth);
    169 => time::gettimeofday(time, zone);
    172 => process::getpid();
    173 => process::getppid();
    174 => process::getuid();
    175 => process::geteuid();
    176 => process::getgid();
    177 => process::getegid();
    178 => process::gettid();
    179 => misc::sysinfo(buffer);
    199 => socket::socketpair(family, kind, protocol, fds);
    204 => socket::getsockname(fd, address, len);
    205 => socket::getpeername(fd, address, len);
    206 => socket::sendto(fd, buffer, len, flags, address, address_len);
    207 => socket::recvfrom(fd, buffer, len, flags, address, address_len);
    208 => socket::setsockopt(fd, level, name, value, len);
    209 => socket::getsockopt(fd, level, name, value, len);
    210 => socket::shutdown(fd, how);
    211 => socket::sendmsg(fd, header, flags);
    212 => socket::recvmsg(fd, header, flags);
    214 => memory::brk(end);
    215 => memory::munmap(address, length);
    216 => memory::mremap(old, old_length, new_length, flags, new);
    220 => process::clone(flags, stack, parent_tid, tls, child_tid);
    221 => process::execve(path, arguments, environment);
    222 => memory::mmap(address, length, protection, flags, fd, offset);
    226 => memory::mprotect(address, length, protection);
    227 => memory::msync(address, length, flags);
    233 => memory::madvise(address, length, advice);
    240 => signal::rt_tgsigqueueinfo(pid, tid, number, info);
    260 => process::wait4(pid, status, options, usage);
    261 => process::prlimit64(pid, resource, new, old);
    276 => fs::renameat2(old_directory, old, new_directory, new, flags);
    278 => misc::getrandom(buffer, count, flags);
    291 => stat::statx(directory, path, flags, mask, buffer);
    435 => process::clone3(arguments, size);
    436 => file::close_range(first, last, flags);
    441 => event::epoll_pwait2(epoll, events, count, timeout, mask, size);
    439 => fs::faccessat2(directory, path, mode, flags);
};
