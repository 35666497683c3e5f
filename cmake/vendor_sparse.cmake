# SPDX-FileCopyrightText: Sporades contributors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

# sporades_vendor_sparse: the sparse library of the GPU's vendor, where Kokkos has a GPU, for the
# benchmarks that compare with it and their tests. perf/support/vendor_spmm.hpp calls it.
add_library(sporades_vendor_sparse INTERFACE)
if(Kokkos_DEVICES MATCHES "CUDA")
  find_package(CUDAToolkit REQUIRED)
  target_link_libraries(sporades_vendor_sparse INTERFACE CUDA::cusparse)
elseif(Kokkos_DEVICES MATCHES "HIP")
  find_package(rocsparse REQUIRED)
  target_link_libraries(sporades_vendor_sparse INTERFACE roc::rocsparse)
endif()
