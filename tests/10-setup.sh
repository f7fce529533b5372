#!/usr/bin/env bash
# What a newcomer runs into first: the list of targets, and clear words when the
# kernel that was asked for is not there, not a kernel or not a supported one.

. "$(dirname "$0")/lib.sh"
scratch_repo

# try COMMAND…: sets said and rc.
try() {
	said=$(cd "$REPO" && "$@" 2>&1 </dev/null) && rc=0 || rc=$?
	printf '$ %s\n%s\n(status %s)\n' "$*" "$said" "$rc" >&2
}

try make
while read -r target; do
	contains "make lists $target" "$said" "^  make $target +[a-z]"
done < <(sed -nE 's/^([a-z]+):.*/\1/p' Makefile | sort -u)

try env KERNEL=/nonexistent scripts/fetch
same "KERNEL=/nonexistent: status 2" 2 "$rc"
contains "KERNEL=/nonexistent: says so" "$said" 'KERNEL=/nonexistent: no such directory'
try env KERNEL=/etc/passwd scripts/fetch
same "KERNEL=file: status 2" 2 "$rc"
contains "KERNEL=file: says so" "$said" 'KERNEL=/etc/passwd: not a directory'
try env KERNEL=/etc scripts/fetch
same "KERNEL=/etc: status 2" 2 "$rc"
contains "KERNEL=/etc: says so" "$said" 'KERNEL=/etc: not a Linux source tree'
try env VERSION=1.0 scripts/fetch
same "VERSION=1.0: status 2" 2 "$rc"
contains "VERSION=1.0: lists the supported ones" "$said" "choose one of: $(supported_kernels | paste -sd' ')"
try env CONFIG=nonesuch scripts/build
same "CONFIG=nonesuch: status 2" 2 "$rc"
contains "CONFIG=nonesuch: lists what there is" "$said" 'there are: .*x86_64.config'

# A tree that looks like an old kernel, with a build's leavings.
own=$SCRATCH/own
mkdir -p "$own/mm"
printf 'VERSION = 6\nPATCHLEVEL = 1\nmrproper:\n\trm -f junk.o\n' >"$own/Makefile"
touch "$own/Kconfig" "$own/junk.o"
echo 'int page_alloc;' >"$own/mm/page_alloc.c"
before=$(find "$own" -type f -exec sha1sum {} + | sort)
mkdir -p "$REPO/patches"
cat >"$REPO/patches/0001-dummy.patch" <<'END'
From: A Tester <tester@localhost>
Subject: [PATCH] mm/leaktrend: dummy

Body.
---
 mm/page_alloc.c |    2 +-

diff --git a/mm/page_alloc.c b/mm/page_alloc.c
--- a/mm/page_alloc.c
+++ b/mm/page_alloc.c
@@ -1,1 +1,1 @@
-int other;
+int leaktrend;
END
echo 0001-dummy.patch >"$REPO/patches/series"
try env KERNEL="$own" scripts/series apply
contains "unsupported own tree: warns" "$said" 'warning: KERNEL=.* is Linux 6.1; the series is kept for '
same "unsupported own tree: a patch that fails is an error" 1 "$rc"
contains "unsupported own tree: the patch is named" "$said" '0001-dummy.patch does not apply'
sed -i 's/other/page_alloc/' "$REPO/patches/0001-dummy.patch"
try env KERNEL="$own" scripts/series apply
same "own tree: applies" 0 "$rc"
name=own-$(printf '%s' "$own" | sha1sum | cut -c1-8)
same "own tree: the copy is patched" 'int leaktrend;' "$(cat "$REPO/build/work-$name/mm/page_alloc.c")"
same "own tree: the copy has no old objects" "" "$(find "$REPO/build/work-$name/" -name '*.o')"
same "own tree: the original is untouched" "$before" "$(find "$own" -type f -exec sha1sum {} + | sort)"

git -C "$own" init -q
git -C "$own" add Makefile Kconfig mm
git -C "$own" -c user.name=a -c user.email=a@localhost commit -qm tree
git_before=$(find "$own" -type f ! -name index -exec sha1sum {} + | sort)
rm -rf "$REPO/build/work-$name" "$REPO/build/linux-$name"
try env KERNEL="$own" scripts/series apply
same "own git tree: applies" 0 "$rc"
same "own git tree: the copy is patched" 'int leaktrend;' "$(cat "$REPO/build/work-$name/mm/page_alloc.c")"
same "own git tree: the original is untouched" "$git_before" "$(find "$own" -type f ! -name index -exec sha1sum {} + | sort)"
echo 'int next;' >>"$own/mm/page_alloc.c"
try env KERNEL="$own" scripts/fetch
same "own git tree: a change is picked up" "int next;" "$(tail -n 1 "$REPO/build/linux-$name/mm/page_alloc.c")"

# A system without apt.
mkdir "$SCRATCH/bin"
for f in /usr/sbin/* /sbin/* /usr/bin/* /bin/*; do
	case ${f##*/} in apt* | dpkg* | '[') ;; *) ln -sf "$f" "$SCRATCH/bin/" ;; esac
done
rm -rf "$REPO"/build/linux-[0-9]*
try env PATH="$SCRATCH/bin" scripts/fetch
same "no Debian: status 2" 2 "$rc"
contains "no Debian: says what to do" "$said" 'KERNEL=/path/to/linux'
rm -f "$SCRATCH/bin/quilt"
try env PATH="$SCRATCH/bin" scripts/setup
same "no Debian: missing programs are an error" 2 "$rc"
contains "no Debian: they are named" "$said" 'missing:.* quilt'

# The mirror's address comes from the system's sources, in either format.
mkdir -p "$SCRATCH/apt/sources.list.d"
echo 'deb [arch=amd64 signed-by=/k.gpg] http://one.test/debian bookworm main contrib' >"$SCRATCH/apt/sources.list"
echo 'deb http://vendor.test/apt vendor-bookworm main' >"$SCRATCH/apt/sources.list.d/vendor.list"
cat >"$SCRATCH/apt/sources.list.d/debian.sources" <<'END'
# comment
Types: deb deb-src
# between
URIs: http://two.test/debian
Suites: bookworm bookworm-updates
Components: main

Types: deb
URIs: http://off.test/debian
Suites: bookworm
Enabled: no

Types: deb
URIs: http://two.test/debian-security
Suites: bookworm-security
END
try env APT_ETC="$SCRATCH/apt" scripts/fetch --mirrors
same "the mirrors of both formats are found" $'http://one.test/debian\nhttp://two.test/debian' "$said"
try env APT_ETC=/nonexistent VERSION=7.2 scripts/fetch
same "no mirror: status 2" 2 "$rc"
contains "no mirror: says what to do" "$said" 'no Debian mirror in'
done_testing
