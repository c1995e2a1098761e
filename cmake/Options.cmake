# How everything is compiled. Build types: Release (ships, and what CI tests) and Dev (symbols).
option(WARPSMITH_TORCH "Build what needs libtorch (oracle, network policies, learner)" ON)
set(WARPSMITH_SANITIZE "" CACHE STRING "Value for -fsanitize=, empty for none")
set(WARPSMITH_VENV "$ENV{WARPSMITH_VENV}" CACHE PATH "Python environment that tools/setup made")
if(NOT WARPSMITH_VENV)
  set(WARPSMITH_VENV ${PROJECT_SOURCE_DIR}/.venv)
endif()

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_CXX_FLAGS_RELEASE "-O2")
set(CMAKE_CXX_FLAGS_DEV "-O1 -g1 -fno-omit-frame-pointer")
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bin)

add_compile_options(-Wall -Wextra -Wshadow -Wnon-virtual-dtor -Woverloaded-virtual)
if(CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  add_compile_options(-Werror)  # a newer compiler knows warnings that nobody has seen here
endif()
# Designated initialisers leave the rest at their defaults on purpose; g++ 12 sees uninitialised
# members in std::variant and std::map, and overlaps in string concatenation, where there are none.
add_compile_options(-Wno-missing-field-initializers -Wno-maybe-uninitialized -Wno-restrict)
include_directories(${PROJECT_SOURCE_DIR} ${PROJECT_BINARY_DIR})

if(WARPSMITH_SANITIZE)
  add_compile_options(-fsanitize=${WARPSMITH_SANITIZE} -fno-sanitize-recover=all)
  if(WARPSMITH_SANITIZE MATCHES "undefined")
    # These two double the time to compile. The address sanitizer sees null pointers where they are
    # used; and Cap'n Proto, where bytes become words, checks the alignment itself.
    add_compile_options(-fno-sanitize=null,alignment)
  endif()
  add_link_options(-fsanitize=${WARPSMITH_SANITIZE})
endif()

find_program(WARPSMITH_CCACHE ccache)
if(WARPSMITH_CCACHE)
  set(CMAKE_CXX_COMPILER_LAUNCHER
      ${CMAKE_COMMAND} -E env CCACHE_BASEDIR=${PROJECT_SOURCE_DIR} CCACHE_NOHASHDIR=1 ${WARPSMITH_CCACHE})
endif()
find_program(WARPSMITH_MOLD mold)
if(WARPSMITH_MOLD)
  add_link_options(-fuse-ld=mold)
endif()
