# Installs under a prefix beside a file that was there before, runs what was installed, and removes it again.
set -eu
source=$1 build=$2 work=$3
fail() {
    echo "$1" >&2
    exit 1
}
rm -rf "$work"
mkdir -p "$work/root/opt/some where/bin"
prefix="/opt/some where"
there="$work/root$prefix"
echo mine >"$there/bin/mine"

"$source/scripts/install" "$build" "$prefix" "$work/root"
"$there/bin/lrvb" -V | grep -q '^lrvb ' || fail "the installed program does not run"
if [ -f "$build/bin/lrvb-mpi" ]; then
    "$there/bin/lrvb-mpi" -V | grep -q '^lrvb ' || fail "the installed program for MPI does not run"
fi
gzip -dc "$there/share/man/man1/lrvb.1.gz" | grep -q '^\.TH LRVB 1' || fail "there is no manual page"
[ -f "$there/share/bash-completion/completions/lrvb" ] || fail "there is no completion for bash"
[ -f "$there/share/doc/lrvb/docs/program.md" ] || fail "there are no documents"
# From the folder of the documents, as from the repository's root.
(cd "$there/share/doc/lrvb" && "$there/bin/lrvb" fit mixture data/old_faithful.csv -k 1 --quiet)

# Installed again, and once: the list does not grow.
"$source/scripts/install" "$build" "$prefix" "$work/root" >"$work/again"
[ -z "$(sort "$there/share/doc/lrvb/installed_files.txt" | uniq -d)" ] || fail "the list names a file twice"

"$source/scripts/uninstall" "$prefix" "$work/root"
left=$(find "$work/root" -type f)
[ "$left" = "$there/bin/mine" ] || fail "uninstall left or took too much: $left"
own=$(find "$work/root" -name lrvb)
[ -z "$own" ] || fail "uninstall left folders: $own"

# A second time there is nothing to remove, and it says so.
if "$source/scripts/uninstall" "$prefix" "$work/root" 2>"$work/message"; then fail "uninstall of nothing succeeds"; fi
grep -q 'nothing was installed under' "$work/message" || fail "uninstall of nothing does not say so"
