package sqlitejournal

import "golang.org/x/sys/unix"

// fileSystem returns the medium of the file system that dir is on.
func fileSystem(dir string) (medium, error) {
	var s unix.Statfs_t
	if err := unix.Statfs(dir, &s); err != nil {
		return local, err
	}
	switch uint32(s.Type) { //nolint:gosec // magic numbers have 32 bits
	case unix.TMPFS_MAGIC, unix.RAMFS_MAGIC:
		return inMemory, nil
	case unix.NFS_SUPER_MAGIC, unix.SMB_SUPER_MAGIC, unix.SMB2_SUPER_MAGIC, unix.CIFS_SUPER_MAGIC,
		unix.FUSE_SUPER_MAGIC, unix.AFS_SUPER_MAGIC, unix.AFS_FS_MAGIC, unix.CODA_SUPER_MAGIC,
		unix.NCP_SUPER_MAGIC, unix.V9FS_MAGIC, unix.CEPH_SUPER_MAGIC, unix.OCFS2_SUPER_MAGIC:
		return remote, nil
	}
	return local, nil
}
