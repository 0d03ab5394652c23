# Looks at what full.sh left.
for module in $(cat /modules/order); do
	insmod /modules/$module.ko || echo "devices: cannot load $module"
done
mkdir -p /mnt
mount -t ext4 /dev/vda /mnt && echo "devices: mounted"
n=1
while [ -f /mnt/file.$n ]; do
	if cmp -s /bin/busybox /mnt/file.$n; then echo "devices: whole $n"; else echo "devices: part of $n"; fi
	n=$((n + 1))
done
umount /mnt && echo "devices: done"
