# The share `work` may be written, `given` only read.
mkdir -p /tmp/shared /tmp/given
try "mount" mount -t 9p -o trans=virtio,version=9p2000.L,msize=131072 work /tmp/shared
try "mount read-only" mount -t 9p -o trans=virtio,version=9p2000.L,cache=loose given /tmp/given
echo "devices: list $(cd /tmp/shared && echo $(find . | sort))"
echo "devices: order $(cd /tmp/given && echo $(find . -type f))"
echo "devices: read $(cat /tmp/shared/sub/file) $(md5sum </tmp/given/busybox)"
head -c 500000 /bin/busybox >/tmp/part
try "write" cp /tmp/part /tmp/shared/sub/busybox
try "append" sh -c 'echo more >>/tmp/shared/sub/file'
try "read back" cmp /tmp/part /tmp/shared/sub/busybox
try "mkdir" mkdir /tmp/shared/new
try "rename" mv /tmp/shared/sub/busybox /tmp/shared/new/copy
try "symlink" ln -s ../../../etc/passwd /tmp/shared/new/up
try "hard link" ln /tmp/shared/new/copy /tmp/shared/new/hard
try "chmod" chmod 700 /tmp/shared/new/copy
try "truncate" sh -c ': >/tmp/shared/empty'
try "remove" sh -c 'rm /tmp/shared/gone/* && rmdir /tmp/shared/gone'
try "keep open" sh -c 'exec 4<>/tmp/shared/open; rm /tmp/shared/open; echo kept >&4'
try "chown" chown 1000 /tmp/shared/empty
try "device" mknod /tmp/shared/null c 1 3
try "write read-only" sh -c 'echo x >/tmp/given/x'
echo "devices: stat $(stat -c '%a %u %s %Y' /tmp/shared/new/copy /tmp/shared/empty | tr '\n' ' ')"
try "unmount" umount /tmp/shared /tmp/given
