# The share `work` may be written, `given` only read.
mkdir -p /tmp/work /tmp/given
try "mount" mount -t 9p -o trans=virtio,version=9p2000.L,msize=131072 work /tmp/work
try "mount read-only" mount -t 9p -o trans=virtio,version=9p2000.L,cache=loose given /tmp/given
echo "devices: list $(cd /tmp/work && echo $(find . | sort))"
echo "devices: order $(cd /tmp/given && echo $(find . -type f))"
echo "devices: read $(cat /tmp/work/sub/file) $(md5sum </tmp/given/busybox)"
head -c 500000 /bin/busybox >/tmp/part
try "write" cp /tmp/part /tmp/work/sub/busybox
try "append" sh -c 'echo more >>/tmp/work/sub/file'
try "read back" cmp /tmp/part /tmp/work/sub/busybox
try "mkdir" mkdir /tmp/work/new
try "rename" mv /tmp/work/sub/busybox /tmp/work/new/copy
try "symlink" ln -s ../../../etc/passwd /tmp/work/new/up
try "hard link" ln /tmp/work/new/copy /tmp/work/new/hard
try "chmod" chmod 700 /tmp/work/new/copy
try "truncate" sh -c ': >/tmp/work/empty'
try "remove" sh -c 'rm /tmp/work/gone/* && rmdir /tmp/work/gone'
try "keep open" sh -c 'exec 4<>/tmp/work/open; rm /tmp/work/open; echo kept >&4'
try "chown" chown 1000 /tmp/work/empty
try "device" mknod /tmp/work/null c 1 3
try "write read-only" sh -c 'echo x >/tmp/given/x'
echo "devices: stat $(stat -c '%a %u %s %Y' /tmp/work/new/copy /tmp/work/empty | tr '\n' ' ')"
try "unmount" umount /tmp/work /tmp/given
