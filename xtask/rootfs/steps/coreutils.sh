seq 1 20000 | sort -R | sort -n | sha256sum
seq 1 20000 | shuf | tac | sort -rn | md5sum
seq 100 | paste -sd+ | cut -c 1-20
seq 1 5000 | sha1sum
seq 1 5000 | sha512sum | cut -c 1-32
seq 1 5000 | b2sum | cut -c 1-32
seq 1 5000 | cksum
seq 1 300 | base64 | base64 -d | wc
factor 18446744073709551557 1000000016000000063
numfmt --to=iec 123456789
expr 12345678 \* 9876543 / 7
date -u -d @1700000000 +%FT%T
printf '%x %o %e %s\n' 3735928559 511 0.000123 text
echo The quick brown fox | tr a-z A-Z | rev 2>/dev/null || true
printf 'b 2\na 1\nc 3\n' | sort | join - /dev/null | wc -l
seq 1 10 | split -l 3 - part.
cat part.* | uniq | wc -l
ls
mkdir -p one/two
touch -d @1000000000 one/two/file
stat -c '%n %s %a %Y' one/two/file
ln -s two/file one/link
readlink -f one/link
cp -a one copy
diff -r one copy && echo the same
comm -12 part.aa part.ab | wc -l
dd if=/dev/zero bs=4096 count=256 2>/dev/null | tr '\0' x | fold -w 64 | head -n 2 | sha256sum
seq 1 1000 | od -An -tx1 | sha256sum
truncate -s 1M sparse
du --apparent-size -k sparse | cut -f 1
basename /a/b/c.txt .txt
timeout 1 sleep 10; echo $?
id -un
