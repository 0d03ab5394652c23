. /run/vambrace/settings
echo "deb [trusted=yes] http://10.0.2.2:$VAMBRACE_PORT/ ./" >/etc/apt/sources.list.d/vambrace.list
export DEBIAN_FRONTEND=noninteractive
hostname -I | grep -ow 10.0.2.15
apt-get update -q
apt-cache policy vambrace-greeting | grep Candidate
apt-get install -q -y vambrace-greeting
dpkg-query -W -f '${Package} ${Version} ${Status}\n' vambrace-greeting
vambrace-greeting
sha256sum </usr/share/vambrace-greeting/numbers
apt-get purge -q -y vambrace-greeting
[ ! -e /usr/bin/vambrace-greeting ] && echo gone
