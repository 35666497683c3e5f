// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace sporades::fuzzing {

/// The records of a CSV text by the grammar of RFC 4180, byte by byte: what CsvRecords must read.
struct CsvTable {
  using Record = std::vector<std::string>;

  CsvTable(std::string_view text, char separator) {
    enum { begin, plain, quoted, closed } state = begin;  // of the field
    std::string field;
    Record record;
    end_of_first = text.size();
    for (std::size_t i = 0; i <= text.size(); ++i) {
      if (i == text.size() && (state == quoted || (state == begin && record.empty()))) {
        is_valid = state == begin;
        return;
      }
      char const c = i == text.size() ? '\n' : text[i];  // the last line may have no line end
      if (c == '\0') return;
      if (c == '"' && state != plain) {
        if (state == closed) field += c;
        state = state == quoted ? closed : quoted;
      } else if (state == quoted) {
        field += c;
      } else if (c == separator || c == '\n') {
        record.push_back(std::exchange(field, {}));
        state = begin;
        if (c == separator) continue;
        bool const is_empty_line = record.size() == 1 && record[0].empty();
        if (!is_empty_line) records.push_back(record);
        if (records.size() == 1 && !is_empty_line) end_of_first = i + 1;
        record.clear();
      } else if (c == '\r') {
        if (i + 1 < text.size() && text[i + 1] != '\n') return;
      } else {
        if (state == closed) return;
        field += c;
        state = plain;
      }
    }
    is_valid = true;
  }

  bool is_valid = false;  // else there are the records before the fault
  std::vector<Record> records;
  std::size_t end_of_first = 0;  // the place after the first record; of the text, if it has none
};

/// The field as a record of its own would have it.
inline std::string in_quotes(std::string_view field) {
  std::string text = "\"";
  for (char const c : field) text += c == '"' ? "\"\"" : std::string(1, c);
  return text + "\"";
}

}  // namespace sporades::fuzzing
