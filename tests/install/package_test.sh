#!/bin/sh
# Installs the Debian packages of build/deb into a clean Debian, uses them there as their users do, runs the tests of the program and of the
# Python package against them, and removes them again: package_test.sh SOURCE [FOLDER], the packages lie in FOLDER or build/deb. Needs root, for chroot. The clean system is kept in
# build/package-test/base.tar for the next time; POISE_PACKAGE_TESTS=no leaves the long test suites out.
set -eu
source=$(realpath "$1")
work=$source/build/package-test
packages=${2:-$source/build/deb}
base=$work/base.tar
root=$work/root
say() { printf '\n== %s\n' "$*"; }
inside() { chroot "$root" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C.UTF-8 DEBIAN_FRONTEND=noninteractive "$@"; }
debs() { for each in "$root"/debs/$1; do printf '/debs/%s\n' "$(basename "$each")"; done; }
install() { inside apt-get install -y -qq --no-install-recommends "$@" >"$work/apt.log" 2>&1 || { tail -20 "$work/apt.log"; exit 1; }; }
cleanup() {
  for folder in dev/pts dev/shm proc; do umount "$root/$folder" 2>/dev/null || true; done
}
trap cleanup EXIT

test "$(id -u)" -eq 0 || { echo "package_test.sh needs root, for chroot" >&2; exit 1; }
ls "$packages"/*.deb >/dev/null 2>&1 || { echo "there are no packages in $packages; run make deb first" >&2; exit 1; }
mkdir -p "$work"
if [ ! -e "$base" ]; then
  say "a clean Debian 12, by debootstrap"
  debootstrap --variant=minbase bookworm "$work/fresh" >"$work/debootstrap.log" 2>&1 || { tail -5 "$work/debootstrap.log"; exit 1; }
  # debootstrap leaves the machine's /proc mounted where it may mount; it is no part of the system.
  for folder in proc sys; do umount "$work/fresh/$folder" 2>/dev/null || true; done
  tar --one-file-system -cf "$base.part" -C "$work/fresh" .
  mv "$base.part" "$base"
  rm -rf --one-file-system "$work/fresh"
fi
cleanup
rm -rf "$root"
mkdir -p "$root"
tar -xf "$base" -C "$root"
mount -t proc proc "$root/proc"
mkdir -p "$root/dev/shm" "$root/dev/pts"
mount -t tmpfs tmpfs "$root/dev/shm"
mount -t devpts -o newinstance,ptmxmode=0666 devpts "$root/dev/pts"
cp /etc/resolv.conf "$root/etc/resolv.conf"
echo "127.0.0.1 localhost" >"$root/etc/hosts"  # which every installed system has
mkdir "$root/debs"
cp "$packages"/*.deb "$root/debs/"
inside apt-get update -qq

say "the program: apt-get install ./poise_*.deb"
install $(debs 'poise_*.deb')
inside poise --version
inside poise doctor
! inside dpkg -s libopenblas0-pthread >/dev/null 2>&1 || { echo "OpenBLAS on pthreads was installed with the program" >&2; exit 1; }
! inside dpkg -s libopenmpi3 >/dev/null 2>&1 || { echo "MPI was installed with the program" >&2; exit 1; }
for file in bash-completion/completions/poise zsh/vendor-completions/_poise fish/vendor_completions.d/poise.fish man/man1/poise-train.1.gz doc/poise/CHANGELOG.md.gz; do
  test -s "$root/usr/share/$file"
done

say "the quick start, as it stands in the manual"
mkdir -p "$root/work"
sed -n '/^```sh$/,/^```$/{/^```/d;p}' "$source/docs/quick-start.md" >"$root/work/quick-start.sh"
inside sh -c 'cd /work && sh -eu quick-start.sh' | tail -25

say "a csv of one's own, to a served model"
cat >"$root/work/ask.pl" <<'END'
use IO::Socket::INET;
my ($socket, $body) = (undef, '{"history": ["p1"], "k": 2}');
for (1 .. 60) {
  last if $socket = IO::Socket::INET->new('127.0.0.1:8123');
  select undef, undef, undef, 0.5;
}
print $socket "POST /v1/recommend HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n",
  "Content-Length: ", length $body, "\r\nConnection: close\r\n\r\n", $body;
$_ = join '', <$socket>;
print "$_\n";
/ 200 OK/ or die;
END
inside sh -eu -c 'cd /work
  i=0; echo "customer;product" > orders.csv
  while [ $i -lt 400 ]; do echo "c$((i % 40));p$((i * i % 23))"; echo "c$((i % 40));p$((i * 7 % 23))"; i=$((i + 1)); done >> orders.csv
  poise prepare orders.csv --out orders.data
  poise train orders.data --model ease --lambda 5 --out orders.model
  poise recommend orders.model --items p1,p2 -k 3
  poise serve orders.model --port 8123 & server=$!
  perl ask.pl
  kill -TERM $server; wait $server'

say "the library: apt-get install ./libpoise-dev, then a program with CMake and one with pkg-config, shared and static"
install $(debs 'libpoise*.deb') g++ cmake ninja-build
cp -r "$source/tests/install/outside" "$source/examples/cpp" "$root/work/"
inside sh -eu -c 'cd /work
  cmake -S outside -B by-cmake -G Ninja -DEXAMPLE=/work/cpp >/dev/null && cmake --build by-cmake >/dev/null
  ./by-cmake/train_weighted a.model | tail -1
  g++ cpp/train_weighted.cpp $(pkg-config --cflags --libs poise) -o shared && ./shared b.model | tail -1
  ldd ./shared | grep -o "libpoise.so[.0-9]*" | head -1
  g++ cpp/train_weighted.cpp $(pkg-config --cflags poise) -Wl,-Bstatic -lpoise -Wl,-Bdynamic $(pkg-config --libs fmt) $(pkg-config --static --libs-only-other --libs poise | sed "s/-lpoise//") -o static && ./static c.model | tail -1
  cmp a.model b.model && cmp b.model c.model && echo "the three programs wrote the same model"'

say "the Python package: apt-get install ./python3-poise_*.deb"
install $(debs 'python3-poise_*.deb')
inside python3 -c 'import importlib.metadata, numpy, poise
assert importlib.metadata.version("poise") == poise.__version__
model = poise.EASE(50).fit(poise.synth("demo"), show_progress=False)
print("poise", poise.__version__, "with NumPy", numpy.__version__, model, model.certificate_["relative"])'

say "the manual: apt-get install ./poise-doc_*.deb"
install $(debs 'poise-doc_*.deb')
test -s "$root/usr/share/doc/poise-doc/html/index.html"

if [ "${POISE_PACKAGE_TESTS:-yes}" = yes ]; then
  say "tests/cli with the installed program, tests/python with the installed package"
  install python3-pytest python3-pandas python3-sklearn mypy zstd man-db fish zsh curl procps
  mkdir "$root/source"
  (cd "$source" && git ls-files -co --exclude-standard | tar -cf - -T - 2>/dev/null) | tar -xf - -C "$root/source"
  suite() {
    inside env POISE=/usr/bin/poise POISE_TEST_DATA=/none OMP_WAIT_POLICY=passive PYTHONDONTWRITEBYTECODE=1 sh -c \
      "cd /source && python3 -m pytest -q -p no:cacheprovider $*" || test $? -eq 77
  }
  suite tests/cli
  suite tests/python
fi

say "removing: apt-get purge"
inside apt-get purge -y -qq poise 'libpoise*' python3-poise poise-doc >"$work/apt.log" 2>&1
left=$(inside sh -c 'find /etc /usr /var/lib -xdev -iname "*poise*" -not -path "/var/lib/dpkg/*"' || true)
test -z "$left" || { printf 'left behind:\n%s\n' "$left" >&2; exit 1; }
echo "nothing is left behind"
