#!/usr/bin/env bash
# For the tests and for machines without a registry: podman, buildah and runc from Debian, and a base image for the
# Dockerfile, made by debootstrap from the mirror that apt uses. Root on Debian.
#   test-base.sh BASE.tar      BASE.tar is made once; remove it for a new one
set -euo pipefail
tar=$1
# netavark runs iptables, debootstrap checks signatures with the keyring; neither is drawn in by itself.
packages=(podman buildah runc netavark aardvark-dns iptables debootstrap debian-archive-keyring)
export DEBIAN_FRONTEND=noninteractive

installed() { dpkg-query --show --showformat='${db:Status-Status}\n' "${packages[@]}" 2>/dev/null | grep -c '^installed$'; }

if [ "$(installed)" -ne "${#packages[@]}" ]; then
    # Another script may be installing at the same time.
    exec 9>/var/lock/backbone-dask-apt && flock 9
    apt-get update --quiet --quiet
    apt-get install -o DPkg::Lock::Timeout=300 --quiet --quiet --yes --no-install-recommends "${packages[@]}"
fi
if [ -e "$tar" ]; then exit; fi

. /etc/os-release
mirror=$(apt-get indextargets --format '$(SITE)' 'Created-By: Packages' "Release: $VERSION_CODENAME" | head -n 1)
if [ -z "$mirror" ]; then
    echo "test-base.sh: apt has no source of $VERSION_CODENAME, which debootstrap could use; name it in apt's sources" >&2
    exit 1
fi
mkdir -p "$(dirname "$tar")"
work=$(mktemp -d "$tar.XXXXXX")
trap 'rm -rf "$work"' EXIT
debootstrap --variant=minbase --include=python3,python3-venv,ca-certificates "$VERSION_CODENAME" "$work/root" "$mirror"
rm -rf "$work"/root/var/cache/apt/archives/*.deb "$work"/root/var/lib/apt/lists/*
tar --create --directory "$work/root" --file "$work/base.tar" .
mv "$work/base.tar" "$tar"
