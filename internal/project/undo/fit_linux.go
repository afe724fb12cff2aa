package undo

import (
	"slices"

	"golang.org/x/sys/unix"
)

// fit reports whether a disk can store the layer of a box, which needs attributes that not every
// disk has.
func fit(folder string) bool {
	var st unix.Statfs_t
	if unix.Statfs(folder, &st) != nil {
		return false
	}
	const f2fs = 0xf2f52010
	return slices.Contains([]int64{unix.EXT4_SUPER_MAGIC, unix.XFS_SUPER_MAGIC, unix.BTRFS_SUPER_MAGIC, unix.TMPFS_MAGIC, f2fs}, int64(uint32(st.Type)))
}
