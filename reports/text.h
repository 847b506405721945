// How a journal's text and numbers are written into reports. The text comes from plug-ins, their exceptions
// and file names, so it may be any bytes at all; what these functions return is valid UTF-8 that can't break
// out of its place.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace attest::report {

// Valid UTF-8: what is no UTF-8, and characters that XML does not allow or that reorder text, become U+FFFD;
// control characters become their pictures (U+2400 on). Newlines and tabs stay.
std::string printable(std::string_view bytes);

// At most `bytes` bytes and an ellipsis, not cut within a character.
std::string clipped(std::string_view text, std::size_t bytes);

// For HTML and XML, in text and in quoted attributes.
std::string escape_markup(std::string_view text);

// GitHub's Markdown, on one line: text that means nothing but itself, and a code span that holds any
// backticks. Inside a table a code span must escape its pipes; elsewhere it must not.
std::string markdown_text(std::string_view text);
enum class Within { Text, Table };
std::string markdown_code(std::string_view text, Within within = Within::Text);

// Three digits, for ratios: "0", "0.410", "12.3", "48100", "1.20e+07", "inf", "nan".
std::string ratio_text(double ratio);
// Six digits, for values and bounds.
std::string value_text(double value);
// "20,000"
std::string count_text(std::size_t count);
// "1 case", "2,000 cases"
std::string count_text(std::size_t count, std::string_view noun);

}  // namespace attest::report
