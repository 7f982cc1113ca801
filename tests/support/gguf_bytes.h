#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

namespace roper {

template <class Number>
std::string bytesOfNumber(Number number) {
    return {reinterpret_cast<const char*>(&number), sizeof number};
}

/// Encodes a text as in a GGUF file: its length, then its bytes.
inline std::string ggufText(const std::string& text) {
    return bytesOfNumber<std::uint64_t>(text.size()) + text;
}

/// The bytes of a small GGUF file.
class GgufBytes {
  public:
    void add(const std::string& key, const std::string& text) { entry(key, 8, ggufText(text)); }
    void add(const std::string& key, bool flag) { entry(key, 7, std::string(1, flag ? '\1' : '\0')); }
    void add(const std::string& key, std::uint32_t number) { entry(key, 4, bytesOfNumber(number)); }
    void add(const std::string& key, float number) { entry(key, 6, bytesOfNumber(number)); }
    void add(const std::string& key, const std::vector<std::string>& texts) {
        std::string bytes;
        for (const std::string& text : texts)
            bytes += ggufText(text);
        list(key, 8, texts.size(), bytes);
    }
    void add(const std::string& key, const std::vector<float>& numbers) {
        std::string bytes;
        for (const float number : numbers)
            bytes += bytesOfNumber(number);
        list(key, 6, numbers.size(), bytes);
    }
    void add(const std::string& key, const std::vector<std::int32_t>& numbers) {
        std::string bytes;
        for (const std::int32_t number : numbers)
            bytes += bytesOfNumber(number);
        list(key, 5, numbers.size(), bytes);
    }

    /// The bytes of a file without tensors, which is only a header.
    std::string bytes() const {
        return "GGUF" + bytesOfNumber<std::uint32_t>(3) + bytesOfNumber<std::uint64_t>(0) +
               bytesOfNumber(count_) + entries_;
    }

  private:
    void entry(const std::string& key, std::uint32_t type, const std::string& value) {
        entries_ += ggufText(key) + bytesOfNumber(type) + value;
        ++count_;
    }
    void list(const std::string& key, std::uint32_t type, std::uint64_t count, const std::string& values) {
        entry(key, 9, bytesOfNumber(type) + bytesOfNumber(count) + values);
    }

    std::string entries_;
    std::uint64_t count_ = 0;
};

}  // namespace roper
