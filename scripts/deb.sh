#!/bin/sh
# Builds the Debian packages in build/deb from the files of this checkout, and checks them with lintian: `deb.sh`.
set -eu
version=$(cat VERSION)
work=build/deb
tree=$work/poise-$version
rm -rf "$work"
mkdir -p "$tree"
git ls-files -co --exclude-standard | while IFS= read -r file; do
  if [ -e "$file" ]; then printf '%s\n' "$file"; fi
done | tar -cf - -T - | tar -xf - -C "$tree"
# A day that the sources determine, so that equal sources give equal packages.
SOURCE_DATE_EPOCH=$(git log -1 --format=%ct)
export SOURCE_DATE_EPOCH
cat > "$tree/debian/changelog" <<END
poise ($version) unstable; urgency=medium

  * See /usr/share/doc/poise/CHANGELOG.md.gz.

 -- The Poise authors <poise@users.noreply.github.com>  $(date -R -u -d "@$SOURCE_DATE_EPOCH")
END
CMAKE_CXX_COMPILER_LAUNCHER=$(command -v ccache || true)
CCACHE_SLOPPINESS=pch_defines,time_macros
# debhelper gives its commands a HOME of their own, and ccache would have an empty cache there.
CCACHE_DIR=${CCACHE_DIR:-$(ccache --get-config cache_dir 2>/dev/null || true)}
DEB_BUILD_OPTIONS="noautodbgsym parallel=$(nproc)"
export CMAKE_CXX_COMPILER_LAUNCHER CCACHE_SLOPPINESS CCACHE_DIR DEB_BUILD_OPTIONS
echo "Building the packages; the build's output is in $work/build.log"
(cd "$tree" && dpkg-buildpackage -b -us -uc) > "$work/build.log" 2>&1 || { tail -40 "$work/build.log"; exit 1; }
lintian --fail-on error "$work"/poise_"$version"_*.changes
ls -l "$work"/*.deb
