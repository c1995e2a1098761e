#include "tools/warpsmith/table.h"

#include <algorithm>

#include "common/base/check.h"

namespace warpsmith {
namespace {

size_t Width(const std::string& text) {
  return static_cast<size_t>(std::count_if(text.begin(), text.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xc0) != 0x80;  // not a continuation of UTF-8
  }));
}

}  // namespace

std::string Printable(std::string text) {
  for (size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    // Also U+0080 to U+009F, which UTF-8 writes as 0xc2 and themselves.
    const bool second = i + 1 < text.size() && byte == 0xc2 &&
                        (static_cast<unsigned char>(text[i + 1]) & 0xe0) == 0x80;
    if (second) text[i + 1] = '?';
    if (second || (byte < 32 && byte != '\n' && byte != '\t') || byte == 127) text[i] = '?';
  }
  return text;
}

Table::Table(std::vector<std::string> headers) : headers_(std::move(headers)) {
  for (auto& header : headers_) {
    right_.push_back(header.starts_with('>'));
    if (right_.back()) header.erase(0, 1);
  }
}

void Table::Add(std::vector<std::string> cells) {
  CHECK(cells.size() == headers_.size(), "a row has a cell for each column");
  rows_.push_back(std::move(cells));
}

std::string Table::ToString() const {
  std::vector<size_t> widths;
  for (const auto& header : headers_) widths.push_back(Width(header));
  for (const auto& row : rows_)
    for (size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], Width(row[i]));

  std::string text;
  const auto line = [&](const std::vector<std::string>& cells) {
    std::string out;
    for (size_t i = 0; i < cells.size(); ++i) {
      const std::string pad(widths[i] - Width(cells[i]), ' ');
      out += (i == 0 ? "" : "  ") + (right_[i] ? pad + cells[i] : cells[i] + pad);
    }
    out.erase(out.find_last_not_of(' ') + 1);
    text += out + "\n";
  };
  line(headers_);
  for (const auto& row : rows_) line(row);
  return text;
}

}  // namespace warpsmith
