echo "vambrace-batch: reboot: now"
reboot -f
