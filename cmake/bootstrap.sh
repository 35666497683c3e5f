#!/usr/bin/env bash
# SPDX-FileCopyrightText: Sporades contributors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

# bootstrap.sh: makes sure that this machine has all that is needed to build Sporades, and prints the
# CMake arguments that find it, one a line. It reports what it does on standard error.
#   1. If compilers, tools or libraries are missing, root installs Debian's packages; other users are
#      told their names.
#   2. If there is an installed Kokkos with a parallel backend (in CMAKE_PREFIX_PATH, Kokkos_ROOT,
#      /usr ...), it is used.
#   3. Otherwise Kokkos and Kokkos Kernels 3.4.01 are built once, with OpenMP and for this processor,
#      from Debian's source package trilinos, into ${SPORADES_CACHE:-~/.cache/sporades}.
# It can be interrupted and run again at any time. It does not change the machine's apt configuration.
set -euo pipefail

trilinos=13.2.0 # holds Kokkos and Kokkos Kernels 3.4.01
libraries=(libopenblas-openmp-dev zlib1g-dev catch2 libcli11-dev nlohmann-json3-dev libfmt-dev)
extras=(ccache doxygen libbenchmark-dev libopenmpi-dev openmpi-bin) # useful, but not necessary
megabytes_needed=400 # download, build and result took 212 MB at most on Debian 12

say() { echo "sporades: $*" >&2; }
fail() {
  say "$*"
  exit 1
}

cxx=${CXX:-c++}

# logged FILE SENTENCE COMMAND...: runs the command and writes its output to FILE. If it fails, prints
# SENTENCE and the end of the output, and exits.
logged() {
  local log=$1 sentence=$2 status
  shift 2
  set +e
  (
    set -e
    "$@"
  ) > "$log" 2>&1 < /dev/null
  status=$?
  set -e
  [[ $status == 0 ]] || fail "$sentence; the end of $log is:"$'\n'"$(tail -n 15 "$log")"
}

# Prints the Debian packages whose content is missing. It looks for the content, not for the package,
# since the content may have been installed in another way.
missing_packages() {
  command -v cmake > /dev/null || echo cmake
  command -v ninja > /dev/null || echo ninja-build
  if ! command -v "$cxx" > /dev/null; then
    printf '%s\n' g++ "${libraries[@]}"
    return
  fi
  local includes=() prefix
  while IFS= read -r prefix; do
    [[ $prefix ]] && includes+=("-isystem$prefix/include")
  done < <(tr ':;' '\n\n' <<< "${CMAKE_PREFIX_PATH:-}")
  "$cxx" "${includes[@]}" -x c++ -E -P - << 'END' | grep . || true
#if !__has_include(<zlib.h>)
zlib1g-dev
#endif
#if !__has_include(<catch2/catch_all.hpp>) && !__has_include(<catch2/catch.hpp>)
catch2
#endif
#if !__has_include(<CLI/CLI.hpp>)
libcli11-dev
#endif
#if !__has_include(<nlohmann/json.hpp>)
nlohmann-json3-dev
#endif
#if !__has_include(<fmt/format.h>)
libfmt-dev
#endif
END
  link() { "$cxx" -x c++ - -o /dev/null "$@" <<< 'int main() {}' 2> /dev/null; }
  link -lopenblas || link -llapack -lblas || echo libopenblas-openmp-dev
}

install_packages() {
  export DEBIAN_FRONTEND=noninteractive
  dpkg --configure -a                                      # in case an earlier run was interrupted
  apt-get -o DPkg::Lock::Timeout=300 -q update || true # the old lists may be enough
  "$@" -o DPkg::Lock::Timeout=300 -q
}

install_missing_packages() {
  local missing
  mapfile -t missing < <(missing_packages)
  [[ ${#missing[@]} != 0 ]] || return 0
  command -v apt-get > /dev/null ||
    fail "this machine lacks what Debian calls ${missing[*]}, and has no apt-get: install them, then run this again."
  local install=(apt-get install -y --no-install-recommends "${missing[@]}" "${extras[@]}")
  [[ $(id -u) == 0 ]] ||
    fail "packages are missing: let root run '${install[*]}', then run this again."
  say "installing ${missing[*]} ${extras[*]}"
  logged "$cache/apt.log" "'${install[*]}' failed" install_packages "${install[@]}"
  mapfile -t missing < <(missing_packages)
  [[ ${#missing[@]} == 0 ]] ||
    fail "${missing[*]} are installed, but $cxx does not find their content; is CXX=$cxx the right compiler?"
}

# Looks for an installed Kokkos as CMake does and prints "<version> <devices> <Kokkos_DIR> <KokkosKernels_DIR>",
# one a line; nothing where there is none.
probe() {
  local folder=$scratch/probe
  mkdir -p "$folder"
  cat > "$folder/CMakeLists.txt" << 'END'
cmake_minimum_required(VERSION 3.18)
project(probe CXX)
set(CMAKE_CXX_EXTENSIONS OFF)
find_package(Kokkos QUIET)
find_package(KokkosKernels QUIET)
file(WRITE ${CMAKE_BINARY_DIR}/found "${Kokkos_VERSION}\n${Kokkos_DEVICES}\n${Kokkos_DIR}\n${KokkosKernels_DIR}\n")
END
  rm -rf "$folder/build"
  cmake -G Ninja -S "$folder" -B "$folder/build" -DCMAKE_CXX_COMPILER="$cxx" \
    -DCMAKE_CXX_COMPILER_WORKS=1 > "$folder/log" 2>&1 || true
  if [[ -s $folder/build/found ]]; then cat "$folder/build/found"; fi
}

# If there is an installed Kokkos that Sporades can use, prints the arguments that name it. Else fails.
use_installed_kokkos() {
  local found version devices kokkos kernels
  mapfile -t found < <(probe)
  version=${found[0]:-} devices=${found[1]:-} kokkos=${found[2]:-} kernels=${found[3]:-}
  [[ $version ]] || return 1
  if [[ ! $devices =~ OPENMP|THREAD|HPX|CUDA|HIP|SYCL ]]; then
    say "passing over Kokkos $version in $kokkos: it has no parallel backend"
  elif [[ ! -d $kernels ]]; then
    say "passing over Kokkos $version in $kokkos: it has no Kokkos Kernels"
  elif [[ $version =~ ^([0-2]\.|3\.[0-3](\.|$)) ]]; then
    say "passing over Kokkos $version in $kokkos: Sporades needs at least 3.4"
  else
    say "using Kokkos $version (${devices//;/, }) in $kokkos"
    printf '%s\n' "-DKokkos_DIR=$kokkos" "-DKokkosKernels_DIR=$kernels"
    return
  fi
  return 1
}

# Prints a deb-src line for each package source of this release in apt's configuration.
source_list() {
  local uri entry codename release component file key
  codename=$(. /etc/os-release && echo "${VERSION_CODENAME:-}")
  while IFS='|' read -r uri release component entry; do
    [[ $component == main && $release == "$codename" ]] || continue
    file=${entry%:*} key=
    if [[ -r $file ]]; then
      key=$(sed -nE 's/^Signed-By: *(\/[^ ]+).*/\1/p; s/.*\[.*signed-by=(\/[^] ]+).*/\1/p' "$file" | head -n 1)
    fi
    echo "deb-src ${key:+[signed-by=$key] }$uri $release main"
  done < <(apt-get indextargets --format '$(REPO_URI)|$(RELEASE)|$(COMPONENT)|$(SOURCESENTRY)' 'Created-By: Packages') |
    sort -u
}

download_trilinos() {
  local apt=$cache/apt
  mkdir -p "$apt/lists/partial" "$apt/archives/partial" "$cache/download"
  source_list > "$apt/sources.list"
  [[ -s $apt/sources.list ]] || fail "apt knows no package source of this Debian release, from which it could download trilinos."
  # Check-Valid-Until: the version is fixed, so an old snapshot of the archive is good enough.
  local options=(-o Dir::Etc::sourcelist="$apt/sources.list" -o Dir::Etc::sourceparts=-
    -o Dir::State::Lists="$apt/lists" -o Dir::Cache="$apt" -o Dir::Cache::archives="$apt/archives"
    -o Dir::Cache::pkgcache= -o Dir::Cache::srcpkgcache= -o APT::Sandbox::User=root
    -o Acquire::Languages=none -o Acquire::Check-Valid-Until=false)
  apt-get "${options[@]}" -q update || true
  local version
  version=$(apt-cache "${options[@]}" showsrc trilinos | sed -n "s/^Version: \($trilinos-.*\)/\1/p")
  version=${version%%$'\n'*}
  [[ $version ]] || fail "this release has no trilinos $trilinos"
  cd "$cache/download"
  apt-get "${options[@]}" -q --download-only --only-source source "trilinos=$version"
}

build_kokkos() {
  local prefix=$1 work=$scratch/build jobs=$2
  mkdir -p "$work"
  cd "$work"
  tar -xf "$cache"/download/trilinos_"$trilinos".orig.tar.* --wildcards --strip-components=2 \
    '*/packages/kokkos/*' '*/packages/kokkos-kernels/*'
  local common=(-G Ninja -DCMAKE_BUILD_TYPE=Release -DCMAKE_CXX_COMPILER="$cxx" -DCMAKE_INSTALL_PREFIX="$prefix"
    -DCMAKE_INSTALL_LIBDIR=lib -DBUILD_SHARED_LIBS=ON "-DCMAKE_INSTALL_RPATH=\$ORIGIN"
    -DCMAKE_CXX_STANDARD=17 -DCMAKE_CXX_EXTENSIONS=OFF "-DCMAKE_CXX_FLAGS=$native")
  cmake -S kokkos -B kokkos-build "${common[@]}" -DKokkos_CXX_STANDARD=17 -DKokkos_ENABLE_OPENMP=ON \
    -DKokkos_ENABLE_SERIAL=ON
  cmake --build kokkos-build -j "$jobs"
  cmake --install kokkos-build
  # Explicit instantiation is off: it would take 40 minutes and leave undefined references. The name
  # mangling is given, because CMake would need a Fortran compiler to find it out.
  cmake -S kokkos-kernels -B kernels-build "${common[@]}" -DKokkos_DIR="$prefix/lib/cmake/Kokkos" \
    -DKokkosKernels_ADD_DEFAULT_ETI=OFF -DKokkosKernels_ENABLE_TPL_BLAS=ON -DKokkosKernels_ENABLE_TPL_LAPACK=ON \
    "-DF77_BLAS_MANGLE=(name,NAME) name ## _"
  cmake --build kernels-build -j "$jobs"
  cmake --install kernels-build
  grep -q 'define KOKKOS_ENABLE_OPENMP' "$prefix/include/KokkosCore_config.h"
}

export HOME=${HOME:-/root}
[[ $# == 0 ]] || fail "bootstrap.sh takes no arguments, but got: $*"
cache=${SPORADES_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/sporades}
mkdir -p "$cache" 2> /dev/null || true
[[ -w $cache ]] || fail "cannot write to the cache folder $cache: name another one in SPORADES_CACHE."
cache=$(cd "$cache" && pwd)
scratch=$(mktemp -d "$cache/work.XXXXXX")
trap 'rm -rf "$scratch"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP

install_missing_packages
if use_installed_kokkos; then exit; fi

# Several machines may share this cache folder. The compiler's macros for -march=native tell their
# processors apart.
native=-march=native
"$cxx" $native -x c++ -E - < /dev/null > /dev/null 2>&1 || native=
key=$("$cxx" $native -x c++ -dM -E - < /dev/null | sha256sum | cut -c 1-12)
prefix=$cache/kokkos-3.4.01-$key
stamp=$prefix/complete

if [[ ! -e $stamp ]]; then
  exec 9> "$cache/lock"
  if command -v flock > /dev/null && ! flock -n 9; then
    say "waiting for another run that builds into $cache"
    flock 9
  fi
fi
if [[ ! -e $stamp ]]; then
  command -v apt-get > /dev/null ||
    fail "found no Kokkos, and without apt-get cannot download one: install Kokkos and Kokkos Kernels, name their prefix in CMAKE_PREFIX_PATH, then run this again."
  find "$cache" -maxdepth 1 -name 'work.*' -mmin +60 -exec rm -rf {} + # left by runs that were killed
  free=$(df -Pm "$cache" | awk 'NR == 2 { print $4 }')
  ((free >= megabytes_needed)) ||
    fail "building Kokkos needs $megabytes_needed MB in $cache, and $free MB are free: make room, or name another folder in SPORADES_CACHE."
  say "downloading the source package trilinos $trilinos (160 MB)"
  logged "$cache/download.log" "apt could not get the source package trilinos $trilinos" download_trilinos
  jobs=$(env -u OMP_NUM_THREADS -u OMP_THREAD_LIMIT nproc)
  say "building Kokkos and Kokkos Kernels 3.4.01 with OpenMP on $jobs cores (a minute on two)"
  rm -rf "$prefix"
  logged "$cache/build.log" 'Kokkos could not be built' build_kokkos "$prefix" "$jobs"
  touch "$stamp"
  rm -rf "$cache/download" "$cache/apt" "$cache"/*.log
  say "Kokkos 3.4.01 is in $prefix"
else
  say "using Kokkos 3.4.01 (OPENMP, SERIAL) in $prefix"
fi
printf '%s\n' "-DKokkos_DIR=$prefix/lib/cmake/Kokkos" "-DKokkosKernels_DIR=$prefix/lib/cmake/KokkosKernels"
