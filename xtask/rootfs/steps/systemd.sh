# The system has come up and nothing in it has failed.
systemctl is-system-running --wait
systemctl list-units --failed --no-legend --plain
systemctl is-active systemd-udevd systemd-journald systemd-networkd
findmnt -n -o SOURCE,FSTYPE /
