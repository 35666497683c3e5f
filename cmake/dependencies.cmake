# What Sporades stands on; README.md says how to get it.
find_package(Kokkos 3.4 REQUIRED)
find_package(KokkosKernels REQUIRED)
find_package(LAPACK REQUIRED)
find_package(ZLIB REQUIRED)
find_package(Threads REQUIRED)
message(STATUS "Sporades: Kokkos ${Kokkos_VERSION} with ${Kokkos_DEVICES} in ${Kokkos_DIR}")
