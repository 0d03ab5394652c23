# Waits for the power button, and powers off as an init would.
. /modules/load
until [ -c /dev/input/event0 ]; do usleep 100000; done
echo "devices: waiting for $(cat /sys/class/input/event0/device/name)"
# An event: time (16), type (2), code (2), value (4).
busybox dd if=/dev/input/event0 bs=24 count=1 2>/dev/null | od -An -t u2 -j 16 | while read -r kind code value _; do
	echo "devices: event $kind $code $value"
done
