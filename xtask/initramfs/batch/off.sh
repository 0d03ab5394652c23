#!/bin/sh
# Also usable as rdinit=/batch/off.sh: the shortest way from boot to power-off.
exec poweroff -f
