# A disk of which the host loses a part while it is mounted.
. /modules/load
mkdir -p /mnt
mount -t ext4 /dev/vda /mnt && echo "devices: mounted"
for n in 1 2 3 4 5 6 7 8; do
	dd if=/bin/busybox of=/mnt/file.$n bs=64k conv=fsync 2>/dev/null || echo "devices: cannot write $n"
done
echo 3 >/proc/sys/vm/drop_caches
echo "devices: cut now"
read -r answer
for n in 1 2 3 4 5 6 7 8; do
	if ! cat /mnt/file.$n >/tmp/read 2>/tmp/error; then
		sed 's/.*: /devices: reason /' /tmp/error
	elif cmp -s /bin/busybox /tmp/read; then
		echo "devices: whole"
	else
		echo "devices: wrong contents in $n"
	fi
done
umount /mnt 2>/dev/null
echo "devices: done"
