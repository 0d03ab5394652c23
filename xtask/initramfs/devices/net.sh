# vambrace.port=N says where the host listens.
. /modules/load
try() {
	name=$1
	shift
	if "$@" >/tmp/out 2>&1; then echo "devices: $name: ok"; else echo "devices: $name: failed"; fi
}
port=$(sed 's/.*vambrace.port=\([0-9]*\).*/\1/' /proc/cmdline)
cat >/tmp/udhcpc <<'END'
#!/bin/sh
[ "$1" = bound ] || exit 0
busybox ifconfig "$interface" "$ip" netmask "$subnet"
busybox route add default gw "$router"
echo "nameserver $dns" >/etc/resolv.conf
echo "devices: bound $ip $subnet $router $dns" >/dev/console
END
chmod 755 /tmp/udhcpc
mkdir -p /etc
busybox ifconfig lo 127.0.0.1
busybox ifconfig eth0 up
busybox udhcpc -q -n -f -t 5 -s /tmp/udhcpc -i eth0 >/dev/null 2>&1 || echo "devices: no lease"
try "ping" busybox ping -c 2 -W 3 10.0.2.2
try "ping nobody" busybox ping -c 1 -W 1 10.0.2.9
try "wget" busybox wget -q -O /tmp/file http://10.0.2.2:$port/file
echo "devices: file $(md5sum </tmp/file)"
# wget posts text alone.
seq 1 40000 >/tmp/text
try "post" busybox wget -q -O /tmp/answer --post-file=/tmp/text http://10.0.2.2:$port/post
echo "devices: answer $(cat /tmp/answer)"
try "refused" busybox wget -q -O /dev/null http://10.0.2.2:1/
echo "devices: name $(busybox nslookup host.test 10.0.2.3 2>/dev/null | sed -n 's/^Address: //p' | tail -n 1)"
mkdir -p /tmp/www
echo "the guest answers" >/tmp/www/index.html
busybox httpd -p 80 -h /tmp/www
# The host fetches our page by its own port, and says what it got.
echo "devices: asked $(busybox wget -q -O - http://10.0.2.2:$port/ask)"
