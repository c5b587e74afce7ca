#!/bin/sh
# deb.sh BUILD FOLDER: makes a Debian package of the simulator in a build folder (`ninja -C BUILD simulator`), for the release
# of Debian or Ubuntu that it was built on. Needs dpkg-dev. nvcc is not in it.
set -eu
if [ $# != 2 ]; then
  sed -n '2,3s/^# //p' "$0" >&2
  exit 2
fi
source=$(cd "$(dirname "$0")/../../.." && pwd)
build=$(cd "$1" && pwd)
folder=$(mkdir -p "$2" && cd "$2" && pwd)
version=$(meson introspect "$build" --projectinfo | sed 's/.*"version": "\([^"]*\)".*/\1/')
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
chmod 755 "$work"

meson install -C "$build" --no-rebuild --tags simt --strip --destdir "$work/made" >"$work/log" || {
  cat "$work/log" >&2
  exit 1
}
simcc=$(find "$work/made" -path '*/bin/simcc')
mkdir -p "$work/simt/DEBIAN" "$work/debian"
mv "${simcc%/bin/simcc}" "$work/simt/usr"
mkdir -p "$work/simt/usr/share/doc/simt"
cp "$source/LICENSE" "$work/simt/usr/share/doc/simt/copyright"

# The libraries that it is linked with, in the releases' own terms.
cd "$work"
printf 'Source: simt\n\nPackage: simt\nArchitecture: any\n' >debian/control
libraries=$(dpkg-shlibdeps -O -lsimt/usr/lib/simt simt/usr/bin/* simt/usr/lib/simt/libcudart.so.13 2>/dev/null)
cat >simt/DEBIAN/control <<END
Package: simt
Version: $version
Architecture: $(dpkg --print-architecture)
Maintainer: Halo <halo@localhost>
Depends: g++, ${libraries#shlibs:Depends=}
Section: contrib/devel
Priority: optional
Description: CUDA programs without a GPU
 simcc is nvcc, whose programs run on the processor: their PTX is executed, memory traffic is counted, and races, accesses
 out of bounds and reads of what nobody wrote are found. It needs nvcc of CUDA 13 or newer.
END
# What simcc has made beside the library, called by root.
printf '#!/bin/sh\nset -e\nrm -rf /usr/lib/simt/cuda-*\n' >simt/DEBIAN/prerm
chmod 755 simt/DEBIAN/prerm
dpkg-deb --root-owner-group --build simt "$folder" >"$work/log"
echo "$folder/simt_${version}_$(dpkg --print-architecture).deb"
