# Configures, builds and runs the consumer project from nothing; any failure fails the test. With add_subdirectory it
# builds and runs where `whole` is set.
function(run)
  execute_process(COMMAND ${ARGV} RESULT_VARIABLE result)
  if(NOT result EQUAL 0)
    string(REPLACE ";" " " command "${ARGV}")
    message(FATAL_ERROR "failed (${result}): ${command}")
  endif()
endfunction()

file(REMOVE_RECURSE ${work_dir})
if(way STREQUAL "find_package")
  run(${CMAKE_COMMAND} --install ${binary_dir} --prefix ${work_dir}/prefix)
  set(where -D CMAKE_PREFIX_PATH=${work_dir}/prefix)
else()
  set(where -D LRVB_SOURCE_DIR=${source_dir})
endif()
run(${CMAKE_COMMAND} -S ${CMAKE_CURRENT_LIST_DIR}/project -B ${work_dir}/build -G ${generator}
  -D CMAKE_CXX_COMPILER=${compiler} ${where})
if(way STREQUAL "add_subdirectory" AND NOT whole)
  # The library would be compiled once more, which takes minutes: what the project says of itself is in this one unit.
  run(${CMAKE_COMMAND} --build ${work_dir}/build --target CMakeFiles/consumer.dir/main.cpp.o)
else()
  run(${CMAKE_COMMAND} --build ${work_dir}/build)
  run(${work_dir}/build/consumer)
endif()
