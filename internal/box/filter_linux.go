package box

import (
	"syscall"
	"unsafe"

	"golang.org/x/net/bpf"
	"golang.org/x/sys/unix"
)

// The answers of the filter.
const (
	yes     = 0x7fff0000
	no      = 0x00050000 | uint32(syscall.EPERM)
	unknown = 0x00050000 | uint32(syscall.ENOSYS) // as if the call did not exist, so that programs do without it
)

// Where the filter finds the number of a call, the machine, and the low half of an argument.
const (
	atNumber  = 0
	atMachine = 4
)

func atArgument(n uint32) uint32 { return 16 + 8*n }

// newNamespaces are the flags of clone that make a namespace of any kind.
const newNamespaces = unix.CLONE_NEWUSER | unix.CLONE_NEWNS | unix.CLONE_NEWPID | unix.CLONE_NEWNET |
	unix.CLONE_NEWIPC | unix.CLONE_NEWUTS | unix.CLONE_NEWCGROUP | unix.CLONE_NEWTIME

// filter refuses the system calls that no build needs. A call that is newer than this list is not
// known to be harmless, so it fails as if it did not exist.
func filter() error {
	program := []bpf.Instruction{
		bpf.LoadAbsolute{Off: atMachine, Size: 4},
		bpf.JumpIf{Cond: bpf.JumpEqual, Val: machine, SkipTrue: 1},
		bpf.RetConstant{Val: unknown},
		bpf.LoadAbsolute{Off: atNumber, Size: 4},
		bpf.JumpIf{Cond: bpf.JumpLessOrEqual, Val: newest, SkipTrue: 1},
		bpf.RetConstant{Val: unknown},
	}
	answer := func(value uint32, calls ...uint32) {
		for _, n := range calls {
			program = append(program, bpf.JumpIf{Cond: bpf.JumpNotEqual, Val: n, SkipTrue: 1}, bpf.RetConstant{Val: value})
		}
	}
	answer(unknown, unix.SYS_CLONE3, unix.SYS_IO_URING_SETUP, unix.SYS_IO_URING_ENTER, unix.SYS_IO_URING_REGISTER)
	answer(no, refused()...)
	// clone: no namespaces.
	program = append(program, only(unix.SYS_CLONE,
		bpf.LoadAbsolute{Off: atArgument(0), Size: 4},
		bpf.JumpIf{Cond: bpf.JumpBitsNotSet, Val: newNamespaces, SkipTrue: 1},
		bpf.RetConstant{Val: no},
		bpf.RetConstant{Val: yes},
	)...)
	// socket, socketpair: only for files and for the network inside.
	for _, call := range []uint32{unix.SYS_SOCKET, unix.SYS_SOCKETPAIR} {
		program = append(program, only(call,
			bpf.LoadAbsolute{Off: atArgument(0), Size: 4},
			bpf.JumpIf{Cond: bpf.JumpEqual, Val: unix.AF_UNIX, SkipTrue: 3},
			bpf.JumpIf{Cond: bpf.JumpEqual, Val: unix.AF_INET, SkipTrue: 2},
			bpf.JumpIf{Cond: bpf.JumpEqual, Val: unix.AF_INET6, SkipTrue: 1},
			bpf.RetConstant{Val: no},
			bpf.RetConstant{Val: yes},
		)...)
	}
	// ioctl: no input into the owner's terminal.
	program = append(program, only(unix.SYS_IOCTL,
		bpf.LoadAbsolute{Off: atArgument(1), Size: 4},
		bpf.JumpIf{Cond: bpf.JumpEqual, Val: unix.TIOCSTI, SkipTrue: 2},
		bpf.JumpIf{Cond: bpf.JumpEqual, Val: tiocLinux, SkipTrue: 1},
		bpf.RetConstant{Val: yes},
		bpf.RetConstant{Val: no},
	)...)
	program = append(program, bpf.RetConstant{Val: yes})
	return install(program)
}

const tiocLinux = 0x541c

// only returns instructions that apply to one call. For other calls it continues after them.
func only(call uint32, then ...bpf.Instruction) []bpf.Instruction {
	return append([]bpf.Instruction{bpf.JumpIf{Cond: bpf.JumpNotEqual, Val: call, SkipTrue: uint8(len(then))}}, then...)
}

func install(program []bpf.Instruction) error {
	raw, err := bpf.Assemble(program)
	if err != nil {
		return err
	}
	code := make([]unix.SockFilter, len(raw))
	for i, r := range raw {
		code[i] = unix.SockFilter{Code: r.Op, Jt: r.Jt, Jf: r.Jf, K: r.K}
	}
	p := unix.SockFprog{Len: uint16(len(code)), Filter: &code[0]}
	const set, allThreads = 1, 1
	if stray, _, e := unix.Syscall(unix.SYS_SECCOMP, set, allThreads, uintptr(unsafe.Pointer(&p))); e != 0 {
		return e
	} else if stray != 0 {
		return unix.EAGAIN // the filter could not be set for a thread
	}
	return nil
}

// refused returns the calls that reach into other processes, the kernel, its keys or its mounts.
func refused() []uint32 {
	return []uint32{
		unix.SYS_PTRACE, unix.SYS_PROCESS_VM_READV, unix.SYS_PROCESS_VM_WRITEV, unix.SYS_KCMP,
		unix.SYS_PROCESS_MADVISE, unix.SYS_PIDFD_GETFD,
		unix.SYS_KEYCTL, unix.SYS_ADD_KEY, unix.SYS_REQUEST_KEY,
		unix.SYS_BPF, unix.SYS_PERF_EVENT_OPEN, unix.SYS_USERFAULTFD, unix.SYS_LOOKUP_DCOOKIE,
		unix.SYS_UNSHARE, unix.SYS_SETNS, unix.SYS_MOUNT, unix.SYS_UMOUNT2, unix.SYS_MOUNT_SETATTR,
		unix.SYS_MOVE_MOUNT, unix.SYS_OPEN_TREE, unix.SYS_FSOPEN, unix.SYS_FSCONFIG, unix.SYS_FSMOUNT, unix.SYS_FSPICK,
		unix.SYS_PIVOT_ROOT, unix.SYS_CHROOT, unix.SYS_OPEN_BY_HANDLE_AT, unix.SYS_NAME_TO_HANDLE_AT,
		unix.SYS_FANOTIFY_INIT, unix.SYS_QUOTACTL, unix.SYS_QUOTACTL_FD,
		unix.SYS_KEXEC_LOAD, unix.SYS_INIT_MODULE, unix.SYS_FINIT_MODULE, unix.SYS_DELETE_MODULE, unix.SYS_REBOOT,
		unix.SYS_SWAPON, unix.SYS_SWAPOFF, unix.SYS_ACCT, unix.SYS_SYSLOG, unix.SYS_VHANGUP, unix.SYS_NFSSERVCTL,
		unix.SYS_SETTIMEOFDAY, unix.SYS_CLOCK_SETTIME, unix.SYS_CLOCK_ADJTIME, unix.SYS_ADJTIMEX,
		unix.SYS_SETHOSTNAME, unix.SYS_SETDOMAINNAME,
		unix.SYS_MBIND, unix.SYS_MIGRATE_PAGES, unix.SYS_MOVE_PAGES, unix.SYS_SET_MEMPOLICY,
	}
}
