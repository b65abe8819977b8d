# SPDX-License-Identifier: GPL-3.0-or-later
# What is installed beside the programs, and the two Debian packages: `loadline` (window and terminal) and `loadline-device`
# (the only one that needs PyTorch). packaging/packages makes and checks them.
include(GNUInstallDirs)
find_program(GZIP gzip REQUIRED)

# Installs FILE compressed, as Debian wants manual pages and change logs; the same bytes each time.
function(loadline_install_gz source name destination component)
    set(output ${CMAKE_BINARY_DIR}/package/${component}/${name}.gz)
    configure_file(${source} ${CMAKE_BINARY_DIR}/package/${component}/${name} @ONLY)
    install(CODE "execute_process(COMMAND ${GZIP} -9nkf ${CMAKE_BINARY_DIR}/package/${component}/${name} COMMAND_ERROR_IS_FATAL ANY)" COMPONENT ${component})
    install(FILES ${output} DESTINATION ${destination} COMPONENT ${component})
endfunction()

set(packages)
if(TARGET loadline AND TARGET loadline-plan)
    list(APPEND packages loadline)
    configure_file(packaging/desktop/org.loadline.Loadline.metainfo.xml ${CMAKE_BINARY_DIR}/package/org.loadline.Loadline.metainfo.xml @ONLY)
    install(FILES packaging/desktop/org.loadline.Loadline.desktop DESTINATION ${CMAKE_INSTALL_DATADIR}/applications COMPONENT loadline)
    install(FILES packaging/desktop/loadline.mime.xml DESTINATION ${CMAKE_INSTALL_DATADIR}/mime/packages RENAME loadline.xml COMPONENT loadline)
    install(FILES ${CMAKE_BINARY_DIR}/package/org.loadline.Loadline.metainfo.xml DESTINATION ${CMAKE_INSTALL_DATADIR}/metainfo COMPONENT loadline)
    install(FILES resources/icons/loadline.svg DESTINATION ${CMAKE_INSTALL_DATADIR}/icons/hicolor/scalable/apps COMPONENT loadline)
    install(FILES packaging/completion/loadline-plan.bash DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions
            RENAME loadline-plan COMPONENT loadline)
    foreach(page loadline loadline-plan)
        loadline_install_gz(packaging/man/${page}.1 ${page}.1 ${CMAKE_INSTALL_MANDIR}/man1 loadline)
    endforeach()
endif()
if(TARGET loadline-device)
    list(APPEND packages loadline-device)
    set(LOADLINE_PRIVATE_DIR ${CMAKE_INSTALL_LIBDIR}/loadline)
    configure_file(packaging/device/loadline-device.in ${CMAKE_BINARY_DIR}/package/bin/loadline-device @ONLY)
    install(PROGRAMS ${CMAKE_BINARY_DIR}/package/bin/loadline-device DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT loadline-device)
    # Without the build machine's path to PyTorch: the script above finds it.
    install(TARGETS loadline-device RUNTIME DESTINATION ${LOADLINE_PRIVATE_DIR} COMPONENT loadline-device)
    if(TARGET loadline_cuda)
        install(TARGETS loadline_cuda LIBRARY DESTINATION ${LOADLINE_PRIVATE_DIR} COMPONENT loadline-device)
    endif()
    loadline_install_gz(packaging/man/loadline-device.1 loadline-device.1 ${CMAKE_INSTALL_MANDIR}/man1 loadline-device)
endif()
foreach(package ${packages})
    install(FILES packaging/debian/copyright DESTINATION ${CMAKE_INSTALL_DOCDIR}/../${package} COMPONENT ${package})
    loadline_install_gz(packaging/debian/changelog changelog ${CMAKE_INSTALL_DOCDIR}/../${package} ${package})
endforeach()

set(CPACK_GENERATOR DEB)
set(CPACK_COMPONENTS_ALL ${packages})
set(CPACK_PACKAGE_NAME loadline)
set(CPACK_PACKAGE_CONTACT "Loadline authors <authors@loadline.org>")
set(CPACK_PACKAGE_HOMEPAGE_URL "https://arxiv.org/abs/2209.13258")
set(CPACK_STRIP_FILES ON)
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION science)
set(CPACK_DEBIAN_PACKAGE_PRIORITY optional)
set(CPACK_DEBIAN_LOADLINE_PACKAGE_NAME loadline)
set(CPACK_DEBIAN_LOADLINE_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_LOADLINE_PACKAGE_DEPENDS "fonts-dejavu-core, libqt6svg6")
set(CPACK_DEBIAN_LOADLINE_PACKAGE_SUGGESTS "loadline-device")
set(CPACK_COMPONENT_LOADLINE_DESCRIPTION "planner for sharded data-parallel training
 Decides for every operator of a large model whether it is replicated,
 sharded, split or recomputed, under a memory budget, with a proof.
 This package holds the window and the terminal program.")
# dpkg-shlibdeps cannot resolve PyTorch's libraries, which are no package of Debian: what remains is listed by hand.
set(CPACK_DEBIAN_LOADLINE-DEVICE_PACKAGE_NAME loadline-device)
set(CPACK_DEBIAN_LOADLINE-DEVICE_PACKAGE_SHLIBDEPS OFF)
set(CPACK_DEBIAN_LOADLINE-DEVICE_PACKAGE_DEPENDS "libc6 (>= 2.36), libstdc++6 (>= 12), libgcc-s1, libfmt9, libsqlite3-0")
set(CPACK_DEBIAN_LOADLINE-DEVICE_PACKAGE_RECOMMENDS "python3-venv")
set(CPACK_COMPONENT_LOADLINE-DEVICE_DESCRIPTION "profiles devices and trains Loadline's plans
 Measures operators and links on this machine and runs a plan in real
 worker processes. Uses a PyTorch that is found at start.")
include(CPack)
