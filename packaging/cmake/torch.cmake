# SPDX-License-Identifier: GPL-3.0-or-later
# libtorch out of PyPI's wheel, as imported targets of our own: `find_package(Torch)` refuses C++20 and drags in nvcc (docs/sources.md,
# libtorch workers). Looks in LOADLINE_TORCH (an environment or the torch folder), then in Loadline's own environment.
#   loadline::torch         libtorch_cpu, libc10, c10d with Gloo
#   loadline::torch_cuda    with libtorch_cuda and c10d's NCCL besides, where the CUDA 13 toolkit and NCCL's header are found
# Sets LOADLINE_TORCH_FOUND, LOADLINE_TORCH_CUDA_FOUND, LOADLINE_TORCH_PYTHON and LOADLINE_TORCH_VERSION.
set(LOADLINE_TORCH_VERSION 2.11.0) # the version that the workers are written for; packaging/lib.sh installs it
set(LOADLINE_TORCH_FOUND OFF)
set(LOADLINE_TORCH_CUDA_FOUND OFF)

if(DEFINED ENV{XDG_CACHE_HOME})
    set(cache $ENV{XDG_CACHE_HOME})
else()
    set(cache $ENV{HOME}/.cache)
endif()
set(looked)
set(torch)
foreach(place $ENV{LOADLINE_TORCH} ${cache}/loadline/torch-${LOADLINE_TORCH_VERSION})
    file(GLOB candidates ${place} ${place}/lib/python3*/site-packages/torch)
    foreach(candidate ${candidates})
        if(EXISTS ${candidate}/lib/libtorch_cpu.so AND NOT torch)
            set(torch ${candidate})
        endif()
    endforeach()
    list(APPEND looked ${place})
endforeach()
if(NOT torch)
    message(STATUS "loadline-device is left out: no PyTorch in ${looked}")
    return()
endif()
file(STRINGS ${torch}/version.py found REGEX "^__version__")
if(NOT found MATCHES "'${LOADLINE_TORCH_VERSION}")
    message(STATUS "loadline-device is left out: ${torch} is not version ${LOADLINE_TORCH_VERSION}")
    return()
endif()
# libtorch_cpu needs CUDA's runtime and CUPTI even where there is no GPU; they stand beside it or in the toolkit.
find_library(LOADLINE_CUDART NAMES libcudart.so.13 PATHS ${torch}/../nvidia/cu13/lib /usr/local/cuda/lib64 NO_DEFAULT_PATH)
find_library(LOADLINE_CUPTI NAMES libcupti.so.13 PATHS ${torch}/../nvidia/cu13/lib /usr/local/cuda/lib64 /usr/local/cuda/extras/CUPTI/lib64
             NO_DEFAULT_PATH)
find_path(LOADLINE_GLOO gloo/config.h) # the wheel has c10d's headers but not gloo's, which they include
if(NOT LOADLINE_CUDART OR NOT LOADLINE_CUPTI OR NOT LOADLINE_GLOO)
    message(STATUS "loadline-device is left out: it needs libcudart 13, libcupti 13 and Debian's libgloo-dev; packaging/start installs them")
    return()
endif()

foreach(library c10 torch_cpu)
    add_library(torch_${library} SHARED IMPORTED)
    set_target_properties(torch_${library} PROPERTIES IMPORTED_LOCATION ${torch}/lib/lib${library}.so IMPORTED_SONAME lib${library}.so)
endforeach()
add_library(loadline_torch INTERFACE)
add_library(loadline::torch ALIAS loadline_torch)
# After the system's headers: the wheel brings an fmt of its own, which no library here has the functions of.
target_compile_options(loadline_torch INTERFACE "SHELL:-idirafter ${torch}/include" "SHELL:-idirafter ${torch}/include/torch/csrc/api/include")
target_include_directories(loadline_torch SYSTEM INTERFACE ${LOADLINE_GLOO})
target_compile_definitions(loadline_torch INTERFACE USE_DISTRIBUTED USE_C10D_GLOO)
target_link_libraries(loadline_torch INTERFACE torch_torch_cpu torch_c10)
# RPATH, not RUNPATH: it also serves the libraries that libtorch loads. Only in the build folder: an installed program is told by the
# script that starts it.
get_filename_component(cudart_folder ${LOADLINE_CUDART} DIRECTORY)
get_filename_component(cupti_folder ${LOADLINE_CUPTI} DIRECTORY)
target_link_options(loadline_torch INTERFACE -Wl,--allow-shlib-undefined -Wl,--disable-new-dtags)
list(APPEND CMAKE_BUILD_RPATH ${torch}/lib ${cudart_folder} ${cupti_folder})
get_filename_component(LOADLINE_TORCH_PYTHON ${torch}/../../../../bin/python ABSOLUTE) # where tests look for torchrun
set(LOADLINE_TORCH_FOUND ON)
message(STATUS "loadline-device: PyTorch ${LOADLINE_TORCH_VERSION} in ${torch}")

# The CUDA half is compiled against the toolkit's headers; their versions must be those that the wheel was built with, since
# ncclConfig_t stands inside c10d's classes.
find_path(LOADLINE_CUDA_INCLUDE cuda_runtime_api.h HINTS $ENV{CUDA_HOME}/include PATHS /usr/local/cuda/include NO_DEFAULT_PATH)
find_path(LOADLINE_NCCL_INCLUDE nccl.h HINTS $ENV{CUDA_HOME}/include PATHS /usr/local/cuda/include ${torch}/../nvidia/nccl/include)
set(why)
if(NOT EXISTS ${torch}/lib/libtorch_cuda.so)
    set(why "this PyTorch has no CUDA")
elseif(NOT LOADLINE_CUDA_INCLUDE OR NOT LOADLINE_NCCL_INCLUDE)
    set(why "no CUDA toolkit with cuda_runtime_api.h, or no nccl.h, in CUDA_HOME or /usr/local/cuda")
else()
    file(STRINGS ${LOADLINE_CUDA_INCLUDE}/cuda_runtime_api.h cuda REGEX "define CUDART_VERSION +13")
    file(STRINGS ${LOADLINE_NCCL_INCLUDE}/nccl.h nccl REGEX "define NCCL_(MAJOR 2|MINOR 28)$")
    list(LENGTH nccl matches)
    if(NOT cuda OR NOT matches EQUAL 2)
        set(why "PyTorch ${LOADLINE_TORCH_VERSION} is built with CUDA 13 and NCCL 2.28, the headers found are others")
    endif()
endif()
if(why)
    message(STATUS "loadline-device without GPUs: ${why}")
    return()
endif()
foreach(library c10_cuda torch_cuda)
    add_library(torch_${library} SHARED IMPORTED)
    set_target_properties(torch_${library} PROPERTIES IMPORTED_LOCATION ${torch}/lib/lib${library}.so IMPORTED_SONAME lib${library}.so)
endforeach()
add_library(loadline_torch_cuda INTERFACE)
add_library(loadline::torch_cuda ALIAS loadline_torch_cuda)
target_include_directories(loadline_torch_cuda SYSTEM INTERFACE ${LOADLINE_CUDA_INCLUDE} ${LOADLINE_NCCL_INCLUDE})
target_compile_definitions(loadline_torch_cuda INTERFACE USE_C10D_NCCL)
# --no-as-needed: libtorch_cuda counts by what it registers, not by its symbols.
target_link_options(loadline_torch_cuda INTERFACE -Wl,--no-as-needed)
file(GLOB wheels LIST_DIRECTORIES ON ${torch}/../nvidia/*/lib)
list(APPEND CMAKE_BUILD_RPATH ${wheels})
target_link_libraries(loadline_torch_cuda INTERFACE torch_torch_cuda torch_c10_cuda ${LOADLINE_CUDART} loadline_torch)
set(LOADLINE_TORCH_CUDA_FOUND ON)
message(STATUS "loadline-device: GPUs by CUDA in ${LOADLINE_CUDA_INCLUDE}")
