# Reads and writes the first virtio disk, which must hold at least 1 MiB and whose first MiB is
# overwritten unless the disk is read-only.
for module in virtio virtio_ring virtio_mmio virtio_blk; do
	[ ! -f /modules/$module.ko ] || insmod /modules/$module.ko || exit 1
done
i=0
while [ ! -b /dev/vda ]; do
	i=$((i + 1))
	[ $i -lt 50 ] || { echo "disk: no /dev/vda"; exit 1; }
	usleep 100000
done
echo "disk: sectors $(cat /sys/block/vda/size) ro $(cat /sys/block/vda/ro)"
dd if=/dev/vda of=/tmp/before bs=4096 count=256 2>/dev/null || exit 1
echo "disk: before $(md5sum </tmp/before)"
if [ "$(cat /sys/block/vda/ro)" = 1 ]; then
	dd if=/bin/busybox of=/dev/vda bs=4096 count=1 2>/dev/null && { echo "disk: wrote to a read-only disk"; exit 1; }
	exit 0
fi
dd if=/bin/busybox of=/tmp/pattern bs=4096 count=128 2>/dev/null
dd if=/tmp/pattern of=/dev/vda bs=4096 seek=64 conv=fsync 2>/dev/null || exit 1
echo 3 >/proc/sys/vm/drop_caches
dd if=/dev/vda of=/tmp/after bs=4096 skip=64 count=128 2>/dev/null || exit 1
echo "disk: after $(md5sum </tmp/after)"
cmp /tmp/pattern /tmp/after
