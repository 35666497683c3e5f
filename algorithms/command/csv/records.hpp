// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sporades/formats/files/detail/tns_file/text_source.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace sporades::command {

/// The records of a CSV text, one after another, as RFC 4180 has them: a field may be quoted, and
/// then hold separators, line ends, and quotation marks that are doubled. Lines end in LF or CRLF.
/// Bytes are as they are, of any encoding that has ASCII's characters. Quotation marks inside a
/// field that does not begin with one are part of it. Empty lines are no records.
/// (Debian's libraries do less: libfccp-dev has no line ends in fields, libcsv-dev says no place of
/// what is wrong, and reads what follows a closing quotation mark as text.)
class CsvRecords {
 public:
  /// first: what the source gave already, or the whole text where source is null. name: how error
  /// messages call the file. All but the block are to outlive this.
  CsvRecords(sporades::detail::TextSource* source, sporades::detail::TextBlock first,
             std::string const& name, char separator);

  /// Goes to the next record; false at the end. Throws Error naming file and line for what is no
  /// CSV.
  bool next();

  /// Fields of the record, at least one.
  std::size_t size() const { return ends_.size(); }
  std::string_view operator[](std::size_t k) const;
  std::vector<std::string> fields() const;

  /// "x.csv:17", where field k of the record begins; lines count from 1.
  std::string place(std::size_t k = 0) const;

 private:
  bool has_more();
  void read_plain();
  void read_quoted();
  bool ends_record();
  void take(std::size_t count);
  template <class... Parts>
  [[noreturn]] void refuse(Parts const&... parts) const;

  sporades::detail::TextSource* source_;
  sporades::detail::TextBlock block_;
  std::string_view rest_;  // of the block
  std::string const& name_;
  char separator_;
  std::uint64_t line_ = 1;         // at rest_
  std::uint64_t record_line_ = 1;  // where the record begins
  std::string text_;               // of all its fields
  std::vector<std::size_t> ends_;  // of each field in text_
};

/// Without the blanks and tabs around it.
std::string_view trimmed(std::string_view text);

/// The fields of the first record of a text that is in memory. Throws Error if there is none.
std::vector<std::string> first_record(std::string_view text, std::string const& name,
                                      char separator);

}  // namespace sporades::command
