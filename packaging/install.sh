#!/bin/sh
# Installs `baton` for this user: finds the archive for this machine, checks its SHA-256, unpacks it below a prefix.
#
#   sh install.sh [--version VERSION] [--from URL|FOLDER] [--prefix DIR] [--uninstall]
#
# --from     where the archives and SHA256SUMS lie: a folder or an address (else the releases of $BATON_REPOSITORY, the
#            address of a repository on GitHub: none is built in as long as no release has been published)
# --prefix   default: ~/.local; nothing outside of it is written
set -eu

repository=${BATON_REPOSITORY:-}
version=latest from='' prefix="${HOME:?HOME is not set}/.local" uninstall=''
manifest=share/baton/installed

fail() { printf 'install.sh: %s\n' "$*" >&2; exit 1; }

value() {
    if [ "$#" -lt 2 ] || [ -z "$2" ]; then fail "$1 wants a value"; fi
    printf '%s' "$2"
}

while [ "$#" -gt 0 ]; do
    case $1 in
        --version) version=$(value "$@"); shift 2 ;;
        --from) from=$(value "$@"); shift 2 ;;
        --prefix) prefix=$(value "$@"); shift 2 ;;
        --uninstall) uninstall=yes; shift ;;
        -h|--help) sed -n '2,8s/^# \{0,1\}//p' "$0"; exit 0 ;;
        *) fail "unknown option $1; see --help" ;;
    esac
done

remove() {
    [ -f "$prefix/$manifest" ] || fail "nothing was installed below $prefix by this script"
    while IFS= read -r file; do
        case $file in ''|/*|*..*) fail "$prefix/$manifest names $file, which this script did not write" ;; esac
        rm -f "$prefix/$file"
    done <"$prefix/$manifest"
    rm -f "$prefix/$manifest"
    find "$prefix/share/baton" -depth -type d -exec rmdir {} \; 2>/dev/null || true
    echo "removed from $prefix; the ledger and the settings stay (docs/install.md: remove everything)"
}
if [ -n "$uninstall" ]; then remove; exit 0; fi

# Static binaries for Linux; a machine that is none of these is refused before anything is fetched.
case "$(uname -s)/$(uname -m)" in
    Linux/x86_64|Linux/amd64) targets="x86_64-unknown-linux-musl x86_64-unknown-linux-gnu" ;;
    Linux/aarch64|Linux/arm64) targets="aarch64-unknown-linux-musl aarch64-unknown-linux-gnu" ;;
    Darwin/x86_64) targets=x86_64-apple-darwin ;;
    Darwin/arm64) targets=aarch64-apple-darwin ;;
    *) fail "there is no binary for $(uname -s) on $(uname -m): build from source with cargo install --path crates/baton" ;;
esac

if command -v sha256sum >/dev/null 2>&1; then sum() { sha256sum "$1" | cut -d' ' -f1; }
elif command -v shasum >/dev/null 2>&1; then sum() { shasum -a 256 "$1" | cut -d' ' -f1; }
else fail "neither sha256sum nor shasum is there, so nothing could be verified"
fi

if [ -z "$from" ]; then
    [ -n "$repository" ] || fail "say where the archives lie with --from FOLDER or --from ADDRESS"
    if [ "$version" = latest ]; then from=$repository/releases/latest/download
    else from=$repository/releases/download/v$version
    fi
fi
fetch() {
    case $from in
        http://*|https://*)
            if command -v curl >/dev/null 2>&1; then curl -fsSL --proto '=https,http' -o "$2" "$from/$1"
            elif command -v wget >/dev/null 2>&1; then wget -q -O "$2" "$from/$1"
            else fail "neither curl nor wget is there"
            fi ;;
        *) cp "$from/$1" "$2" ;;
    esac
}

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT INT TERM
fetch SHA256SUMS "$work/sums" || fail "$from has no SHA256SUMS"
archive='' expected=''
for target in $targets; do
    line=$(grep -E "^[0-9a-f]{64}  baton-[0-9A-Za-z.+-]+-$target\.tar\.gz$" "$work/sums" || true)
    if [ "$version" != latest ]; then line=$(printf '%s\n' "$line" | grep -F "  baton-$version-$target." || true); fi
    line=$(printf '%s\n' "$line" | tail -n 1)
    if [ -n "$line" ]; then archive=${line#*  } expected=${line%% *}; break; fi
done
[ -n "$archive" ] || fail "$from has no archive for this machine ($targets)"
fetch "$archive" "$work/archive.tar.gz" || fail "$from/$archive cannot be fetched"
actual=$(sum "$work/archive.tar.gz")
[ "$actual" = "$expected" ] || fail "$archive is not what SHA256SUMS says (expected $expected, got $actual); nothing was installed"

tar -xzf "$work/archive.tar.gz" -C "$work"
tree=$work/${archive%.tar.gz}
"$tree/bin/baton" --version >/dev/null 2>&1 || fail "the binary does not run on this machine; nothing was installed"
mkdir -p "$prefix/share/baton" || fail "$prefix cannot be written"
(cd "$tree" && find . -type f ! -path './lib/systemd/*' | sed 's|^\./||' | sort) >"$work/files"
while IFS= read -r file; do
    mkdir -p "$prefix/$(dirname "$file")"
    # Beside the old one and then renamed: a binary that runs is not written over.
    cp -p "$tree/$file" "$prefix/$file.new" && mv -f "$prefix/$file.new" "$prefix/$file"
done <"$work/files"
cp "$work/files" "$prefix/$manifest"
echo "installed $("$prefix/bin/baton" --version) to $prefix/bin/baton"
case ":${PATH:-}:" in *":$prefix/bin:"*) ;; *) echo "add it to your PATH: export PATH=\"$prefix/bin:\$PATH\"" ;; esac
