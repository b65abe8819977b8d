# SPDX-License-Identifier: GPL-3.0-or-later
# Flags and target helpers shared by every folder.

add_library(loadline_flags INTERFACE)
add_library(loadline::flags ALIAS loadline_flags)
target_include_directories(loadline_flags INTERFACE ${PROJECT_SOURCE_DIR})
target_compile_options(loadline_flags INTERFACE
    -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wsign-conversion -Wold-style-cast -Wnon-virtual-dtor -Woverloaded-virtual
    $<$<CXX_COMPILER_ID:Clang>:-Wthread-safety>
    $<$<BOOL:${LOADLINE_WERROR}>:-Werror>)
if(LOADLINE_SANITIZE)
    # GCC warns of uninitialized values where its own instrumentation hides that std::optional is empty.
    target_compile_options(loadline_flags INTERFACE -fsanitize=${LOADLINE_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all
        $<$<CXX_COMPILER_ID:GNU>:-Wno-maybe-uninitialized>)
    target_link_options(loadline_flags INTERFACE -fsanitize=${LOADLINE_SANITIZE})
endif()

# loadline_library(cost LIBS loadline::model): every source in the folder. A file that lies there is in the build.
function(loadline_library name)
    cmake_parse_arguments(ARG "" "" "LIBS;PRIVATE" ${ARGN})
    file(GLOB sources CONFIGURE_DEPENDS *.cpp *.hpp)
    if(NOT sources)
        file(WRITE ${CMAKE_CURRENT_BINARY_DIR}/empty.cpp "")
        set(sources ${CMAKE_CURRENT_BINARY_DIR}/empty.cpp)
    endif()
    add_library(loadline_${name} STATIC ${sources})
    set_target_properties(loadline_${name} PROPERTIES LINKER_LANGUAGE CXX)
    add_library(loadline::${name} ALIAS loadline_${name})
    target_link_libraries(loadline_${name} PUBLIC loadline::flags ${ARG_LIBS} PRIVATE ${ARG_PRIVATE})
endfunction()

# loadline_test(core_cost LIBS loadline::cost): every *_test.cpp in the folder as one program, labelled with LABEL or its name.
function(loadline_test name)
    cmake_parse_arguments(ARG "OWN_MAIN" "LABEL" "LIBS;SOURCES;ENVIRONMENT" ${ARGN})
    file(GLOB sources CONFIGURE_DEPENDS *_test.cpp)
    if(NOT sources AND NOT ARG_SOURCES)
        return()
    endif()
    add_executable(test_${name} ${sources} ${ARG_SOURCES})
    target_link_libraries(test_${name} PRIVATE loadline::flags ${ARG_LIBS} GTest::gmock $<IF:$<BOOL:${ARG_OWN_MAIN}>,GTest::gtest,GTest::gtest_main>)
    target_compile_definitions(test_${name} PRIVATE
        LOADLINE_SOURCE_DIR="${PROJECT_SOURCE_DIR}" LOADLINE_BIN_DIR="${CMAKE_RUNTIME_OUTPUT_DIRECTORY}")
    if(NOT ARG_LABEL)
        set(ARG_LABEL ${name})
    endif()
    gtest_discover_tests(test_${name} TEST_PREFIX ${name}. DISCOVERY_MODE PRE_TEST
        PROPERTIES TIMEOUT 300 LABELS ${ARG_LABEL} ENVIRONMENT "${ARG_ENVIRONMENT}")
endfunction()
