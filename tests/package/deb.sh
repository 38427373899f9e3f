# Makes the Debian packages, looks at what they say and hold, unpacks them and runs the program.
set -eu
source=$1 build=$2 work=$3
fail() {
    echo "$1" >&2
    exit 1
}
rm -rf "$work"
mkdir -p "$work/root"
cpack --config "$build/CPackConfig.cmake" -B "$work/made" >"$work/log" 2>&1 || { cat "$work/log"; fail "cpack failed"; }
version=$("$build/bin/lrvb" -V | cut -d ' ' -f 2)
program=$(echo "$work"/made/lrvb_"$version"_*.deb)
library=$(echo "$work"/made/liblrvb-dev_"$version"_*.deb)
[ -f "$program" ] && [ -f "$library" ] || fail "there are no two packages: $(ls "$work/made")"

[ "$(dpkg-deb -f "$program" Package)" = lrvb ] || fail "the package has another name"
dpkg-deb -f "$program" Depends | grep -q 'libc6' || fail "lrvb does not depend on the libraries it is linked with"
dpkg-deb -f "$library" Depends | grep -q 'libeigen3-dev' || fail "liblrvb-dev does not depend on Eigen"
for package in "$program" "$library"; do
    dpkg-deb -c "$package" | grep -v ' \./usr/' | grep -qv ' \./$' && fail "$package has files outside of /usr"
    dpkg-deb -c "$package" | grep -qv '^[^ ]* root/root' && fail "$package has files that are not root's"
    dpkg-deb -x "$package" "$work/root"
done

"$work/root/usr/bin/lrvb" fit mixture "$work/root/usr/share/doc/lrvb/data/old_faithful.csv" -k 1 --quiet
gzip -dc "$work/root/usr/share/man/man1/lrvb.1.gz" | grep -q '^\.SS "lrvb fit mixture"' || fail "there is no manual page"
[ -f "$work/root/usr/share/doc/lrvb/copyright" ] || fail "there is no copyright file"
[ -f "$work/root/usr/include/lrvb/lrvb.hpp" ] || fail "there are no headers"
[ -n "$(find "$work/root/usr/lib" -name lrvb-config.cmake)" ] || fail "find_package would not find it"

# MPI is with the package that needs it.
dpkg-deb -f "$program" Depends | grep -qi 'mpi' && fail "lrvb depends on MPI"
dpkg-deb -c "$program" | grep -q 'lrvb-mpi' && fail "lrvb has the program for MPI"
if [ -f "$build/bin/lrvb-mpi" ]; then
    ranks=$(echo "$work"/made/lrvb-mpi_"$version"_*.deb)
    [ -f "$ranks" ] || fail "there is no package of lrvb-mpi: $(ls "$work/made")"
    dpkg-deb -f "$ranks" Depends | grep -q "lrvb (= $version)" || fail "lrvb-mpi does not depend on its lrvb"
    dpkg-deb -f "$ranks" Depends | grep -qi 'mpi' || fail "lrvb-mpi does not depend on MPI"
    dpkg-deb -x "$ranks" "$work/root"
    "$work/root/usr/bin/lrvb-mpi" -V | grep -q "^lrvb $version" || fail "the program for MPI does not run"
fi
rm -rf "$work/made/_CPack_Packages"
