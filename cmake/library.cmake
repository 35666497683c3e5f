# The library: headers of the four source folders, and every .cpp in core, formats and kernels.
file(GLOB_RECURSE sporades_sources CONFIGURE_DEPENDS
  ${PROJECT_SOURCE_DIR}/core/*.cpp ${PROJECT_SOURCE_DIR}/formats/*.cpp
  ${PROJECT_SOURCE_DIR}/kernels/*.cpp)

# Headers are included as <sporades/core/error.hpp> from the build tree and from an install alike.
set(sporades_include ${PROJECT_BINARY_DIR}/include)
file(MAKE_DIRECTORY ${sporades_include}/sporades)
foreach(folder core formats kernels algorithms)
  file(CREATE_LINK ${PROJECT_SOURCE_DIR}/${folder} ${sporades_include}/sporades/${folder} SYMBOLIC)
endforeach()

add_library(sporades ${sporades_sources})
add_library(sporades::sporades ALIAS sporades)
target_compile_features(sporades PUBLIC cxx_std_17)
target_include_directories(sporades PUBLIC $<BUILD_INTERFACE:${sporades_include}>
                                           $<INSTALL_INTERFACE:include>)
target_link_libraries(sporades PUBLIC Kokkos::kokkos Kokkos::kokkoskernels
                               PRIVATE LAPACK::LAPACK ZLIB::ZLIB Threads::Threads)
