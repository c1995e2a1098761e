# warpsmith::torch: libtorch from the PyPI wheel, as an imported target. find_package(Torch) would
# demand a whole CUDA toolkit. libtorch_cpu needs libcudart and libcupti to load, even without a GPU,
# so they are on the run path; libtorch_cuda is opened at run time where there is a GPU.
set(torch_root ${WARPSMITH_SITE_PACKAGES}/torch)
if(NOT EXISTS ${torch_root}/lib/libtorch_cpu.so)
  message(FATAL_ERROR "No libtorch in ${WARPSMITH_VENV}: run tools/setup, or set WARPSMITH_VENV")
endif()

add_library(warpsmith_torch INTERFACE)
add_library(warpsmith::torch ALIAS warpsmith_torch)
target_include_directories(warpsmith_torch SYSTEM INTERFACE
  ${torch_root}/include ${torch_root}/include/torch/csrc/api/include)
target_compile_options(warpsmith_torch INTERFACE -Wno-shadow -Wno-unused-parameter)
target_link_libraries(warpsmith_torch INTERFACE
  ${torch_root}/lib/libtorch_cpu.so ${torch_root}/lib/libc10.so)
target_link_options(warpsmith_torch INTERFACE
  -Wl,--disable-new-dtags
  -Wl,-rpath,${torch_root}/lib -Wl,-rpath,${WARPSMITH_CUDA_ROOT}/lib
  -Wl,-rpath-link,${torch_root}/lib -Wl,-rpath-link,${WARPSMITH_CUDA_ROOT}/lib
  -Wl,--allow-shlib-undefined)
