# gloo_names_for(TARGET): declares Gloo's names for LibTorch's header of ProcessGroupGloo. LibTorch's packages contain Gloo
# itself but none of its headers, so the few names mentioned by that header are written into the build folder. Our code
# does not call Gloo, create its objects or derive from its classes; only LibTorch's library does.
function(gloo_names_for target)
    set(folder ${CMAKE_BINARY_DIR}/generated/gloo_names)
    file(CONFIGURE OUTPUT ${folder}/gloo/context.h @ONLY CONTENT [=[
#pragma once

#include <chrono>

namespace gloo {

class Context {
  public:
    void setTimeout(std::chrono::milliseconds timeout);
};

namespace transport {
class Device;
class UnboundBuffer {
  public:
    virtual ~UnboundBuffer();
};
}  // namespace transport

}  // namespace gloo
]=])
    file(CONFIGURE OUTPUT ${folder}/gloo/rendezvous/store.h @ONLY CONTENT [=[
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <gloo/context.h>

namespace gloo::rendezvous {

class Store {
  public:
    virtual ~Store();
    virtual void set(const std::string& key, const std::vector<char>& data) = 0;
    virtual std::vector<char> get(const std::string& key) = 0;
    virtual void wait(const std::vector<std::string>& keys) = 0;
    virtual void wait(const std::vector<std::string>& keys, const std::chrono::milliseconds& timeout) = 0;
    virtual bool has_v2_support();
    virtual std::vector<std::vector<char>> multi_get(const std::vector<std::string>& keys);
    virtual void multi_set(const std::vector<std::string>& keys, const std::vector<std::vector<char>>& values);
    virtual void append(const std::string& key, const std::vector<char>& data);
    virtual std::int64_t add(const std::string& key, std::int64_t value);
};

}  // namespace gloo::rendezvous
]=])
    foreach(header algorithm common/error transport/device)
        file(CONFIGURE OUTPUT ${folder}/gloo/${header}.h @ONLY CONTENT "#pragma once\n\n#include <gloo/context.h>\n")
    endforeach()
    target_include_directories(${target} SYSTEM PRIVATE ${folder})
endfunction()
