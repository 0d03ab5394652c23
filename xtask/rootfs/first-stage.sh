# Makes a root directory of Debian packages whose programs have not run yet, and an ext4 file system of it.
# Runs under fakeroot: owners and device nodes are right without root. Arguments: the directory of packages, a directory
# for the tree, the image, the files of ours that go into it.
set -eu
export LC_ALL=C
umask 022
packages=$1 root=$2 image=$3 ours=$4

# Directories below /usr, and links to them, before packages of the older way put files through the links.
mkdir -p "$root/usr/bin" "$root/usr/sbin" "$root/usr/lib"
for name in bin sbin lib; do
	ln -s "usr/$name" "$root/$name"
done

# What dpkg writes when it has unpacked a package and not yet configured it (deb-postinst(5), dpkg-query(1)).
database=$root/var/lib/dpkg
mkdir -p "$database/info" "$database/updates" "$database/triggers" "$database/alternatives" "$database/parts"
echo 1 >"$database/info/format"
: >"$database/available"
: >"$database/status"
control=$root/control
for package in "$packages"/*.deb; do
	dpkg-deb --fsys-tarfile "$package" | tar -x -C "$root" --keep-directory-symlink --numeric-owner --same-permissions
	dpkg-deb -e "$package" "$control"
	name=$(sed -n 's/^Package: //p' "$control/control")
	if grep -q '^Multi-Arch: same' "$control/control"; then
		name=$name:$(sed -n 's/^Architecture: //p' "$control/control")
	fi
	dpkg-deb --fsys-tarfile "$package" | tar -t | sed 's,^\.,,; s,/$,,; s,^$,/.,' >"$database/info/$name.list"
	{
		# Fields of the index are not in the control file; the status goes behind the name.
		sed '/^$/d; /^Package: /a Status: install ok unpacked' "$control/control"
		if [ -s "$control/conffiles" ]; then
			echo Conffiles:
			sed -n 's,^/.*, & newconffile,p' "$control/conffiles"
			# Configuring a package puts them in place.
			grep '^/' "$control/conffiles" | while read -r file; do
				mv "$root$file" "$root$file.dpkg-new"
			done
		fi
		echo
	} >>"$database/status"
	rm "$control/control"
	for file in "$control"/*; do
		[ ! -f "$file" ] || mv "$file" "$database/info/$name.${file##*/}"
	done
	rm -rf "$control"
done

cp -r "$ours"/. "$root/"
chown -R 0:0 "$root/etc"
mkdir -p "$root/dev" "$root/proc" "$root/sys" "$root/run" "$root/root"
/usr/sbin/mke2fs -q -t ext4 -L vambrace-root -d "$root" "$image"
