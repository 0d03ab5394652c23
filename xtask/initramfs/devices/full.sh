# A disk that the host has less room for than it promised; xtask/src/devices/failing.rs says what must come out.
. /modules/load
mkdir -p /mnt
mount -t ext4 /dev/vda /mnt && echo "devices: mounted"
n=1
while [ $n -le 30 ]; do
	if dd if=/bin/busybox of=/mnt/file.$n bs=64k conv=fsync 2>/tmp/error; then
		echo "devices: kept $n"
	else
		echo "devices: refused $n"
		sed 's/.*: /devices: reason /' /tmp/error
		break
	fi
	n=$((n + 1))
done
# What is left to write may fail as well.
umount /mnt 2>/dev/null
echo "devices: done"
