#!/bin/sh
# Runs in the guest, in the new root: configures the packages, and makes the system what we want of it.
set -e
export DEBIAN_FRONTEND=noninteractive DEBCONF_NONINTERACTIVE_SEEN=true LC_ALL=C
export PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root
info=/var/lib/dpkg/info
# Users come first.
$info/base-passwd.preinst install
for script in $info/*.preinst; do
	package=${script##*/}
	package=${package%.preinst}
	[ "$package" != base-passwd ] || continue
	DPKG_MAINTSCRIPT_NAME=preinst DPKG_MAINTSCRIPT_PACKAGE=${package%:*} "$script" install
done
dpkg --configure -a
systemctl enable systemd-networkd.service
# Periodic work would come in between.
systemctl mask apt-daily.timer apt-daily-upgrade.timer dpkg-db-backup.timer systemd-tmpfiles-clean.timer getty@tty1.service
echo root:vambrace | chpasswd
dpkg --audit
echo "rootfs: configured $(dpkg-query -W | wc -l) packages"
