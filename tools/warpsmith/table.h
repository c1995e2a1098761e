// Text for terminals: aligned tables, and the words of strangers.
#pragma once

#include <string>
#include <vector>

namespace warpsmith {

class Table {
 public:
  // A header that begins with '>' aligns its column to the right.
  explicit Table(std::vector<std::string> headers);
  void Add(std::vector<std::string> cells);
  bool empty() const { return rows_.empty(); }
  // Lines end with '\n'; no line has space at its end. Widths count characters, not bytes.
  std::string ToString() const;

 private:
  std::vector<std::string> headers_;
  std::vector<bool> right_;
  std::vector<std::vector<std::string>> rows_;
};

// The text without what would move a terminal's cursor or change its state: control characters but
// for line ends and tabs become '?'.
std::string Printable(std::string text);

}  // namespace warpsmith
