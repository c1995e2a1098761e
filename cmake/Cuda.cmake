# The CUDA pieces that the Python environment's wheels hold. The driver (libcuda) and NVML are opened
# at run time, so that one binary runs with and without a GPU.
file(GLOB WARPSMITH_SITE_PACKAGES ${WARPSMITH_VENV}/lib/python3*/site-packages)
set(WARPSMITH_CUDA_ROOT ${WARPSMITH_SITE_PACKAGES}/nvidia/cu13)
if(NOT EXISTS ${WARPSMITH_CUDA_ROOT}/include/nvrtc.h)
  message(FATAL_ERROR "No CUDA headers in ${WARPSMITH_VENV}: run tools/setup, or set WARPSMITH_VENV")
endif()

# warpsmith::cuda_headers: cuda.h, nvrtc.h, CUPTI's headers; no library.
add_library(warpsmith_cuda_headers INTERFACE)
add_library(warpsmith::cuda_headers ALIAS warpsmith_cuda_headers)
target_include_directories(warpsmith_cuda_headers SYSTEM INTERFACE ${WARPSMITH_CUDA_ROOT}/include)
